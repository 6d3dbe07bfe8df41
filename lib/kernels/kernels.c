// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernels.h"

#include "kernels/ref/kernels_ref.h"
#include "kernels/ref/ref_block.h"
#ifdef KERNELS_HAVE_X86
#include "kernels/x86/kernels_x86.h"
#endif

#include <string.h>

static const char *const tier_names[KERNELS_TIER_COUNT] = {
#define NAME(name, text) text,
    KERNELS_TIER_LIST(NAME)
#undef NAME
};

const char *kernels_tier_name(enum kernels_tier tier) {
    return tier_names[tier];
}

bool kernels_tier_parse(const char *name, enum kernels_tier *tier) {
    for (int i = 0; i < KERNELS_TIER_COUNT; i++)
        if (strcmp(name, tier_names[i]) == 0) {
            *tier = (enum kernels_tier)i;
            return true;
        }
    return false;
}

static const uint8_t act_of[DTYPE_ID_MAX] = {
#define Q32(name, has_minimum) [DTYPE_##name] = KERNELS_ACT_Q32,
#define Q256(name, has_minimum) [DTYPE_##name] = KERNELS_ACT_Q256,
    REF_BLOCK_32_LIST(Q32) REF_BLOCK_256_LIST(Q256)
#undef Q32
#undef Q256
    [DTYPE_F32] = KERNELS_ACT_F32, [DTYPE_F16] = KERNELS_ACT_F32, [DTYPE_BF16] = KERNELS_ACT_F32,
};

enum kernels_act kernels_act_of(uint32_t dtype) {
    return dtype < DTYPE_ID_MAX ? (enum kernels_act)act_of[dtype] : KERNELS_ACT_NONE;
}

size_t kernels_act_bytes(enum kernels_act act, size_t k) {
    size_t sum_bytes = kernels_q32_sum_offset(k) - kernels_q32_scale_offset(k); // int32 as float
    switch (act) {
    case KERNELS_ACT_F32: return (k * sizeof(float) + 63) & ~(size_t)63;
    case KERNELS_ACT_Q32: return kernels_q32_sum_offset(k) + sum_bytes;
    case KERNELS_ACT_Q256: return k / 256 * sizeof(struct kernels_q256);
    case KERNELS_ACT_NONE: break;
    }
    return 0;
}

// What each tier adds to the table, ascending. A processor may lack one and have a higher one
// (AVX-512 without AVX-VNNI): the climb steps over it.
struct tier_step {
    enum kernels_tier tier;
    void (*init)(struct kernels_table *table);
};
static const struct tier_step steps[] = {
    {KERNELS_TIER_REF, kernels_ref_init},
#ifdef KERNELS_HAVE_X86
    {KERNELS_TIER_AVX2, kernels_x86_init_avx2},
    {KERNELS_TIER_AVXVNNI, kernels_x86_init_avxvnni},
    {KERNELS_TIER_AVX512, kernels_x86_init_avx512},
    {KERNELS_TIER_AVX512VNNI, kernels_x86_init_avx512vnni},
#endif
};

static bool cpu_has(const struct kernels_cpu *cpu, enum kernels_tier tier) {
    switch (tier) {
    case KERNELS_TIER_REF: return true;
    case KERNELS_TIER_AVX2: return cpu->avx2;
    case KERNELS_TIER_AVXVNNI: return cpu->avxvnni;
    case KERNELS_TIER_AVX512: return cpu->avx512;
    case KERNELS_TIER_AVX512VNNI: return cpu->avx512vnni;
    case KERNELS_TIER_COUNT: break;
    }
    return false;
}

enum kernels_tier kernels_best(const struct kernels_cpu *cpu) {
    enum kernels_tier best = KERNELS_TIER_REF;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (cpu_has(cpu, steps[i].tier)) best = steps[i].tier;
    return best;
}

bool kernels_init(struct kernels_table *table, enum kernels_tier tier,
                  const struct kernels_cpu *cpu) {
    bool reached = false;
    memset(table, 0, sizeof *table);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && steps[i].tier <= tier; i++)
        if (cpu_has(cpu, steps[i].tier)) {
            steps[i].init(table);
            reached = steps[i].tier == tier;
        }
    table->tier = tier;
    return reached;
}
