// SPDX-License-Identifier: Apache-2.0
#include "kernel_list.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct kernels_table, field)

static const struct {
    const char *name;
    size_t offset;
    check_fn check;
} singles[] = {
    {"interleave", AT(interleave), check_interleave},
    {"rms_norm", AT(rms_norm), check_rms_norm},
    {"dot", AT(dot), check_dot},
    {"rope_norm", AT(rope_norm), check_rope_norm},
    {"rope_neox", AT(rope_neox), check_rope_neox},
    {"attend_block", AT(attend_block), check_attend_block},
    {"attend_merge", AT(attend_merge), check_attend_merge},
    {"scale", AT(scale), check_scale},
    {"add", AT(add), check_add},
    {"add_scaled", AT(add_scaled), check_add_scaled},
    {"l2_norm", AT(l2_norm), check_l2_norm},
    {"mul", AT(mul), check_mul},
    {"sigmoid_mul", AT(sigmoid_mul), check_sigmoid_mul},
    {"silu_mul", AT(silu_mul), check_silu_mul},
    {"gelu_mul", AT(gelu_mul), check_gelu_mul},
    {"swiglu_oai_mul", AT(swiglu_oai_mul), check_swiglu_oai_mul},
    {"softcap", AT(softcap), check_softcap},
    {"to_half", AT(to_half), check_to_half},
    {"exp", AT(exp), check_exp},
    {"argmax", AT(argmax), check_argmax},
    {"conv", AT(conv), check_conv},
    {"delta_gates", AT(delta_gates), check_delta_gates},
    {"delta", AT(delta), check_delta},
};

kernel_pointer kernel_list_pointer(const struct kernels_table *table, size_t offset) {
    kernel_pointer pointer;
    memcpy(&pointer, (const char *)table + offset, sizeof pointer);
    return pointer;
}

static void append(const struct kernels_table *table, struct kernel *list, size_t *n,
                   const char *area, const char *detail, size_t offset, check_fn check,
                   uint32_t argument) {
    if (!kernel_list_pointer(table, offset)) return;
    struct kernel *kernel = &list[(*n)++];
    snprintf(kernel->name, sizeof kernel->name, "%s%s%s", area, *detail ? " " : "", detail);
    kernel->offset = offset;
    kernel->check = check;
    kernel->argument = argument;
}

size_t kernel_list(const struct kernels_table *table, struct kernel list[KERNEL_LIST_MAX]) {
    static const char *const acts[] = {"", "F32", "Q32", "Q256"};
    const size_t step = sizeof(kernel_pointer);
    size_t n = 0;
    for (uint32_t id = 0; id < DTYPE_ID_MAX; id++)
        append(table, list, &n, "matmul", dtype_name(id), AT(matmul) + id * step, check_matmul, id);
    for (uint32_t id = 0; id < DTYPE_ID_MAX; id++)
        append(table, list, &n, "dequantise", dtype_name(id), AT(dequantise) + id * step,
               check_dequantise, id);
    for (uint32_t act = 1; act < sizeof acts / sizeof *acts; act++)
        append(table, list, &n, "quantise", acts[act], AT(quantise) + act * step, check_quantise,
               act);
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        append(table, list, &n, singles[i].name, "", singles[i].offset, singles[i].check, 0);
    return n;
}

size_t kernel_list_unknown(const struct kernels_table *table, const struct kernel *list, size_t n) {
    for (size_t at = AT(interleave); at < sizeof *table; at += sizeof(kernel_pointer)) {
        bool known = !kernel_list_pointer(table, at);
        for (size_t i = 0; i < n && !known; i++) known = list[i].offset == at;
        if (!known) return at;
    }
    return 0;
}
