// SPDX-License-Identifier: Apache-2.0
//
// Every accessor is one call of meta_read: find the key, convert each element, compare it with the
// bounds. What differs between them is a row of want_rows.
#include "gguf/gguf_meta.h"

#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"
#include "gguf/gguf_text.h"

enum { KEY_MAX = 256 }; // architecture and what we append; longer ones are cut, in messages only

struct meta_key {
    char text[KEY_MAX];
    bool cut;
};

// The whole key for one that may begin with '.'.
static struct meta_key meta_key(const struct gguf_meta *meta, const char *key) {
    struct meta_key whole;
    int size = snprintf(whole.text, sizeof whole.text, "%s%s",
                        key[0] == '.' ? meta->architecture : "", key);
    whole.cut = size < 0 || size >= KEY_MAX;
    return whole;
}

const struct gguf_value *gguf_meta_find(const struct gguf_meta *meta, const char *key) {
    struct slice name = slice_text(key);
    struct meta_key whole;
    if (key[0] == '.') {
        whole = meta_key(meta, key);
        if (whole.cut) return NULL; // an architecture that nobody has
        name = slice_text(whole.text);
    }
    int64_t number = gguf_index_find(meta->index, name);
    return number == GGUF_INDEX_NONE ? NULL : &meta->pairs[number].value;
}

// --- What a caller can want ---------------------------------------------------------------------

enum want_type { WANT_U32, WANT_U64, WANT_I64, WANT_F32, WANT_BOOL, WANT_STRING };

struct meta_want {
    enum want_type type;
    union {
        struct {
            uint64_t min, max;
        } u;
        struct {
            int64_t min, max;
        } i;
        struct {
            float min, max;
        } f;
    };
};

static bool take_u64(const struct meta_want *want, const struct gguf_value *value, uint64_t index,
                     void *out) {
    uint64_t number;
    if (!gguf_value_u64(value, index, &number) || number < want->u.min || number > want->u.max)
        return false;
    *(uint64_t *)out = number;
    return true;
}

static bool take_u32(const struct meta_want *want, const struct gguf_value *value, uint64_t index,
                     void *out) {
    uint64_t number;
    if (!take_u64(want, value, index, &number)) return false;
    *(uint32_t *)out = (uint32_t)number; // fits: the bounds do
    return true;
}

static bool take_i64(const struct meta_want *want, const struct gguf_value *value, uint64_t index,
                     void *out) {
    int64_t number;
    if (!gguf_value_i64(value, index, &number) || number < want->i.min || number > want->i.max)
        return false;
    *(int64_t *)out = number;
    return true;
}

static bool take_f32(const struct meta_want *want, const struct gguf_value *value, uint64_t index,
                     void *out) {
    double real;
    if (!gguf_value_f64(value, index, &real)) return false;
    bool inside = real >= want->f.min && real <= want->f.max; // false for NaN
    if (!inside || real < -FLT_MAX || real > FLT_MAX) return false;
    *(float *)out = (float)real;
    return true;
}

static bool take_bool(const struct meta_want *want, const struct gguf_value *value, uint64_t index,
                      void *out) {
    (void)want;
    return gguf_value_bool(value, index, out);
}

static bool take_string(const struct meta_want *want, const struct gguf_value *value,
                        uint64_t index, void *out) {
    (void)want;
    if (value->element != GGUF_STRING) return false;
    *(struct slice *)out = gguf_value_string(value, index);
    return true;
}

enum { WANT_TEXT_MAX = 96 };

static void describe_u(const struct meta_want *want, char *out) {
    if (want->u.max == UINT64_MAX || want->u.max == UINT32_MAX)
        snprintf(out, WANT_TEXT_MAX, "a whole number of at least %" PRIu64, want->u.min);
    else
        snprintf(out, WANT_TEXT_MAX, "a whole number from %" PRIu64 " to %" PRIu64, want->u.min,
                 want->u.max);
}

static void describe_i(const struct meta_want *want, char *out) {
    snprintf(out, WANT_TEXT_MAX, "a whole number from %" PRId64 " to %" PRId64, want->i.min,
             want->i.max);
}

static void describe_f(const struct meta_want *want, char *out) {
    snprintf(out, WANT_TEXT_MAX, "a number from %g to %g", (double)want->f.min,
             (double)want->f.max);
}

static void describe_bool(const struct meta_want *want, char *out) {
    (void)want;
    snprintf(out, WANT_TEXT_MAX, "true or false");
}

static void describe_string(const struct meta_want *want, char *out) {
    (void)want;
    snprintf(out, WANT_TEXT_MAX, "a string");
}

struct want_row {
    size_t size; // of the caller's variable
    bool (*take)(const struct meta_want *want, const struct gguf_value *value, uint64_t index,
                 void *out);
    void (*describe)(const struct meta_want *want, char *out);
};

