// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the list of all entries of a kernels_table, each with the check that proves it.
// Called by: checkkernel, bench.
// Threads:   one.
// Errors:    none.
// Not here:  the checks (check_*.c).
#ifndef CHECKKERNEL_KERNEL_LIST_H
#define CHECKKERNEL_KERNEL_LIST_H

#include "check_case.h"

enum { KERNEL_LIST_MAX = 2 * DTYPE_ID_MAX + 32 };

struct kernel {
    char name[24];     // "matmul Q4_K"
    size_t offset;     // of its pointer in struct kernels_table
    check_fn check;
    uint32_t argument; // dtype or act
};

// Every entry that the table has. Gives their number.
size_t kernel_list(const struct kernels_table *table, struct kernel list[KERNEL_LIST_MAX]);
// The function behind an entry, only to be compared.
typedef void (*kernel_pointer)(void);
kernel_pointer kernel_list_pointer(const struct kernels_table *table, size_t offset);
// An entry of the table that is set but not in the list, or 0: a kernel without a check.
size_t kernel_list_unknown(const struct kernels_table *table, const struct kernel *list, size_t n);

#endif
