// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the experts: one pool of slots for all layers, counted in bytes; the reads that fill
//            them; who stays and who goes; statistics and the routing trace's residency column.
// Called by: exec's EXPERTS operation (one caller thread), engine (create, sizes, statistics).
// Threads:   every function below is called from one thread; reads run in platform's async queue.
//            A slot's bytes are written while LOADING, and read by kernels while HELD; the first
//            time their user may rearrange them then (store_expert.fresh).
// Errors:    a failed read is tried once more, then store_take returns LOCUM_E_IO with file and
//            offset; the store stays usable (the slot is empty again).
// Not here:  activations, tensor shapes, arithmetic. The store knows byte ranges and ids.
//
// A slot holds the padded segments of one expert (gate, up, down; two when fused), each read with
// whole aligned blocks straight to its place: segment data starts at an arbitrary byte inside its
// room. States, changed by one function only:
//
//     EMPTY -> LOADING -> READY <-> HELD      READY -> EMPTY (evicted)   LOADING -> EMPTY (failed)
//
// LOADING and HELD slots are never evicted. store_check() walks all invariants (debug builds: each
// call).
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/arena.h"
#include "base/log.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STORE_SEGMENTS = 3, // gate, up, down
    STORE_HELD_MAX = 16 // largest `held` that a floor is made for
};

struct store_segment {
    uint32_t file;   // index into store_config.files
    uint64_t offset; // absolute
    uint64_t bytes;  // 0: this expert has no such segment
};

struct store_layer {
    uint32_t experts;                     // 0: not a MoE layer
    const struct store_segment *segments; // [experts * STORE_SEGMENTS], alive as long as the store
};

struct platform_file; // platform/file.h

// One read that has ended, of one or more segments that lie side by side.
struct store_io {
    uint32_t layer, expert;
    uint32_t segment; // the first one
    bool hinted;      // for the sake of a hint, and no step had asked for it when it ended
    uint32_t file;
    uint64_t offset, bytes_wanted, bytes;
    uint64_t latency_ns; // from asking to taking in
};
typedef void (*store_io_fn)(void *user, const struct store_io *io);

struct store_config {
    uint32_t layers;
    const struct store_layer *layer;
    // Open, direct where possible; they live as long as the store, the two lists are copied.
    // store_floor and store_full also take NULL: they then count the padding of direct reads for
    // all files.
    struct platform_file *const *files;
    uint32_t file_count;
    uint64_t slot_bytes; // bytes of the pool, all overhead included; >= store_floor()
    uint32_t depth;      // reads in flight at most; 0: 8 to 16, by the slots that the pool begins with
    bool io_uring;       // allow it
    bool verify;         // an expert's bytes must be those of its first read; 8 bytes for each more
    const struct log_sink *log;
    store_io_fn io; // told of each read, on the store's thread; NULL: nobody
    void *io_user;
};

// The least pool with which any step can run: room for `held` of the largest experts at once (1 to
// STORE_HELD_MAX; exec uses 2, so that one is computed while the next is read).
locum_status store_floor(const struct store_config *config, uint32_t held, uint64_t *bytes,
                         locum_error *error);
// The pool that holds every expert.
locum_status store_full(const struct store_config *config, uint64_t *bytes, locum_error *error);

struct store;
locum_status store_create(const struct store_config *config, struct store **out,
                          locum_error *error);
void store_destroy(struct store *store); // waits for reads in flight; NULL is fine

// Makes the pool as small or as large as fits into slot_bytes, bookkeeping included, at most what it was
// created with. Between layers only; waits for reads ahead. What has to go is what is worth least; it is
// evicted before its memory is given back. LOCUM_E_BUDGET below store_stats.pool_least, with which any
// step runs (it can be above store_floor: extents were fitted to a larger pool): nothing changes then.
locum_status store_resize(struct store *store, uint64_t slot_bytes, locum_error *error);

// ---- one layer of one step ----------------------------------------------------------------------
// begin -> take until none is left, done for each -> end.
enum store_order {
    STORE_ANY,      // hits first, then as reads arrive: lowest latency, for few tokens
    STORE_ASCENDING // strictly by id: file order, for prompts
};
enum store_phase { STORE_PREFILL, STORE_DECODE }; // for the statistics

