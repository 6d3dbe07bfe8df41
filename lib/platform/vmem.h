// SPDX-License-Identifier: Apache-2.0
//
// Owns:      large regions of memory in whole pages, taken from and given back to the system.
// Called by: engine (dense weights, KV, scratch, slot pool), thread stacks; guarded regions: tests,
//            tools.
// Threads:   one owner per region; regions are independent.
// Errors:    LOCUM_E_OUT_OF_MEMORY with the size.
// Not here:  small objects (base/arena.h).
//
// Pages count as resident from the first write to them; bytes_committed is the number that enters a
// memory plan.
#ifndef PLATFORM_VMEM_H
#define PLATFORM_VMEM_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VMEM_HUGE_PAGE = 2 << 20 };

struct vmem {
    uint8_t *data; // aligned to VMEM_HUGE_PAGE if the region is at least that large, else to a page
    size_t bytes;  // address space, a multiple of the page size
    size_t bytes_committed; // of it usable
};

size_t vmem_page_size(void);
// bytes rounded up to whole pages; false if that does not fit.
bool vmem_round(size_t bytes, size_t *rounded);

// Address space only: touching it is a fault until it is committed.
locum_status vmem_reserve(struct vmem *region, size_t bytes, locum_error *error);
// Make the first `bytes` of the region usable, as zeros; what is committed already stays as it is.
locum_status vmem_commit(struct vmem *region, size_t bytes, locum_error *error);
// Both at once.
locum_status vmem_alloc(struct vmem *region, size_t bytes, locum_error *error);
// An all-zero region is fine; *region is all zero afterwards.
void vmem_release(struct vmem *region);

// Ask for huge pages. false: the system has none (everything works, with more TLB misses).
bool vmem_advise_huge(struct vmem *region);
// Make no more huge pages of it; those that are there stay.
void vmem_refuse_huge(struct vmem *region);
// Give resident pages back: whole pages inside [offset, offset + bytes) read as zero afterwards.
void vmem_discard(struct vmem *region, size_t offset, size_t bytes);

// `bytes` of memory between two pages that fault on every access: an overrun ends the test.
// flush_end: the last byte lies before the rear guard, else the first byte behind the front one.
struct vmem_guarded {
    uint8_t *data;
    struct vmem region;
};
locum_status vmem_guarded_alloc(struct vmem_guarded *memory, size_t bytes, bool flush_end,
                                locum_error *error);
void vmem_guarded_release(struct vmem_guarded *memory);

#endif
