// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what the processor can do and how much of it this process may use.
// Called by: engine (choice of kernels and of the thread count), tools.
// Threads:   pure questions to the system.
// Errors:    none: what cannot be found out counts as absent, and the fall-back is named in
//            `source`.
// Not here:  starting or pinning threads (thread.h).
#ifndef PLATFORM_CPU_H
#define PLATFORM_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- instruction sets ---------------------------------------------------------------------------
// Each flag: the processor has all of it and the operating system saves its registers.
struct cpu_features {
    bool avx2;       // AVX2, FMA, F16C, BMI2
    bool avxvnni;    // avx2 and AVX-VNNI
    bool avx512;     // avx2 and AVX-512 F, BW, VL, DQ
    bool avx512vnni; // avx512 and AVX-512 VNNI, VBMI
};

// The registers that decide, apart from the instructions that read them: tests make processors up.
struct cpu_registers {
    uint32_t leaf_max;
    uint32_t leaf1_ecx;
    uint32_t leaf7_ebx, leaf7_ecx;
    uint32_t leaf7_1_eax; // leaf 7, subleaf 1
    uint64_t xcr0;        // 0 if the system does not use XSAVE
};
void cpu_features_decode(const struct cpu_registers *registers, struct cpu_features *out);
// Of this machine; all false where it is not x86.
void cpu_features_detect(struct cpu_features *out);

enum { CPU_NAME_MAX = 64 };
void cpu_name(char name[CPU_NAME_MAX]); // "AMD EPYC ...", or "unknown"

// ---- how many, and which ------------------------------------------------------------------------
enum { CPU_COUNT_MAX = 1024 }; // numbers of cpus are below this
struct cpu_set {
    uint64_t bits[CPU_COUNT_MAX / 64];
};
static inline bool cpu_set_has(const struct cpu_set *set, uint32_t cpu) {
    return cpu < CPU_COUNT_MAX && (set->bits[cpu / 64] >> (cpu % 64) & 1) != 0;
}
static inline void cpu_set_add(struct cpu_set *set, uint32_t cpu) {
    set->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

struct cpu_topology {
    uint32_t usable;      // cpus this process may run on (affinity)
    uint32_t quota;       // cpus' worth of time that the container grants, rounded up; 0: no limit
    uint32_t cores;       // usable ones, hardware threads of one core counted once
    uint32_t performance; // of these cores, the fast kind (all, if there is one kind)
    uint32_t threads;     // compute threads by default: min(performance, quota), at least 1
    uint32_t
        order[CPU_COUNT_MAX]; // usable cpus: one of each fast core, slow cores, then their siblings
    const char *
        // where the kinds come from: "cpu_core/cpu_atom", "cpu_capacity", "max frequency", "one
        // kind"
        source;
};

// root: folder that holds proc/ and sys/, "" for the system's own; affinity NULL: asks the system.
void cpu_topology_read(const char *root, const struct cpu_set *affinity, struct cpu_topology *out);

#endif
