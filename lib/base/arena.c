// SPDX-License-Identifier: Apache-2.0
//
// A block is one allocation of the system:
//
//     | header, 64 bytes | used ............ | free ............ |
//     ^ aligned to 64                        ^ block->used       ^ block->size
//
// Blocks come zeroed and nothing is ever handed out twice, so memory is zero without being touched:
// a large array costs resident memory only where it is written.
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/checked.h"

enum {
    ARENA_ALIGN = 64, // a cache line, and the widest vector
    ARENA_ALIGN_SMALL = 16,
    ARENA_BLOCK_MIN = 4 << 10,
    ARENA_BLOCK_MAX = 1 << 20,
};

struct arena_block {
    struct arena_block *next; // older
    void *memory;             // what free() gets
    size_t size, used;        // bytes from the start of this header
};

static_assert(sizeof(struct arena_block) <= ARENA_ALIGN, "the header is one unit of alignment");

void arena_init(struct arena *arena, size_t limit) {
    *arena = (struct arena){.limit = limit};
}

void arena_release(struct arena *arena) {
    for (struct arena_block *block = arena->blocks; block != NULL;) {
        struct arena_block *next = block->next;
        free(block->memory);
        block = next;
    }
    arena->blocks = NULL;
    arena->bytes = 0;
}

// A block of `size` bytes, header included; NULL if the limit or the system forbids it.
static struct arena_block *block_create(struct arena *arena, size_t size) {
    uint64_t taken, total;
    if (!checked_add(size, ARENA_ALIGN - 1, &taken)) return NULL; // malloc aligns to 16 only
    if (!checked_add(arena->bytes, taken, &total) || total > SIZE_MAX) return NULL;
    if (arena->limit != 0 && total > arena->limit) return NULL;
    void *memory = calloc(1, (size_t)taken);
    if (memory == NULL) return NULL;
    size_t skip = -(uintptr_t)memory & (ARENA_ALIGN - 1);
    struct arena_block *block = (struct arena_block *)(void *)((char *)memory + skip);
    *block = (struct arena_block){.memory = memory, .size = size, .used = ARENA_ALIGN};
    arena->bytes = (size_t)total;
    return block;
}

// Take `size` bytes from a block, or give NULL when it is full.
static void *block_take(struct arena_block *block, size_t size) {
    size_t align = size >= ARENA_ALIGN ? ARENA_ALIGN : ARENA_ALIGN_SMALL;
    size_t start = (block->used + align - 1) & ~(align - 1);
    if (start > block->size || size > block->size - start) return NULL;
    block->used = start + size;
    return (char *)block + start;
}

// A block with room for `size` bytes. Ordinary requests get a block twice as large as the last one,
// which becomes the newest; a large one, and one near the limit, gets exactly what it needs.
static struct arena_block *block_add(struct arena *arena, size_t size) {
    uint64_t need;
    if (!checked_add(size, ARENA_ALIGN, &need) || need > SIZE_MAX) return NULL;
    struct arena_block *newest = arena->blocks;
    size_t usual = newest ? newest->size * 2 : ARENA_BLOCK_MIN;
    if (usual < ARENA_BLOCK_MIN) usual = ARENA_BLOCK_MIN;
    if (usual > ARENA_BLOCK_MAX) usual = ARENA_BLOCK_MAX;
    struct arena_block *block = NULL;
    bool ordinary = need <= usual / 4;
    if (ordinary) block = block_create(arena, usual);
    if (block == NULL) {
        block = block_create(arena, (size_t)need);
        ordinary = false;
    }
    if (block == NULL) return NULL;
    if (ordinary || newest == NULL) {
        block->next = newest;
        arena->blocks = block;
    } else { // behind the newest, whose free part stays in use
        block->next = newest->next;
        newest->next = block;
    }
    return block;
}

void *arena_alloc(struct arena *arena, size_t size) {
    if (size == 0) size = 1; // a pointer of its own
    if (arena->blocks != NULL) {
        void *memory = block_take(arena->blocks, size);
        if (memory != NULL) return memory;
    }
    struct arena_block *block = block_add(arena, size);
    if (block == NULL) return NULL;
    void *memory = block_take(block, size);
    LOCUM_ASSERT(memory != NULL);
    return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t size) {
    uint64_t bytes;
    if (!checked_mul(count, size, &bytes) || bytes > SIZE_MAX) return NULL;
    return arena_alloc(arena, (size_t)bytes);
}

char *arena_copy_text(struct arena *arena, const char *text, size_t size) {
    if (size == SIZE_MAX) return NULL;
    char *copy = arena_alloc(arena, size + 1);
    if (copy != NULL && size > 0) memcpy(copy, text, size);
    return copy;
}

char *arena_format(struct arena *arena, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    char *text = size < 0 ? NULL : arena_alloc(arena, (size_t)size + 1);
    if (text != NULL) vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

void *heap_resize(void *memory, size_t size) {
    return realloc(memory, size ? size : 1); // never the ambiguous realloc to zero
}

void heap_free(void *memory) {
    free(memory);
}
