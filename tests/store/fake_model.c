// SPDX-License-Identifier: Apache-2.0
#include "tests/store/fake_model.h"

#include "base/check.h"

#include <string.h>

void fake_model_init(struct fake_model *model) {
    *model = (struct fake_model){.file_bytes = {4000, 32}}; // no round numbers
    model->config.layer = model->layer;
    model->config.file_count = FAKE_FILES;
}

static void add_segment(struct fake_model *model, uint32_t file, struct store_segment *segment,
                        uint64_t bytes) {
    *segment = (struct store_segment){file, model->file_bytes[file], bytes};
    model->file_bytes[file] += bytes;
    model->expert_bytes += bytes;
}

void fake_model_add(struct fake_model *model, uint32_t file, enum fake_order order,
                    uint32_t experts, const uint64_t bytes[STORE_SEGMENTS]) {
    uint32_t number = model->config.layers++;
    LOCUM_ASSERT(number < FAKE_LAYERS_MAX && experts <= FAKE_EXPERTS_MAX && file < FAKE_FILES);
    model->layer[number] = (struct store_layer){experts, model->segment[number]};
    uint32_t count = experts * STORE_SEGMENTS;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = order == FAKE_PACKED ? i / STORE_SEGMENTS : i % experts;
        uint32_t part = order == FAKE_PACKED ? i % STORE_SEGMENTS : i / experts;
        add_segment(model, file, &model->segment[number][id * STORE_SEGMENTS + part], bytes[part]);
    }
}

static uint64_t word_at(uint32_t file, uint64_t number) {
    uint64_t word = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ file * UINT64_C(0xd6e8feb8);
    return word ^ word >> 29;
}

void fake_model_bytes(uint32_t file, uint64_t offset, uint8_t *out, size_t bytes) {
    const uint8_t *end = out + bytes;
    for (; out < end && offset % 8 != 0; offset++)
        *out++ = (uint8_t)(word_at(file, offset / 8) >> offset % 8 * 8);
    for (; end - out >= 8; out += 8, offset += 8) {
        uint64_t word = word_at(file, offset / 8);
        memcpy(out, &word, 8);
    }
    for (; out < end; offset++)
        *out++ = (uint8_t)(word_at(file, offset / 8) >> offset % 8 * 8);
}

static bool segment_right(const struct store_segment *segment, const uint8_t *data) {
    uint8_t expected[512];
    for (uint64_t done = 0; done < segment->bytes;) {
        uint64_t rest = segment->bytes - done;
        size_t count = rest < sizeof expected ? (size_t)rest : sizeof expected;
        fake_model_bytes(segment->file, segment->offset + done, expected, count);
        if (memcmp(data + done, expected, count) != 0) return false;
        done += count;
    }
    return true;
}

bool fake_model_right(const struct fake_model *model, uint32_t layer,
                      const struct store_expert *expert) {
    const struct store_segment *segments =
        &model->segment[layer][(size_t)expert->id * STORE_SEGMENTS];
    for (uint32_t i = 0; i < STORE_SEGMENTS; i++) {
        if ((expert->segment[i] == NULL) != (segments[i].bytes == 0)) return false;
        if (segments[i].bytes > 0 && !segment_right(&segments[i], expert->segment[i])) return false;
    }
    return true;
}

void fake_model_draw(struct fake_model *model, struct sim_random *random) {
    fake_model_init(model);
    uint32_t layers = (uint32_t)sim_range(random, 1, FAKE_LAYERS_MAX);
    uint32_t shapes = (uint32_t)sim_range(random, 1, 3);
    uint64_t shape[3][STORE_SEGMENTS];
    for (uint32_t i = 0; i < shapes; i++)
        for (uint32_t k = 0; k < STORE_SEGMENTS; k++)
            shape[i][k] = sim_range(random, 1, sim_chance(random, 20) ? 30000 : 3000);
    if (sim_chance(random, 30)) shape[0][1] = 0; // fused gate and up
    for (uint32_t i = 0; i < layers; i++) {
        uint32_t experts = (uint32_t)sim_range(random, 1, 24);
        if (i > 0 && sim_chance(random, 10)) experts = 0;
        fake_model_add(model, (uint32_t)sim_below(random, FAKE_FILES),
                       sim_chance(random, 50) ? FAKE_STACKED : FAKE_PACKED, experts,
                       shape[sim_below(random, shapes)]);
    }
}
