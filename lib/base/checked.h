// SPDX-License-Identifier: Apache-2.0
//
// Owns:      arithmetic on sizes that come from files: it fails instead of wrapping.
// Called by: gguf, model, store, engine.
// Threads:   pure.
// Errors:    false when the exact result does not fit; *out is then unspecified.
// Not here:  floating point.
#ifndef BASE_CHECKED_H
#define BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline bool checked_mul(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
// Round up to a multiple of `unit`, a power of two.
static inline bool checked_align(uint64_t value, uint64_t unit, uint64_t *out) {
    uint64_t sum;
    if (!checked_add(value, unit - 1, &sum)) return false;
    *out = sum & ~(unit - 1);
    return true;
}

#endif
