// SPDX-License-Identifier: Apache-2.0
//
// DESIGN. The ranges are read in pieces, DEPTH at a time, in order. Pieces arrive in any order; up to
// the first one that is missing everything has arrived, and what lies there is rearranged, a bite at a
// time so that the drive never waits for the next piece to be asked for.
#include "exec/exec_load.h"

#include "base/check.h"
#include "kernels/kernels_rows.h"
#include "platform/async_read.h"

enum {
    PIECE_BYTES = 4 << 20, // where drives give all they have
    DEPTH = 8,
    BITE_BYTES = 1 << 20,
    AHEAD_BYTES = 32 << 20, // that may wait to be rearranged: then little is left to do at the end
};

struct piece {
    uint32_t range;
    uint64_t at; // within the range
    size_t bytes;
    bool arrived;
};

struct load {
    struct exec_weights *weights;
    const struct plan *plan;
    const struct kernels_table *kernels;
    struct platform_file *const *files;
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    struct async_read *queue;
    // Pieces that are out, or wait for one before them: number n at piece[n % DEPTH].
    struct piece piece[DEPTH];
    uint64_t first, next; // numbers: the first that is missing, the next to be read
    struct piece ahead;   // where the next one begins
    uint64_t arrived;     // bytes of the region, from its start
    uint64_t settled;     // of them, those that lie as they will
    // What is rearranged next: a weight in order of place, and a row of it.
    uint32_t weight;
    uint64_t row;
    uint8_t *scratch;
};

// ---- reading ----------------------------------------------------------------------------------------
static void submit(struct load *load) {
    struct exec_weights *w = load->weights;
    while (load->next < load->first + DEPTH && load->ahead.range < w->n_ranges &&
           load->arrived < load->settled + AHEAD_BYTES) {
        const struct exec_range *range = &w->ranges[load->ahead.range];
        struct piece *piece = &load->piece[load->next % DEPTH];
        uint64_t left = range->bytes - load->ahead.at;
        *piece = load->ahead;
        piece->bytes = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        bool accepted = async_read_submit(load->queue, load->files[range->shard],
                                          w->region.data + range->place + piece->at, piece->bytes,
                                          range->offset + piece->at, load->next);
        LOCUM_ASSERT(accepted); // the queue is as deep as there are pieces
        load->next++;
        load->ahead.at += piece->bytes;
        if (load->ahead.at == range->bytes) load->ahead = (struct piece){.range = piece->range + 1};
    }
}

// The last block of a file is short; everything else must be there.
static locum_status judge(const struct async_read_done *done, locum_error *error) {
    if (done->status != LOCUM_OK) return async_read_failed(done, error);
    uint64_t size = file_size(done->file), end = done->offset + done->bytes;
    if (done->bytes == done->bytes_wanted || end >= size) return LOCUM_OK;
    return status_fail(error, LOCUM_E_IO,
                       "%s: the file has shrunk: it ends at byte %llu, %llu were there",
                       file_path(done->file), (unsigned long long)end, (unsigned long long)size);
}

static locum_status take_in(struct load *load, bool wait, locum_error *error) {
    struct async_read_done done[DEPTH];
    size_t count = async_read_wait(load->queue, done, DEPTH, wait ? ASYNC_READ_FOREVER : 0);
    for (size_t i = 0; i < count; i++) {
        STATUS_TRY(judge(&done[i], error));
        load->piece[done[i].tag % DEPTH].arrived = true;
    }
    for (; load->first < load->next && load->piece[load->first % DEPTH].arrived; load->first++) {
        load->arrived += load->piece[load->first % DEPTH].bytes;
        if (load->progress && load->progress(load->user, load->arrived, load->weights->bytes))
            return status_fail(error, LOCUM_E_CANCELLED, "loading was cancelled");
    }
    return LOCUM_OK;
}

// ---- rearranging ------------------------------------------------------------------------------------
// Weights at the same place are the same bytes: the first one in order stands for all.
static bool is_rearranged(const struct exec_weights *w, uint32_t i) {
    uint32_t weight = w->order[i];
    bool again = i > 0 && w->place[w->order[i - 1]] == w->place[weight];
    return w->multiplied[weight] && !again;
}

