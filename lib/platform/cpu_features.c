// SPDX-License-Identifier: Apache-2.0
//
// The bits are those of the manuals of Intel and AMD. This file is the same for every system.
#include "platform/cpu.h"

#include <stdio.h>
#include <string.h>

enum {
    LEAF1_ECX_FMA = 1 << 12,
    LEAF1_ECX_OSXSAVE = 1 << 27,
    LEAF1_ECX_AVX = 1 << 28,
    LEAF1_ECX_F16C = 1 << 29,

    LEAF7_EBX_AVX2 = 1 << 5,
    LEAF7_EBX_BMI2 = 1 << 8,
    LEAF7_EBX_AVX512F = 1 << 16,
    LEAF7_EBX_AVX512DQ = 1 << 17,
    LEAF7_EBX_AVX512BW = 1 << 30,
    LEAF7_ECX_AVX512VBMI = 1 << 1,
    LEAF7_ECX_AVX512VNNI = 1 << 11,
    LEAF7_1_EAX_AVXVNNI = 1 << 4,

    XCR0_AVX = 1 << 1 | 1 << 2,                        // xmm, ymm
    XCR0_AVX512 = XCR0_AVX | 1 << 5 | 1 << 6 | 1 << 7, // mask registers, zmm 0-15, zmm 16-31
};
#define LEAF7_EBX_AVX512VL (UINT32_C(1) << 31)

static bool has(uint64_t bits, uint64_t wanted) {
    return (bits & wanted) == wanted;
}

void cpu_features_decode(const struct cpu_registers *registers, struct cpu_features *out) {
    *out = (struct cpu_features){0};
    if (registers->leaf_max < 7 || !has(registers->leaf1_ecx, LEAF1_ECX_OSXSAVE)) return;
    out->avx2 = has(registers->xcr0, XCR0_AVX) &&
                has(registers->leaf1_ecx, LEAF1_ECX_AVX | LEAF1_ECX_FMA | LEAF1_ECX_F16C) &&
                has(registers->leaf7_ebx, LEAF7_EBX_AVX2 | LEAF7_EBX_BMI2);
    out->avxvnni = out->avx2 && has(registers->leaf7_1_eax, LEAF7_1_EAX_AVXVNNI);
    out->avx512 = out->avx2 && has(registers->xcr0, XCR0_AVX512) &&
                  has(registers->leaf7_ebx, LEAF7_EBX_AVX512F | LEAF7_EBX_AVX512DQ |
                                                LEAF7_EBX_AVX512BW | LEAF7_EBX_AVX512VL);
    out->avx512vnni =
        out->avx512 && has(registers->leaf7_ecx, LEAF7_ECX_AVX512VBMI | LEAF7_ECX_AVX512VNNI);
}

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

// The instruction itself: the compiler's function for it wants a flag for the whole file.
static uint64_t read_xcr0(void) {
    uint32_t low, high;
    __asm__ __volatile__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static void read_registers(struct cpu_registers *out) {
    uint32_t eax, ebx, ecx, edx;
    *out = (struct cpu_registers){.leaf_max = __get_cpuid_max(0, NULL)};
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) out->leaf1_ecx = ecx;
    uint32_t subleaf_max = 0;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
        subleaf_max = eax;
        out->leaf7_ebx = ebx;
        out->leaf7_ecx = ecx;
    }
    if (subleaf_max >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx)) out->leaf7_1_eax = eax;
    if (has(out->leaf1_ecx, LEAF1_ECX_OSXSAVE)) out->xcr0 = read_xcr0();
}

void cpu_features_detect(struct cpu_features *out) {
    struct cpu_registers registers;
    read_registers(&registers);
    cpu_features_decode(&registers, out);
}

void cpu_name(char name[CPU_NAME_MAX]) {
    uint32_t words[12] = {0}; // 48 bytes of text, padded with zeros or blanks
    char text[sizeof words + 1] = "";
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t *part = words + 4 * i;
        __get_cpuid(0x80000002u + i, &part[0], &part[1], &part[2], &part[3]);
    }
    memcpy(text, words, sizeof words);
    size_t start = strspn(text, " ");
    size_t end = strlen(text);
    while (end > start && text[end - 1] == ' ')
        end--;
    snprintf(name, CPU_NAME_MAX, "%.*s", (int)(end - start), text + start);
    if (name[0] == '\0') snprintf(name, CPU_NAME_MAX, "unknown");
}

#else

void cpu_features_detect(struct cpu_features *out) {
    *out = (struct cpu_features){0};
}

void cpu_name(char name[CPU_NAME_MAX]) {
    snprintf(name, CPU_NAME_MAX, "unknown");
}

#endif
