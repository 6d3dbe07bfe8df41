// SPDX-License-Identifier: Apache-2.0
//
// Layers of experts over files whose bytes follow from their place: what store_create takes, and
// the check that an expert has its own bytes.
#ifndef TESTS_STORE_FAKE_MODEL_H
#define TESTS_STORE_FAKE_MODEL_H

#include "store/store.h"
#include "tests/store/sim_random.h"

enum { FAKE_FILES = 2, FAKE_LAYERS_MAX = 8, FAKE_EXPERTS_MAX = 64 };

struct fake_model {
    struct store_config config; // files and slot_bytes are the test's to set
    struct store_layer layer[FAKE_LAYERS_MAX];
    struct store_segment segment[FAKE_LAYERS_MAX][FAKE_EXPERTS_MAX * STORE_SEGMENTS];
    uint64_t file_bytes[FAKE_FILES];
    uint64_t expert_bytes; // of all segments
};

void fake_model_init(struct fake_model *model);

// STACKED: all gates of a layer, then all ups, then all downs, as in a GGUF. PACKED: the segments
// of one expert beside each other.
enum fake_order { FAKE_STACKED, FAKE_PACKED };
// A layer at the end of a file. A size of 0 leaves the segment out; experts 0: a layer without.
void fake_model_add(struct fake_model *model, uint32_t file, enum fake_order order,
                    uint32_t experts, const uint64_t bytes[STORE_SEGMENTS]);

// 1 to 8 layers of up to 24 experts, of up to three shapes, in both orders and both files.
void fake_model_draw(struct fake_model *model, struct sim_random *random);

void fake_model_bytes(uint32_t file, uint64_t offset, uint8_t *out, size_t bytes);
// Has the expert all its own bytes?
bool fake_model_right(const struct fake_model *model, uint32_t layer,
                      const struct store_expert *expert);

#endif
