// SPDX-License-Identifier: Apache-2.0
#include "tests/store/sim_platform.h"

#include "base/check.h"
#include "tests/store/fake_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sim_disk sim_disk;
uint64_t sim_vmem_bytes;
static uint64_t now_ns;

void sim_reset(uint64_t seed) {
    sim_disk = (struct sim_disk){.random = {seed}, .latency_ns_max = 1000000};
    now_ns = 0;
}

uint64_t clock_now_ns(void) {
    return now_ns;
}

// ---- files --------------------------------------------------------------------------------------

const char *file_path(const struct platform_file *file) {
    return file->path;
}

uint64_t file_size(const struct platform_file *file) {
    return file->size;
}

bool file_is_direct(const struct platform_file *file) {
    return file->direct;
}

// ---- memory -------------------------------------------------------------------------------------

size_t vmem_page_size(void) {
    return 4096;
}

locum_status vmem_alloc(struct vmem *region, size_t bytes, locum_error *error) {
    (void)error;
    bytes = (bytes + 4095) / 4096 * 4096;
    *region = (struct vmem){aligned_alloc(4096, bytes), bytes, bytes};
    LOCUM_ASSERT(region->data != NULL);
    memset(region->data, 0xa5, bytes);
    sim_vmem_bytes += bytes;
    return LOCUM_OK;
}

bool vmem_advise_huge(struct vmem *region) {
    (void)region;
    return false;
}

void vmem_refuse_huge(struct vmem *region) {
    (void)region;
}

void vmem_discard(struct vmem *region, size_t offset, size_t bytes) {
    LOCUM_ASSERT(offset + bytes <= region->bytes);
    memset(region->data + offset, 0xdd, bytes); // nobody may rely on what was there
}

void vmem_release(struct vmem *region) {
    sim_vmem_bytes -= region->bytes;
    free(region->data);
    *region = (struct vmem){0};
}

// ---- reads --------------------------------------------------------------------------------------

struct sim_read {
    const struct platform_file *file;
    uint8_t *buffer;
    size_t bytes;
    uint64_t offset, tag, due_ns;
};

struct async_read {
    uint32_t depth, out;
    uint64_t busy_since_ns;
    struct async_read_stats stats; // those the store asks for
    struct sim_read read[ASYNC_READ_DEPTH_MAX];
};

locum_status async_read_create(enum async_read_kind kind, uint32_t depth, struct async_read **out,
                               locum_error *error) {
    (void)kind, (void)error;
    *out = calloc(1, sizeof **out);
    LOCUM_ASSERT(*out != NULL && depth > 0 && depth <= ASYNC_READ_DEPTH_MAX);
    (*out)->depth = depth;
    return LOCUM_OK;
}

void async_read_destroy(struct async_read *queue) {
    free(queue);
}

const char *async_read_name(const struct async_read *queue) {
    (void)queue;
    return "simulated";
}

const char *async_read_fallback_reason(const struct async_read *queue) {
    (void)queue;
    return NULL;
}

bool async_read_submit(struct async_read *queue, const struct platform_file *file, void *buffer,
                       size_t bytes, uint64_t offset, uint64_t tag) {
    uint64_t unit = file->direct ? FILE_BLOCK : 1;
    LOCUM_ASSERT(bytes > 0 && bytes % unit == 0 && offset % unit == 0 &&
                 (uintptr_t)buffer % unit == 0);
    if (queue->out == queue->depth) return false;
    memset(buffer, 0xee, bytes); // whoever reads it too early finds this
    uint64_t due = now_ns + sim_below(&sim_disk.random, sim_disk.latency_ns_max + 1);
    if (queue->out == 0) queue->busy_since_ns = now_ns;
    queue->read[queue->out++] = (struct sim_read){file, buffer, bytes, offset, tag, due};
    if (queue->out > queue->stats.out_max) queue->stats.out_max = queue->out;
    sim_disk.last_offset = offset;
    return true;
}

static bool fails(const struct sim_read *read) {
    if (sim_chance(&sim_disk.random, sim_disk.fail_percent)) return true;
    bool bad = read->file->number == 0 && sim_disk.fail_times > 0 &&
               read->offset < sim_disk.bad_offset + sim_disk.bad_bytes &&
               sim_disk.bad_offset < read->offset + read->bytes;
    if (bad) sim_disk.fail_times--;
    return bad;
}

static struct async_read_done complete(const struct sim_read *read) {
    struct async_read_done done = {
        .tag = read->tag, .file = read->file, .offset = read->offset, .bytes_wanted = read->bytes};
    sim_disk.reads++;
    if (fails(read)) {
        sim_disk.failures++;
        done.status = LOCUM_E_IO;
        done.system_error = EIO;
        return done;
    }
    uint64_t rest = read->offset < read->file->size ? read->file->size - read->offset : 0;
    done.bytes = read->bytes < rest ? read->bytes : (size_t)rest;
    fake_model_bytes(read->file->number, read->offset, read->buffer, done.bytes);
    sim_disk.bytes += done.bytes;
    if (sim_disk.flip_percent > 0 && done.bytes > 0 &&
        sim_chance(&sim_disk.random, sim_disk.flip_percent)) {
        ((uint8_t *)read->buffer)[sim_below(&sim_disk.random, done.bytes)] ^=
            (uint8_t)(1 << sim_below(&sim_disk.random, 8));
        sim_disk.flips++;
    }
    return done;
}

// The read that is due first.
static uint32_t earliest(const struct async_read *queue) {
    uint32_t first = 0;
    for (uint32_t i = 1; i < queue->out; i++)
        if (queue->read[i].due_ns < queue->read[first].due_ns) first = i;
    return first;
}

size_t async_read_wait(struct async_read *queue, struct async_read_done *done, size_t max,
                       uint64_t timeout_ns) {
    size_t count = 0;
    now_ns += sim_below(&sim_disk.random, 1 + sim_disk.latency_ns_max / 8); // the caller's work
    while (count < max && queue->out > 0) {
        uint32_t first = earliest(queue);
        if (queue->read[first].due_ns > now_ns) {
            if (timeout_ns == 0 || count > 0) break;
            now_ns = queue->read[first].due_ns;
        }
        done[count++] = complete(&queue->read[first]);
        queue->read[first] = queue->read[--queue->out];
        if (queue->out == 0) queue->stats.busy_ns += now_ns - queue->busy_since_ns;
    }
    return count;
}

void async_read_get_stats(const struct async_read *queue, struct async_read_stats *out) {
    *out = queue->stats;
    if (queue->out > 0) out->busy_ns += now_ns - queue->busy_since_ns;
}

locum_status async_read_failed(const struct async_read_done *done, locum_error *error) {
    return status_fail(error, done->status, "%s: read of %zu bytes at %llu: error %d",
                       done->file->path, done->bytes_wanted, (unsigned long long)done->offset,
                       done->system_error);
}
