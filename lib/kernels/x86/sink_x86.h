// SPDX-License-Identifier: Apache-2.0
//
// Owns:      where unpacked codes go: into a tile for many columns, or straight into the products
//            with a few.
// Called by: unpack_x86.h fills it, tile_x86.h makes it.
// Threads:   pure.
// Errors:    none.
// Not here:  the meaning of bytes (unpack_x86.h), loops over a matrix (tile_x86.h).
//
// Everything is inlined with a constant `struct sink_form`, and all indices are constants after
// unrolling: the arrays below live in registers.
#ifndef KERNELS_X86_SINK_X86_H
#define KERNELS_X86_SINK_X86_H

#include "kernels/x86/kernels_x86.h"

#define TILE_INLINE static inline __attribute__((always_inline))
// Unrolled, the emulation and code for sanitizers take minutes to compile.
#if defined(LOCUM_SIMDE) || defined(LOCUM_SANITIZED)
#define TILE_UNROLL
#elif defined(__clang__)
#define TILE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TILE_UNROLL _Pragma("GCC unroll 16")
#endif

#ifdef VEC_VNNI
#define TILE_VNNI 1
#else
#define TILE_VNNI 0
#endif

enum { SINK_COLUMNS = 4 };

// steps: dwords of codes that share a scale, 8 or 4. run: without VNNI, how many products may be
// added up in 16 bits; 1: the codes are signed.
struct sink_form {
    int columns; // 0: store
    int steps, run;
    bool scaled; // each group has a scale of its own
    int dwords;  // of codes in a block
    int lines;   // to prefetch meanwhile, as many as the block of VEC rows has
};

struct sink {
    vi *w; // store: codes i at w[2 * i]
    const int8_t *q[SINK_COLUMNS];
    const int16_t *multiplier[SINK_COLUMNS]; // per 32, with `scaled`
    const vi *scale;
    const uint8_t *ahead; // what is prefetched
    vi sum[SINK_COLUMNS];
    vi part[SINK_COLUMNS]; // of the group that is not complete
};

TILE_INLINE vi tile_broadcast(const void *p) {
    int32_t x;
    memcpy(&x, p, sizeof x);
    return vi_set32(x);
}

// Products add up in 32 bits, over a whole group, with VNNI and for signed codes; else in 16 bits.
TILE_INLINE bool tile_wide(int run) {
    return TILE_VNNI || run == 1;
}
// How many dwords of a group are added up before tile_add_part.
TILE_INLINE int tile_run(int steps, int run) {
    return tile_wide(run) ? steps : run;
}

// Scale of a group times the multiplier of its 32 activations, as tile_add_part wants it.
TILE_INLINE vi tile_factor(vi scale, int multiplier, int run) {
    return tile_wide(run) ? vi_madd16(scale, vi_set32(multiplier))
                          : vi_mullo16(scale, vi_set16(multiplier));
}

// sum + (factor or 1) * part
TILE_INLINE vi tile_add_part(vi sum, vi part, bool scaled, vi factor, int run) {
    if (tile_wide(run)) return vi_add32(sum, scaled ? vi_mullo32(part, factor) : part);
    return vi_add32(sum, vi_madd16(part, scaled ? factor : vi_set16(1)));
}

// The products of one dword of codes with its activations x, added to part.
TILE_INLINE vi tile_multiply(vi part, bool first, vi codes, vi magnitude, vi x, int run) {
#if TILE_VNNI
    (void)magnitude, (void)run;
    return vi_dpbusd(first ? vi_zero() : part, codes, x);
#else
    if (run > 1) {
        vi y = vi_maddubs(codes, x);
        return first ? y : vi_add16(part, y);
    }
    vi y = vi_madd16(vi_madd_signed(codes, magnitude, x), vi_set16(1));
    return first ? y : vi_add32(part, y);
#endif
}

TILE_INLINE void put(struct sink *s, const struct sink_form form, const int i, const vi codes) {
    if (form.columns == 0) vi_store(s->w + 2 * i, codes);
    const int g = i / form.steps, at = i % form.steps, run = tile_run(form.steps, form.run);
    const vi magnitude = vi_abs8(codes);
    TILE_UNROLL
    for (int c = 0; c < form.columns; c++) {
        vi *part = &s->part[c];
        *part = tile_multiply(*part, at % run == 0, codes, magnitude,
                              tile_broadcast(s->q[c] + 4 * i), form.run);
        VI_KEEP(*part);
        if (at % run + 1 < run) continue;
        vi factor = vi_zero();
        if (form.scaled)
            factor = tile_factor(s->scale[g], s->multiplier[c][g * form.steps / 8], form.run);
        s->sum[c] = tile_add_part(s->sum[c], *part, form.scaled, factor, form.run);
        VI_KEEP(s->sum[c]);
    }
    // The lines of what comes later, spread over the work on this.
    for (int p = i * form.lines / form.dwords; p < (i + 1) * form.lines / form.dwords; p++)
        __builtin_prefetch(s->ahead + 64 * p, 0, 3);
}

#endif
