// SPDX-License-Identifier: Apache-2.0
#include "store/store_cut.h"

#include "base/check.h"
#include "platform/file.h"
#include "store/store_layout.h"

// With this no sum over all experts of a model wraps, checked or not.
#define SEGMENT_BYTES_MAX (UINT64_C(1) << 40)

enum {
    UNIT_BUFFERED = 64,   // a cache line: buffered reads go anywhere
    CLASS_TOLERANCE = 32, // a layer joins a class that is larger by at most 1/32
    EXTENT_SLACK = 100,   // a smaller extent is taken if it costs at most 1/100 of the room
};

// ---- the configuration --------------------------------------------------------------------------

static locum_status check_segment(const struct store_config *config, uint32_t layer, uint32_t id,
                                  const struct store_segment *segment, locum_error *error) {
    if (segment->bytes == 0) return LOCUM_OK;
    if (segment->offset > INT64_MAX / 2 || segment->bytes > SEGMENT_BYTES_MAX)
        return status_fail(error, LOCUM_E_FORMAT,
                           "layer %u, expert %u: a segment at %llu of %llu bytes", layer, id,
                           (unsigned long long)segment->offset, (unsigned long long)segment->bytes);
    if (config->files == NULL) return LOCUM_OK;
    if (segment->file >= config->file_count)
        return status_fail(error, LOCUM_E_ARGUMENT, "layer %u, expert %u: file %u of %u", layer, id,
                           segment->file, config->file_count);
    const struct platform_file *file = config->files[segment->file];
    if (segment->offset + segment->bytes > file_size(file))
        return status_fail(
            error, LOCUM_E_FORMAT, "%s: layer %u, expert %u ends at byte %llu, the file at %llu",
            file_path(file), layer, id, (unsigned long long)(segment->offset + segment->bytes),
            (unsigned long long)file_size(file));
    return LOCUM_OK;
}

// Slot bytes of the largest expert of a layer.
static locum_status measure_layer(const struct store_config *config, uint64_t unit, uint32_t number,
                                  uint64_t *bytes, locum_error *error) {
    const struct store_layer *layer = &config->layer[number];
    if (layer->experts > LIMIT_EXPERTS)
        return status_fail(error, LOCUM_E_UNSUPPORTED, "layer %u: %u experts, the limit is %d",
                           number, layer->experts, LIMIT_EXPERTS);
    *bytes = 0;
    for (uint32_t id = 0; id < layer->experts; id++) {
        const struct store_segment *segments = &layer->segments[(size_t)id * STORE_SEGMENTS];
        for (uint32_t i = 0; i < STORE_SEGMENTS; i++)
            STATUS_TRY(check_segment(config, number, id, &segments[i], error));
        struct store_layout layout;
        store_layout_make(segments, unit, &layout);
        if (layout.bytes == 0)
            return status_fail(error, LOCUM_E_FORMAT, "layer %u, expert %u has no bytes", number,
                               id);
        if (layout.bytes > *bytes) *bytes = layout.bytes;
    }
    return LOCUM_OK;
}

// Layers of nearly one size share a class: where a tensor begins within its page already makes
// layers of the same shape differ by a page or two.
static void sort_into_classes(const struct store_config *config, struct store_cut *cut,
                              const uint64_t layer_bytes[LIMIT_LAYERS]) {
    bool sorted[LIMIT_LAYERS] = {false};
    for (;;) {
        uint64_t largest = 0;
        for (uint32_t i = 0; i < config->layers; i++)
            if (!sorted[i] && layer_bytes[i] > largest) largest = layer_bytes[i];
        if (largest == 0) return;
        uint64_t least = largest - largest / CLASS_TOLERANCE;
        if (cut->classes + 1 == STORE_CLASSES) least = 0; // the last class takes the rest
        uint32_t number = cut->classes++;
        cut->size_class[number].slot_bytes = largest;
        for (uint32_t i = 0; i < config->layers; i++) {
            if (sorted[i] || layer_bytes[i] == 0 || layer_bytes[i] < least) continue;
            sorted[i] = true;
            cut->layer_class[i] = (uint8_t)number;
            cut->size_class[number].experts += config->layer[i].experts;
        }
    }
}

static uint64_t unit_of(const struct store_config *config) {
    if (config->files == NULL) return FILE_BLOCK;
    for (uint32_t i = 0; i < config->file_count; i++)
        if (file_is_direct(config->files[i])) return FILE_BLOCK;
    return UNIT_BUFFERED;
}

