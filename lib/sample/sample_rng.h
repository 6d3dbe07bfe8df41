// SPDX-License-Identifier: Apache-2.0
//
// Owns:      random numbers as a function of (seed, sequence, position): no state, so that batching,
//            repetition and order cannot change them.
// Called by: sample.
// Threads:   pure.
// Errors:    none.
// Not here:  drawing a seed (platform/random.h).
#ifndef SAMPLE_SAMPLE_RNG_H
#define SAMPLE_SAMPLE_RNG_H

#include <stdint.h>

// Finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection that spreads every bit.
static inline uint64_t sample_rng_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

// 64 random bits for one draw.
static inline uint64_t sample_rng_bits(uint64_t seed, uint64_t sequence, uint64_t position) {
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = sample_rng_mix(seed + golden);
    x = sample_rng_mix(x ^ (sequence + golden));
    return sample_rng_mix(x ^ (position * golden + golden));
}

// Uniform in [0, 1): 53 bits.
static inline double sample_rng_unit(uint64_t seed, uint64_t sequence, uint64_t position) {
    return (double)(sample_rng_bits(seed, sequence, position) >> 11) * 0x1p-53;
}

// A second number of the same draw that has nothing to do with the first: whether a stage happens at all.
static inline double sample_rng_chance(uint64_t seed, uint64_t sequence, uint64_t position) {
    return sample_rng_unit(~seed, sequence, position);
}

#endif
