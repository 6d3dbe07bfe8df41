// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that follow from a seed.
#ifndef TESTS_STORE_SIM_RANDOM_H
#define TESTS_STORE_SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_random {
    uint64_t state; // the seed
};

static inline uint64_t sim_next(struct sim_random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15); // splitmix64
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// 0 .. limit - 1
static inline uint64_t sim_below(struct sim_random *random, uint64_t limit) {
    return sim_next(random) % limit;
}

// Both ends included.
static inline uint64_t sim_range(struct sim_random *random, uint64_t least, uint64_t most) {
    return least + sim_below(random, most - least + 1);
}

static inline bool sim_chance(struct sim_random *random, uint32_t percent) {
    return sim_below(random, 100) < percent;
}

#endif
