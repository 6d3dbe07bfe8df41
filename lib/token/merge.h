// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the merging of neighbours: symbols of one piece of text in a linked list, candidates
//            in a heap.
// Called by: bpe, spm.
// Threads:   one at a time; the memory is used again for the next piece.
// Errors:    sticky: `failed` once there was no memory, or who watches said stop.
// Not here:  which pairs merge and in which order (the rules that the caller gives).
//
// n symbols cost O(n log n): each merge takes one candidate out and puts two in. Nothing recurses.
#ifndef TOKEN_MERGE_H
#define TOKEN_MERGE_H

#include "base/slice.h"
#include "base/status.h"

enum {
    MERGE_NONE = -1,      // a symbol that is nothing the rules know
    MERGE_POLL = 1 << 16, // some milliseconds
};

struct merge_symbol {
    uint32_t begin;     // in the piece; it ends where `next` begins
    int32_t prev, next; // MERGE_NONE at the ends
    int32_t id;         // as the rules number symbols
};

struct merge_candidate {
    uint64_t order; // lowest first: rank, then the position of the left symbol
    uint32_t end;   // of the pair in the piece when it was put in; another one now: out of date
};

struct merge {
    struct slice piece;
    struct merge_symbol *symbols;
    size_t count, capacity; // symbols of the piece, those merged into others included
    struct merge_candidate *heap;
    size_t heap_count, heap_capacity;
    uint64_t
        steps; // candidates looked at and moved, since the start; tests hold it against the text
    bool failed;
    // Asked every MERGE_POLL symbols and candidates; true: stop. NULL: nobody watches.
    bool (*watch)(void *user);
    void *user;
    uint32_t unpolled;
    bool stopped; // with `failed`
};

struct merge_rules {
    const void *model;
    // Does the pair merge, and how early? `both` is the text of the two together.
    bool (*rank)(const void *model, int32_t left, int32_t right, struct slice both, uint32_t *rank);
    // The symbol that the two become.
    int32_t (*result)(const void *model, struct slice both);
};

// Start with a piece, append its first symbols from left to right, run.
void merge_begin(struct merge *merge, struct slice piece);
void merge_append(struct merge *merge, uint32_t begin, int32_t id);
void merge_run(struct merge *merge, const struct merge_rules *rules);

// The symbols that are left, from merge_first on along symbols[i].next to MERGE_NONE.
int32_t merge_first(const struct merge *merge);
struct slice merge_text(const struct merge *merge, int32_t symbol);

// Counts as much work as a symbol, for who goes through pieces that need no merging.
void merge_poll(struct merge *merge);

void merge_release(struct merge *merge);

#endif