// ids: distinct, ascending. What is there is kept for the step; as many misses as fit are issued,
// the rest follow as slots are given back (rounds). Nothing blocks.
// With STORE_ASCENDING a hit that is not taken yet gives up its slot when the next expert has no
// other room; it is then read again and counts as a miss.
locum_status store_begin(struct store *store, uint32_t layer, const uint32_t *ids, uint32_t count,
                         enum store_order order, enum store_phase phase, locum_error *error);

struct store_expert {
    uint32_t id;
    uint32_t slot;                          // ticket for store_done
    bool hit;                               // this step did not have to read it
    bool hinted;                            // a hit that it owes to a hint
    bool fresh;                             // nobody was done with it since it was read
    uint8_t *segment[STORE_SEGMENTS];       // NULL where absent
};
// The next expert that can be computed. wait false: *out unchanged and *got false if none is ready
// yet. *got false after everything has been taken. Who waits while holding `held` experts, of
// a pool that is made for `held`, has perhaps left no room: LOCUM_E_ARGUMENT, never a hang.
locum_status store_take(struct store *store, bool wait, struct store_expert *out, bool *got,
                        locum_error *error);
// The kernels have finished with it: it may now be evicted. Whoever rearranges the bytes of a fresh
// expert does so to all of them before this; they stay as they are until it is evicted.
void store_done(struct store *store, uint32_t slot);
// Ends the layer, also after an error: waits for its reads, releases what is still held. A fresh
// expert that is still held is dropped, since its bytes may be half rearranged.
void store_end(struct store *store);

// Experts of a later layer that will probably be needed, the most likely of each token first. They are
// read when no step waits for the drive, into slots that nobody needs, and counted apart; what has not
// been begun when the next layer begins is forgotten. One that fails is nobody's failure. Between layers
// or within one. ids: distinct, of that layer.
void store_hint(struct store *store, uint32_t layer, const uint32_t *ids, uint32_t count);
// Once a step, before its hints: are they welcome? Not where the pool holds every expert, and not for a
// while after most were wrong.
bool store_wants_hints(struct store *store);

// Before the first step: what earlier runs counted (store_get_uses). The pool is filled with what they used
// most while nothing else is to be read, and the choice of victims knows it. steps: [layers], uses:
// [experts of all layers]. Answers are the same.
void store_learn(struct store *store, const uint32_t *steps, const uint32_t *uses);
// Steps of answers in each layer, and of them those that used each expert; with what was learnt.
void store_get_uses(const struct store *store, const uint32_t **steps, const uint32_t **uses);

// ---- accounts -----------------------------------------------------------------------------------
struct store_stats {
    uint64_t hits[2], misses[2]; // by enum store_phase
    uint64_t bytes_read;         // as read from the device, padding included
    uint64_t bytes_wanted;       // of the segments
    uint64_t reads, retries, evictions;
    uint64_t hinted, hinted_used, hinted_wasted; // experts read for a hint: begun, then judged
    uint64_t verified, unequal; // reads compared with the first one of their expert; that differed
    uint64_t warmed;         // experts read because earlier runs used them
    uint64_t wait_ns;        // store_take blocked with nothing to compute
    uint64_t reading_ns;     // at least one read was asked for and not yet taken in
    uint32_t in_flight_most; // such reads at once
    uint64_t resident_bytes; // slots in use
    uint64_t pool_bytes;     // of the pool as it is now
    uint64_t pool_least, pool_most; // what store_resize can make of it
};
void store_get_stats(const struct store *store, struct store_stats *out);
// 0 miss, 1 hit: what a lookup now would give (for traces and tests; changes nothing).
bool store_resident(const struct store *store, uint32_t layer, uint32_t id);
// "direct, io_uring", "buffered, threads", ...
const char *store_io_name(const struct store *store);
// Walk all invariants; false with a sentence in *error if one is broken.
bool store_check(const struct store *store, locum_error *error);

#endif
