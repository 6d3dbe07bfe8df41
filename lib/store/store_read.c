// SPDX-License-Identifier: Apache-2.0
#include "store/store_read.h"

#include "base/check.h"

// The four arrays, widest alignment first.
size_t store_read_bytes(uint32_t depth) {
    return depth *
           (sizeof(struct store_request) + sizeof(struct store_load) + 2 * sizeof(uint32_t));
}

locum_status store_read_init(struct store_reader *reader, enum async_read_kind kind, uint32_t depth,
                             struct platform_file *const *files, void *memory, locum_error *error) {
    *reader = (struct store_reader){
        .files = files, .depth = depth, .requests_free = depth, .loads_free = depth};
    reader->request = memory;
    reader->load = (struct store_load *)(reader->request + depth);
    reader->request_free = (uint32_t *)(reader->load + depth);
    reader->load_free = reader->request_free + depth;
    for (uint32_t i = 0; i < depth; i++)
        reader->request_free[i] = reader->load_free[i] = i;
    return async_read_create(kind, depth, &reader->queue, error);
}

void store_read_release(struct store_reader *reader) {
    async_read_destroy(reader->queue);
    reader->queue = NULL;
}

static void submit(struct store_reader *reader, uint32_t number) {
    const struct store_request *request = &reader->request[number];
    bool accepted =
        async_read_submit(reader->queue, reader->files[request->range.file], request->buffer,
                          (size_t)request->range.bytes, request->range.offset, number);
    LOCUM_ASSERT(accepted); // requests are as many as the queue is deep
}

static void issue(struct store_reader *reader) {
    while (reader->issuing_next < reader->issuing.ranges && reader->requests_free > 0) {
        uint32_t number = reader->request_free[--reader->requests_free];
        const struct store_range *range = &reader->issuing.range[reader->issuing_next++];
        reader->request[number] = (struct store_request){*range, reader->issuing_to + range->place,
                                                         reader->issuing_load, false};
        submit(reader, number);
    }
}

bool store_read_ready(const struct store_reader *reader) {
    return reader->issuing_next == reader->issuing.ranges && reader->requests_free > 0;
}

void store_read_begin(struct store_reader *reader, uint32_t slot, const struct store_layout *layout,
                      uint8_t *to) {
    LOCUM_ASSERT(store_read_ready(reader) && reader->loads_free > 0);
    uint32_t load = reader->load_free[--reader->loads_free];
    reader->load[load] = (struct store_load){slot, layout->ranges, false};
    reader->issuing = *layout;
    reader->issuing_next = 0;
    reader->issuing_load = load;
    reader->issuing_to = to;
    issue(reader);
}

// The load has failed: those of its ranges that are not out yet need not be read.
static void abandon_rest(struct store_reader *reader, uint32_t load) {
    if (reader->issuing_load != load) return;
    reader->load[load].left -= reader->issuing.ranges - reader->issuing_next;
    reader->issuing_next = reader->issuing.ranges;
}

// Did the read bring what its segments need? *error is written if not.
static locum_status judge(const struct async_read_done *done, const struct store_range *range,
                          locum_error *error) {
    if (done->status != LOCUM_OK) return async_read_failed(done, error);
    if (done->bytes >= range->needed) return LOCUM_OK;
    return status_fail(error, LOCUM_E_IO,
                       "%s: the file ended at byte %llu, within a read of %llu bytes at %llu",
                       file_path(done->file), (unsigned long long)(done->offset + done->bytes),
                       (unsigned long long)range->needed, (unsigned long long)done->offset);
}

// One read has ended. true: its expert has arrived.
static bool finish(struct store_reader *reader, const struct async_read_done *done,
                   struct store_arrival *out) {
    uint32_t number = (uint32_t)done->tag;
    struct store_request *request = &reader->request[number];
    struct store_load *load = &reader->load[request->load];
    locum_error why;
    locum_status status = judge(done, &request->range, &why);
    reader->reads++;
    reader->bytes_read += done->bytes;
    if (reader->ended) reader->ended(reader->user, done, &request->range, load->slot);
    if (status != LOCUM_OK && !load->failed && !request->again) {
        request->again = true;
        reader->retries++;
        submit(reader, number);
        return false;
    }
    if (status != LOCUM_OK && !load->failed) {
        load->failed = true;
        reader->why = why;
        abandon_rest(reader, request->load);
    }
    reader->request_free[reader->requests_free++] = number;
    if (--load->left > 0) return false;
    *out = (struct store_arrival){load->slot, load->failed};
    reader->load_free[reader->loads_free++] = request->load;
    return true;
}

uint32_t store_read_poll(struct store_reader *reader, bool block,
                         struct store_arrival out[STORE_READ_BATCH]) {
    struct async_read_done done[STORE_READ_BATCH];
    size_t count =
        async_read_wait(reader->queue, done, STORE_READ_BATCH, block ? ASYNC_READ_FOREVER : 0);
    uint32_t arrived = 0;
    for (size_t i = 0; i < count; i++)
        arrived += finish(reader, &done[i], &out[arrived]);
    issue(reader);
    return arrived;
}
