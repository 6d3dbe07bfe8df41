// SPDX-License-Identifier: Apache-2.0
//
// Owns:      memory of one lifetime (model, session, request): many allocations, one release.
// Called by: every folder above base. lib/ calls malloc nowhere else (large regions:
//            platform/vmem.h).
// Threads:   one thread at a time.
// Errors:    NULL / LOCUM_E_OUT_OF_MEMORY when the system has none or the arena's limit is reached.
// Not here:  single frees: what must be freed alone is not arena material.
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

// Blocks are chained; block size grows from 4 KiB to 1 MiB, a larger request gets a block of its
// own. arena_bytes counts what was taken from the system: it is the number that enters the memory
// plan.
struct arena {
    struct arena_block *blocks; // newest first
    size_t bytes;               // taken from the system
    size_t limit;               // 0: none
};

void arena_init(struct arena *arena, size_t limit);
void arena_release(struct arena *arena); // frees everything; the arena can be used again

// Zeroed memory aligned to 64 bytes for sizes >= 64, else to 16. size 0 gives a unique pointer.
void *arena_alloc(struct arena *arena, size_t size);
// count * size with overflow check.
void *arena_array(struct arena *arena, size_t count, size_t size);
// NUL-terminated copy.
char *arena_copy_text(struct arena *arena, const char *text, size_t size);
// printf into the arena; NULL when out of memory.
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Growing arrays inside and outside of arenas use one owner: plain heap with a size.
// heap_resize(NULL, n) allocates, heap_free(NULL) is fine. New memory is not zeroed.
void *heap_resize(void *memory, size_t size);
void heap_free(void *memory);

#endif