static const struct want_row want_rows[] = {
    [WANT_U32] = {sizeof(uint32_t), take_u32, describe_u},
    [WANT_U64] = {sizeof(uint64_t), take_u64, describe_u},
    [WANT_I64] = {sizeof(int64_t), take_i64, describe_i},
    [WANT_F32] = {sizeof(float), take_f32, describe_f},
    [WANT_BOOL] = {sizeof(bool), take_bool, describe_bool},
    [WANT_STRING] = {sizeof(struct slice), take_string, describe_string},
};

// --- The one reader -----------------------------------------------------------------------------

// bad: which element of an array is not as it should be; value->count when it is the array itself.
static locum_status meta_wrong(const struct gguf_meta *meta, const char *key,
                               const struct gguf_value *value, uint64_t bad, const char *expected,
                               locum_error *error) {
    struct meta_key whole = meta_key(meta, key);
    bool one = value->is_array && bad < value->count;
    struct gguf_value culprit = one ? gguf_value_at(value, bad) : *value;
    char found[96], where[48];
    gguf_value_text(&culprit, found, sizeof found);
    if (one)
        snprintf(where, sizeof where, "element %s of it", gguf_text_number(bad).text);
    else
        snprintf(where, sizeof where, "it");
    if (!culprit.is_array)
        return status_fail(error, LOCUM_E_FORMAT, "%s: key '%s' must be %s, but %s is the %s %s",
                           meta->name, whole.text, expected, where,
                           gguf_value_type_name(culprit.element), found);
    return status_fail(error, LOCUM_E_FORMAT,
                       "%s: key '%s' must be %s, but it is an array of %s (%s): %s", meta->name,
                       whole.text, expected, gguf_text_number(value->count).text,
                       gguf_value_type_name(value->element), found);
}

// n values of the wanted type to out[n]. A scalar fills all of them, an array must have n elements.
// fallback: one value of that type for an absent key, or NULL when the key is required.
static locum_status meta_read(const struct gguf_meta *meta, const char *key, struct meta_want want,
                              const void *fallback, uint32_t n, void *out, locum_error *error) {
    LOCUM_ASSERT(n > 0);
    const struct want_row *row = &want_rows[want.type];
    const struct gguf_value *value = gguf_meta_find(meta, key);
    if (value == NULL && fallback == NULL)
        return status_fail(error, LOCUM_E_FORMAT, "%s: key '%s' is missing", meta->name,
                           meta_key(meta, key).text);
    bool good = value == NULL || !value->is_array || value->count == n;
    uint64_t bad = value != NULL ? value->count : 0;
    for (uint32_t i = 0; i < n && good; i++) {
        void *slot = (char *)out + i * row->size;
        if (value == NULL)
            memcpy(slot, fallback, row->size);
        else
            good = row->take(&want, value, value->is_array ? i : 0, slot);
        if (!good) bad = i;
    }
    if (good) return LOCUM_OK;
    char each[WANT_TEXT_MAX], expected[2 * WANT_TEXT_MAX];
    row->describe(&want, each);
    if (n > 1)
        snprintf(expected, sizeof expected, "%s, or an array of %" PRIu32 " of them", each, n);
    return meta_wrong(meta, key, value, bad, n > 1 ? expected : each, error);
}

static struct meta_want want_u32(uint32_t min, uint32_t max) {
    return (struct meta_want){.type = WANT_U32, .u = {min, max}};
}
static struct meta_want want_u64(uint64_t min, uint64_t max) {
    return (struct meta_want){.type = WANT_U64, .u = {min, max}};
}
static struct meta_want want_i64(int64_t min, int64_t max) {
    return (struct meta_want){.type = WANT_I64, .i = {min, max}};
}
static struct meta_want want_f32(float min, float max) {
    return (struct meta_want){.type = WANT_F32, .f = {min, max}};
}
static const struct meta_want want_bool = {.type = WANT_BOOL};
static const struct meta_want want_string = {.type = WANT_STRING};

// --- Accessors ----------------------------------------------------------------------------------

locum_status gguf_meta_u32(const struct gguf_meta *meta, const char *key, uint32_t min,
                           uint32_t max, uint32_t *out, locum_error *error) {
    return meta_read(meta, key, want_u32(min, max), NULL, 1, out, error);
}

locum_status gguf_meta_u64(const struct gguf_meta *meta, const char *key, uint64_t min,
                           uint64_t max, uint64_t *out, locum_error *error) {
    return meta_read(meta, key, want_u64(min, max), NULL, 1, out, error);
}

locum_status gguf_meta_i64(const struct gguf_meta *meta, const char *key, int64_t min, int64_t max,
                           int64_t *out, locum_error *error) {
    return meta_read(meta, key, want_i64(min, max), NULL, 1, out, error);
}

locum_status gguf_meta_f32(const struct gguf_meta *meta, const char *key, float min, float max,
                           float *out, locum_error *error) {
    return meta_read(meta, key, want_f32(min, max), NULL, 1, out, error);
}

locum_status gguf_meta_bool(const struct gguf_meta *meta, const char *key, bool *out,
                            locum_error *error) {
    return meta_read(meta, key, want_bool, NULL, 1, out, error);
}