// Whole groups of rows that have arrived, at most a bite; or the last rows. 0: none has.
static uint64_t rows_of_bite(const struct load *load, const struct plan_weight *weight,
                             uint64_t place) {
    size_t lanes = load->kernels->lanes;
    uint64_t left = weight->rows - load->row, groups = BITE_BYTES / (lanes * weight->row_bytes);
    uint64_t there = load->arrived < place ? 0 : (load->arrived - place) / weight->row_bytes;
    uint64_t bite = groups < 1 ? lanes : groups * lanes;
    if (there >= left) there = left;
    else there -= there % lanes;
    return there < bite ? there : bite;
}

// One bite of what has arrived. false: there is nothing to do yet.
static bool rearrange(struct load *load) {
    const struct exec_weights *w = load->weights;
    load->settled = load->arrived;
    while (load->weight < load->plan->n_weights && !is_rearranged(w, load->weight)) load->weight++;
    if (load->weight == load->plan->n_weights) return false;
    uint32_t number = w->order[load->weight];
    const struct plan_weight *weight = &load->plan->weights[number];
    uint64_t place = w->place[number] + load->row * weight->row_bytes;
    uint64_t rows = rows_of_bite(load, weight, place);
    if (place < load->settled) load->settled = place;
    if (rows == 0) return false;
    load->kernels->interleave(weight->dtype, w->region.data + place, weight->row_bytes,
                              (size_t)rows, load->scratch);
    load->row += rows;
    if (load->row == weight->rows) {
        load->row = 0;
        load->weight++;
    }
    return true;
}

// ---- all of it --------------------------------------------------------------------------------------
static locum_status run(struct load *load, locum_error *error) {
    for (bool busy = false; busy || load->arrived < load->weights->bytes;) {
        submit(load);
        STATUS_TRY(take_in(load, !busy, error));
        busy = rearrange(load);
    }
    return LOCUM_OK;
}

static void tell_fallback(const struct async_read *queue, const struct log_sink *log) {
    const char *reason = async_read_fallback_reason(queue);
    if (reason) log_write(log, LOCUM_LOG_NOTICE, "weights are read by threads: %s", reason);
}

// Of those that are rearranged.
static uint64_t widest_row(const struct exec_weights *w, const struct plan *plan) {
    uint64_t widest = 0;
    for (uint32_t i = 0; i < plan->n_weights; i++)
        if (w->multiplied[i] && kernels_rows_runs(plan->weights[i].dtype) &&
            plan->weights[i].row_bytes > widest)
            widest = plan->weights[i].row_bytes;
    return widest;
}

locum_status exec_load_weights(struct exec_weights *w, const struct plan *plan,
                               const struct kernels_table *kernels,
                               struct platform_file *const *files, bool io_uring,
                               const struct log_sink *log,
                               bool (*progress)(void *user, uint64_t done, uint64_t total),
                               void *user, locum_error *error) {
    LOCUM_ASSERT(w->region.data == NULL && plan->n_weights > 0);
    struct load load = {.weights = w,
                        .plan = plan,
                        .kernels = kernels,
                        .files = files,
                        .progress = progress,
                        .user = user};
    STATUS_TRY(vmem_alloc(&w->region, (size_t)w->bytes, error));
    vmem_advise_huge(&w->region);
    load.scratch = heap_resize(NULL, (size_t)(kernels->lanes * widest_row(w, plan)));
    enum async_read_kind kind = io_uring ? ASYNC_READ_AUTO : ASYNC_READ_THREADS;
    locum_status status =
        load.scratch ? async_read_create(kind, DEPTH, &load.queue, error)
                     : status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory to load weights");
    if (status == LOCUM_OK && plan->n_experts == 0) tell_fallback(load.queue, log);
    if (status == LOCUM_OK) status = run(&load, error);
    async_read_destroy(load.queue); // waits for what is still out
    heap_free(load.scratch);
    if (status != LOCUM_OK) exec_weights_release(w);
    return status;
}