locum_status store_cut_measure(const struct store_config *config, struct store_cut *cut,
                               locum_error *error) {
    if (config->layers > LIMIT_LAYERS)
        return status_fail(error, LOCUM_E_UNSUPPORTED, "%u layers, the limit is %d", config->layers,
                           LIMIT_LAYERS);
    uint64_t layer_bytes[LIMIT_LAYERS];
    *cut = (struct store_cut){.unit = unit_of(config)};
    for (uint32_t i = 0; i < config->layers; i++) {
        STATUS_TRY(measure_layer(config, cut->unit, i, &layer_bytes[i], error));
        cut->experts += config->layer[i].experts;
        if (config->layer[i].experts > cut->experts_widest)
            cut->experts_widest = config->layer[i].experts;
    }
    if (cut->experts == 0) return status_fail(error, LOCUM_E_ARGUMENT, "no layer has experts");
    sort_into_classes(config, cut, layer_bytes);
    return LOCUM_OK;
}

// ---- the extent ---------------------------------------------------------------------------------

// Extents of this size that hold every expert.
static uint64_t extents_for_all(const struct store_cut *cut, uint64_t extent_bytes) {
    uint64_t extents = 0;
    for (uint32_t i = 0; i < cut->classes; i++) {
        uint64_t slots = extent_bytes / cut->size_class[i].slot_bytes;
        extents += (cut->size_class[i].experts + slots - 1) / slots;
    }
    return extents;
}

// Bytes of experts that a pool is expected to hold, extents shared out by what the classes weigh.
// 0: the extent is too coarse for some class to have the slots that it is promised.
static double capacity(const struct store_cut *cut, uint64_t extent_bytes, uint64_t bytes) {
    uint64_t extents = bytes / extent_bytes;
    uint64_t promised = bytes / store_cut_largest(cut);
    if (promised > STORE_HELD_MAX) promised = STORE_HELD_MAX;
    double weight = 0, filled = 0;
    for (uint32_t i = 0; i < cut->classes; i++) {
        const struct store_class *c = &cut->size_class[i];
        uint64_t slots = extent_bytes / c->slot_bytes;
        if (extents * slots < promised) return 0;
        double bytes_of_class = (double)c->experts * (double)c->slot_bytes;
        weight += bytes_of_class;
        filled += bytes_of_class * (double)(slots * c->slot_bytes);
    }
    // With several classes each has, on average, half an extent that is not full. Where extents are
    // few that grows to most of the pool: a single one is emptied whenever the class changes.
    double partly = cut->classes > 1 ? 0.5 * cut->classes : 0;
    double usable = (double)extents * (double)extents / ((double)extents + partly);
    return usable * filled / weight;
}

// Candidate number n, 0 when there are no more: an extent that some class fills exactly.
static uint64_t candidate(const struct store_cut *cut, uint32_t n) {
    uint32_t number = n / STORE_EXTENT_SLOTS;
    return number < cut->classes ? cut->size_class[number].slot_bytes * (n % STORE_EXTENT_SLOTS + 1)
                                 : 0;
}

// The extent with which all experts need least.
static uint64_t extent_for_all(const struct store_cut *cut) {
    uint64_t best = 0, best_bytes = UINT64_MAX, extent;
    for (uint32_t n = 0; (extent = candidate(cut, n)) != 0; n++) {
        if (extent < store_cut_largest(cut)) continue;
        uint64_t bytes = extents_for_all(cut, extent) * extent;
        if (bytes < best_bytes || (bytes == best_bytes && extent < best)) {
            best = extent;
            best_bytes = bytes;
        }
    }
    return best;
}

// The smallest extent that comes near the largest capacity: small extents change class easily.
static uint64_t extent_for_some(const struct store_cut *cut, uint64_t bytes) {
    double most = 0;
    uint64_t best = UINT64_MAX, extent;
    for (uint32_t n = 0; (extent = candidate(cut, n)) != 0; n++) {
        double room = extent < store_cut_largest(cut) ? 0 : capacity(cut, extent, bytes);
        if (room > most) most = room;
    }
    for (uint32_t n = 0; (extent = candidate(cut, n)) != 0; n++) {
        double room = extent < store_cut_largest(cut) ? 0 : capacity(cut, extent, bytes);
        if (room > 0 && room >= most - most / EXTENT_SLACK && extent < best) best = extent;
    }
    return best;
}

uint64_t store_cut_full(const struct store_cut *cut) {
    uint64_t extent = extent_for_all(cut);
    return extents_for_all(cut, extent) * extent;
}

void store_cut_choose(struct store_cut *cut, uint64_t bytes) {
    LOCUM_ASSERT(bytes >= store_cut_largest(cut)); // else it is below the floor
    uint64_t extent = extent_for_all(cut);
    uint64_t extents = extents_for_all(cut, extent);
    if (extents > bytes / extent) {
        // An extent of one largest expert always keeps the promise, so there is an answer.
        extent = extent_for_some(cut, bytes);
        extents = bytes / extent;
    }
    cut->extent_bytes = extent;
    cut->extents = (uint32_t)extents;
    cut->extent_slots = (uint32_t)(extent / store_cut_smallest(cut));
}
