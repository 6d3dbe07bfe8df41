// SPDX-License-Identifier: Apache-2.0
//
// Owns:      reads in flight: an expert's ranges are issued as the queue has room, counted in, and
//            tried once more after an error.
// Called by: store.
// Threads:   the store's one thread; the bytes are written by the platform's queue.
// Errors:    of an expert: in its arrival; store_reader.why has the text of its first read that failed
//            twice.
// Not here:  slot states (store_slot.h), who is read and when (store.c).
#ifndef STORE_STORE_READ_H
#define STORE_STORE_READ_H

#include "platform/async_read.h"
#include "store/store_layout.h"

// One range on its way.
struct store_request {
    struct store_range range;
    uint8_t *buffer;
    uint32_t load; // index into store_reader.load
    bool again;    // this is the second try
};

// One expert on its way: some of its ranges are out, the others wait in store_reader.issuing.
struct store_load {
    uint32_t slot;
    uint32_t left; // ranges that have not ended
    bool failed;
};

// Experts are issued one after the other: the next is begun when the ranges of the last are all
// out. So at most depth experts are on their way, with depth ranges between them.
struct store_reader {
    struct async_read *queue;
    struct platform_file *const *files;
    uint32_t depth;
    struct store_request *request; // [depth]
    struct store_load *load;       // [depth]
    uint32_t *request_free, *load_free;
    uint32_t requests_free, loads_free; // entries on those two stacks

    struct store_layout issuing; // of the load whose ranges are not all out
    uint32_t issuing_next;       // == issuing.ranges: nothing waits
    uint32_t issuing_load;
    uint8_t *issuing_to;

    uint64_t reads, retries, bytes_read; // ended reads, second tries among them
    locum_error why; // of the load that failed last
    // Told of each ended read; NULL: nobody.
    void (*ended)(void *user, const struct async_read_done *done, const struct store_range *range,
                  uint32_t slot);
    void *user;
};

// The expert in `slot` has arrived whole, or will not.
struct store_arrival {
    uint32_t slot;
    bool failed;
};
enum { STORE_READ_BATCH = 16 }; // most that one poll takes

// Bytes of memory that the arrays of a reader of this depth take.
size_t store_read_bytes(uint32_t depth);
locum_status store_read_init(struct store_reader *reader, enum async_read_kind kind, uint32_t depth,
                             struct platform_file *const *files, void *memory, locum_error *error);
void store_read_release(struct store_reader *reader); // waits for what is out

// May another expert be begun?
bool store_read_ready(const struct store_reader *reader);
void store_read_begin(struct store_reader *reader, uint32_t slot, const struct store_layout *layout,
                      uint8_t *to);

// Experts on their way.
static inline uint32_t store_read_loads(const struct store_reader *reader) {
    return reader->depth - reader->loads_free;
}
// Take what has ended, issue what waited for room; gives the experts that arrived by it. block:
// wait until at least one read has ended.
uint32_t store_read_poll(struct store_reader *reader, bool block,
                         struct store_arrival out[STORE_READ_BATCH]);

#endif
