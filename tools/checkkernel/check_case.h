// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what every check of a kernel shares: random numbers, guarded memory, comparing,
//            failing.
// Called by: the files of this folder.
// Threads:   one.
// Errors:    a difference is reported on stderr and counted; an access outside a buffer ends the
//            program with the case that did it.
// Not here:  which kernels exist (checkkernel.c), what a case looks like (check_matmul.c, ...).
#ifndef CHECKKERNEL_CHECK_CASE_H
#define CHECKKERNEL_CHECK_CASE_H

#include "kernels/kernels.h"
#include "platform/vmem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CHECK_BUFFERS = 12,         // of one case
    CHECK_BUFFER_BYTES = 1 << 20, // each
    CHECK_REPORTS_MAX = 3       // differences printed per kernel
};

struct check {
    const struct kernels_table *ref;    // what is right
    const struct kernels_table *tested; // what is checked
    bool oracle;                        // also bound ref itself, in double precision
    uint64_t seed;

    const char *kernel; // name, for messages
    char text[256];     // the case, for messages
    uint64_t random;    // state: a function of seed, kernel and case
    uint32_t failures;  // of this kernel
    struct vmem_guarded buffer[CHECK_BUFFERS];
    size_t buffers_used;
};

void check_open(struct check *c); // ends the program if there is no memory
void check_close(struct check *c);

// Start case number i: its own random numbers, all buffers free again.
void check_case(struct check *c, uint32_t i);
// Name the case; call it before the kernel runs, for the message if that faults.
void check_describe(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void check_fail(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

uint32_t check_below(struct check *c, uint32_t bound); // 0..bound-1
bool check_one_in(struct check *c, uint32_t n);
double check_uniform(struct check *c, double low, double high);

// `bytes` of a guarded buffer, aligned to `alignment`, against its rear guard (or, one time in
// four, its front one), filled with bytes that are NaN as floats. Valid until the next case.
void *check_buffer(struct check *c, size_t bytes, size_t alignment);
// A copy of such memory, guarded likewise.
void *check_copy(struct check *c, const void *data, size_t bytes, size_t alignment);

// Kinds of input. WILD: any bit pattern. The others are finite and grow no NaN in sums of their
// own.
enum check_kind {
    CHECK_PLAIN,    // around 1
    CHECK_SPREAD,   // each 32 at its own power of two
    CHECK_SIGNS,    // all of one size: every code of a quantised block is 127 or -127
    CHECK_ONE_SIGN, // all equal
    CHECK_ZERO,     // +0 and -0
    CHECK_DENORMAL, //
    CHECK_HUGE,     // near the largest float
    CHECK_OUTLIER,  // one large among small
    CHECK_FINITE_KINDS,
    CHECK_WILD = CHECK_FINITE_KINDS,
    CHECK_KINDS
};
const char *check_kind_name(enum check_kind kind);
enum check_kind check_pick_kind(struct check *c, bool finite);
void check_fill(struct check *c, float *x, size_t n, enum check_kind kind);
// A guarded vector.
float *check_floats(struct check *c, size_t n, enum check_kind kind);

// Bits equal, or both NaN. `what` names the vector.
bool check_same_floats(struct check *c, const char *what, const float *got, const float *expected,
                       size_t n);
bool check_same_bytes(struct check *c, const char *what, const void *got, const void *expected,
                      size_t bytes);
// |got - exact| <= bound, where both are finite.
bool check_near(struct check *c, const char *what, float got, double exact, double bound);

// The checks, one per kind of kernel; dtype where there is one per type.
typedef void (*check_fn)(struct check *c, uint32_t dtype);
void check_matmul(struct check *c, uint32_t dtype);
void check_interleave(struct check *c, uint32_t unused);
void check_dequantise(struct check *c, uint32_t dtype);
void check_quantise(struct check *c, uint32_t act);
void check_attend_block(struct check *c, uint32_t unused);
void check_attend_merge(struct check *c, uint32_t unused);
void check_rms_norm(struct check *c, uint32_t unused);
void check_dot(struct check *c, uint32_t unused);
void check_rope_norm(struct check *c, uint32_t unused);
void check_rope_neox(struct check *c, uint32_t unused);
void check_scale(struct check *c, uint32_t unused);
void check_add(struct check *c, uint32_t unused);
void check_add_scaled(struct check *c, uint32_t unused);
void check_l2_norm(struct check *c, uint32_t unused);
void check_mul(struct check *c, uint32_t unused);
void check_sigmoid_mul(struct check *c, uint32_t unused);
void check_silu_mul(struct check *c, uint32_t unused);
void check_gelu_mul(struct check *c, uint32_t unused);
void check_swiglu_oai_mul(struct check *c, uint32_t unused);
void check_softcap(struct check *c, uint32_t unused);
void check_to_half(struct check *c, uint32_t unused);
void check_exp(struct check *c, uint32_t unused);
void check_argmax(struct check *c, uint32_t unused);
void check_conv(struct check *c, uint32_t unused);
void check_delta_gates(struct check *c, uint32_t unused);
void check_delta(struct check *c, uint32_t unused);

#endif