locum_status gguf_meta_string(const struct gguf_meta *meta, const char *key, struct slice *out,
                              locum_error *error) {
    return meta_read(meta, key, want_string, NULL, 1, out, error);
}

locum_status gguf_meta_u32_or(const struct gguf_meta *meta, const char *key, uint32_t fallback,
                              uint32_t min, uint32_t max, uint32_t *out, locum_error *error) {
    return meta_read(meta, key, want_u32(min, max), &fallback, 1, out, error);
}

locum_status gguf_meta_u64_or(const struct gguf_meta *meta, const char *key, uint64_t fallback,
                              uint64_t min, uint64_t max, uint64_t *out, locum_error *error) {
    return meta_read(meta, key, want_u64(min, max), &fallback, 1, out, error);
}

locum_status gguf_meta_i64_or(const struct gguf_meta *meta, const char *key, int64_t fallback,
                              int64_t min, int64_t max, int64_t *out, locum_error *error) {
    return meta_read(meta, key, want_i64(min, max), &fallback, 1, out, error);
}

locum_status gguf_meta_f32_or(const struct gguf_meta *meta, const char *key, float fallback,
                              float min, float max, float *out, locum_error *error) {
    return meta_read(meta, key, want_f32(min, max), &fallback, 1, out, error);
}

locum_status gguf_meta_bool_or(const struct gguf_meta *meta, const char *key, bool fallback,
                               bool *out, locum_error *error) {
    return meta_read(meta, key, want_bool, &fallback, 1, out, error);
}

locum_status gguf_meta_string_or(const struct gguf_meta *meta, const char *key,
                                 struct slice fallback, struct slice *out, locum_error *error) {
    return meta_read(meta, key, want_string, &fallback, 1, out, error);
}

locum_status gguf_meta_u32_each(const struct gguf_meta *meta, const char *key, uint32_t min,
                                uint32_t max, uint32_t n, uint32_t out[], locum_error *error) {
    return meta_read(meta, key, want_u32(min, max), NULL, n, out, error);
}

locum_status gguf_meta_f32_each(const struct gguf_meta *meta, const char *key, float min, float max,
                                uint32_t n, float out[], locum_error *error) {
    return meta_read(meta, key, want_f32(min, max), NULL, n, out, error);
}

locum_status gguf_meta_bool_each(const struct gguf_meta *meta, const char *key, uint32_t n,
                                 bool out[], locum_error *error) {
    return meta_read(meta, key, want_bool, NULL, n, out, error);
}

locum_status gguf_meta_u32_each_or(const struct gguf_meta *meta, const char *key, uint32_t fallback,
                                   uint32_t min, uint32_t max, uint32_t n, uint32_t out[],
                                   locum_error *error) {
    return meta_read(meta, key, want_u32(min, max), &fallback, n, out, error);
}

locum_status gguf_meta_f32_each_or(const struct gguf_meta *meta, const char *key, float fallback,
                                   float min, float max, uint32_t n, float out[],
                                   locum_error *error) {
    return meta_read(meta, key, want_f32(min, max), &fallback, n, out, error);
}

locum_status gguf_meta_bool_each_or(const struct gguf_meta *meta, const char *key, bool fallback,
                                    uint32_t n, bool out[], locum_error *error) {
    return meta_read(meta, key, want_bool, &fallback, n, out, error);
}

// --- Arrays -------------------------------------------------------------------------------------

static bool is_of_kind(uint32_t element, enum gguf_meta_kind kind) {
    bool real = element == GGUF_F32 || element == GGUF_F64;
    if (kind == GGUF_META_STRINGS) return element == GGUF_STRING;
    if (kind == GGUF_META_NUMBERS) return element != GGUF_STRING;
    return element != GGUF_STRING && !real;
}

locum_status gguf_meta_array(const struct gguf_meta *meta, const char *key,
                             enum gguf_meta_kind kind, uint64_t n_min, uint64_t n_max,
                             const struct gguf_value **out, locum_error *error) {
    static const char *const words[] = {
        [GGUF_META_INTEGERS] = "whole numbers",
        [GGUF_META_NUMBERS] = "numbers",
        [GGUF_META_STRINGS] = "strings",
    };
    const struct gguf_value *value = gguf_meta_find(meta, key);
    if (value == NULL)
        return status_fail(error, LOCUM_E_FORMAT, "%s: key '%s' is missing", meta->name,
                           meta_key(meta, key).text);
    *out = value;
    if (value->is_array && is_of_kind(value->element, kind) && value->count >= n_min &&
        value->count <= n_max)
        return LOCUM_OK;
    char expected[WANT_TEXT_MAX];
    if (n_min == n_max)
        snprintf(expected, sizeof expected, "an array of %s %s", gguf_text_number(n_min).text,
                 words[kind]);
    else
        snprintf(expected, sizeof expected, "an array of %s to %s %s", gguf_text_number(n_min).text,
                 gguf_text_number(n_max).text, words[kind]);
    return meta_wrong(meta, key, value, value->count, expected, error);
}
