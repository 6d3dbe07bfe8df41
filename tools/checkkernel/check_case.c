// SPDX-License-Identifier: Apache-2.0
#include "check_case.h"

#include "base/half.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_open(struct check *c) {
    for (size_t i = 0; i < CHECK_BUFFERS; i++)
        if (vmem_guarded_alloc(&c->buffer[i], CHECK_BUFFER_BYTES, true, NULL) != LOCUM_OK) {
            fputs("checkkernel: no memory\n", stderr);
            exit(2);
        }
}

void check_close(struct check *c) {
    for (size_t i = 0; i < CHECK_BUFFERS; i++) vmem_guarded_release(&c->buffer[i]);
}

static uint64_t next_random(struct check *c) { // splitmix64
    uint64_t z = c->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void check_case(struct check *c, uint32_t i) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a of the name
    for (const char *p = c->kernel; *p; p++)
        hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
    c->random = hash ^ c->seed * UINT64_C(0xd6e8feb86659fd93) ^ (uint64_t)i << 40;
    c->buffers_used = 0;
    snprintf(c->text, sizeof c->text, "case %" PRIu32, i);
}

void check_describe(struct check *c, const char *format, ...) {
    va_list arguments;
    size_t length = strlen(c->text);
    va_start(arguments, format);
    vsnprintf(c->text + length, sizeof c->text - length, format, arguments);
    va_end(arguments);
}

void check_fail(struct check *c, const char *format, ...) {
    va_list arguments;
    if (c->failures++ >= CHECK_REPORTS_MAX) return;
    fprintf(stderr, "FAIL %s %s, %s: ", kernels_tier_name(c->tested->tier), c->kernel, c->text);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

uint32_t check_below(struct check *c, uint32_t bound) {
    return (uint32_t)((next_random(c) >> 32) * bound >> 32);
}
bool check_one_in(struct check *c, uint32_t n) {
    return check_below(c, n) == 0;
}
double check_uniform(struct check *c, double low, double high) {
    return low + (high - low) * ((double)(next_random(c) >> 11) * 0x1p-53);
}

void *check_buffer(struct check *c, size_t bytes, size_t alignment) {
    if (c->buffers_used == CHECK_BUFFERS || bytes > CHECK_BUFFER_BYTES) {
        fprintf(stderr, "checkkernel: %s asks for too much memory\n", c->kernel);
        exit(2);
    }
    uint8_t *data = c->buffer[c->buffers_used++].data;
    size_t offset = (CHECK_BUFFER_BYTES - bytes) & ~(alignment - 1);
    if (check_one_in(c, 4)) offset = 0;
    memset(data + offset, 0xff, bytes);
    return data + offset;
}

void *check_copy(struct check *c, const void *data, size_t bytes, size_t alignment) {
    return memcpy(check_buffer(c, bytes, alignment), data, bytes);
}

// ---------------------------------------------------------------------------------------------
// Inputs
// ---------------------------------------------------------------------------------------------

const char *check_kind_name(enum check_kind kind) {
    static const char *const names[CHECK_KINDS] = {"plain", "spread",   "signs", "one sign",
                                                   "zero",  "denormal", "huge",  "outlier",
                                                   "wild"};
    return names[kind];
}

enum check_kind check_pick_kind(struct check *c, bool finite) {
    if (check_one_in(c, 3)) return CHECK_PLAIN;
    return (enum check_kind)check_below(c, finite ? CHECK_FINITE_KINDS : CHECK_KINDS);
}

static float one_value(struct check *c, enum check_kind kind, float size) {
    float sign = check_one_in(c, 2) ? -1.0f : 1.0f;
    switch (kind) {
    case CHECK_PLAIN:
    case CHECK_SPREAD: return (float)check_uniform(c, -1, 1) * size;
    case CHECK_SIGNS: return sign * size;
    case CHECK_ONE_SIGN: return size;
    case CHECK_ZERO: return sign * 0.0f;
    case CHECK_DENORMAL: return sign * (float)check_uniform(c, 0, 0x1p-126);
    case CHECK_HUGE: return sign * (float)check_uniform(c, 0x1p126, 0x1.fffffep127);
    case CHECK_OUTLIER: return (float)check_uniform(c, -0x1p-6, 0x1p-6);
    case CHECK_WILD: return half_from_bits((uint32_t)next_random(c));
    case CHECK_KINDS: break;
    }
    return 0.0f;
}

void check_fill(struct check *c, float *x, size_t n, enum check_kind kind) {
    bool scaled = kind == CHECK_SPREAD || kind == CHECK_SIGNS || kind == CHECK_ONE_SIGN;
    float size = scaled ? (float)ldexp(check_uniform(c, 0.5, 1), (int)check_below(c, 60) - 30) : 1;
    for (size_t i = 0; i < n; i++) {
        if (kind == CHECK_SPREAD && i % 32 == 0)
            size = ldexpf(1.0f, (int)check_below(c, 40) - 30);
        x[i] = one_value(c, kind, size);
    }
    if (kind == CHECK_OUTLIER && n > 0) x[check_below(c, (uint32_t)n)] = 100.0f;
}

float *check_floats(struct check *c, size_t n, enum check_kind kind) {
    float *x = check_buffer(c, n * sizeof *x, sizeof *x);
    check_fill(c, x, n, kind);
    return x;
}

// ---------------------------------------------------------------------------------------------
// Comparing
// ---------------------------------------------------------------------------------------------

bool check_same_floats(struct check *c, const char *what, const float *got, const float *expected,
                       size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t a = half_to_bits(got[i]), b = half_to_bits(expected[i]);
        bool both_nan = (a & 0x7fffffffu) > 0x7f800000u && (b & 0x7fffffffu) > 0x7f800000u;
        if (a == b || both_nan) continue;
        check_fail(c, "%s[%zu] is %a (%08" PRIx32 "), not %a (%08" PRIx32 ")", what, i,
                   (double)got[i], a, (double)expected[i], b);
        return false;
    }
    return true;
}

bool check_same_bytes(struct check *c, const char *what, const void *got, const void *expected,
                      size_t bytes) {
    const uint8_t *a = got, *b = expected;
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i]) {
            check_fail(c, "byte %zu of %s is %02x, not %02x", i, what, a[i], b[i]);
            return false;
        }
    return true;
}

bool check_near(struct check *c, const char *what, float got, double exact, double bound) {
    if (!isfinite(got) || !isfinite(exact) || !(fabs(exact) < 0x1p127)) return true;
    if (fabs((double)got - exact) <= bound) return true;
    check_fail(c, "%s is %a, in double precision %a: off by %g, allowed %g", what, (double)got,
               exact, fabs((double)got - exact), bound);
    return false;
}
