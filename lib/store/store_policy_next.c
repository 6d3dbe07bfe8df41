// SPDX-License-Identifier: Apache-2.0
//
// When is each expert needed next? docs/store.md has the formulas and what they gain.
//
//     chance   that the next step of its layer uses the expert: logistic, of how often it was used
//              over four spans of time; the weights are learnt while it runs, from every step,
//              partly for all layers together, partly for each
//     tilt     what the tokens that resemble the current one say (store_recall.h)
//     worth    uses to be expected per time in the slot, up to the next step of the layer or the
//              one after: the experts of the layers just computed wait longest, so they go first
#include "store/store_policy.h"

#include "store/store_math.h"
#include "store/store_recall.h"

enum {
    RATES = 3,
    COUNT = RATES,        // the feature of all uses
    FEATURES = COUNT + 1, // then come
    BIAS = FEATURES,      // always 1
    TILT,                 // known only when it is asked for
    WEIGHTS
};

// Found on traces of the bundled model and on synthetic ones.
static const float half_life[RATES] = {2.0f, 8.0f, 40.0f}; // steps of the layer
#define RATE_PRIOR 0.1f       // of a full rate, added at the layer's average
#define COUNT_PRIOR 3.0f      // steps at the layer's average
#define LEARNING 0.0014f      // of what all layers share
#define LEARNING_LAYER 0.007f // of what a layer has of its own
#define KNOWN_MOST 64.0f      // steps that all of earlier runs counts as, at most
#define FIRST_WEIGHT 0.375f   // of each span of time
#define FIRST_TILT 0.5f

struct next_layer {
    uint32_t position; // among the layers with experts
    uint32_t steps;
    uint64_t used;     // experts, in all steps
    float share;       // of its experts that a step uses, on average
    float full[RATES]; // the rate of an expert that every step has used
    float own[WEIGHTS]; // added to those of all layers
    float wait;        // until its next step, as a part of a token's time; at most 1
    float wait_longer; // until the one after
};

struct next_expert {
    float rate[RATES]; // of use, fading
    float count;       // of uses
    float feature[FEATURES];
    float log_odds; // of the next use, without the tilt
    uint32_t worth_step;    // of `worth`
    float worth;
};

struct next {
    struct store_shape shape;
    struct store_recall recall;
    struct next_layer *layer;   // [layers]
    struct next_expert *expert; // [experts]
    // What every walk over the pool reads lies close together.
    float *chance;     // [experts] of the next use, without the tilt
    uint32_t *layer_of; // [experts]
    float keep[RATES];          // of a rate, each step
    float weight[WEIGHTS];
    uint32_t positions; // layers with experts
    uint32_t position;  // of the last step
    uint32_t step;      // counts up
};

static size_t next_bytes(uint32_t layers, uint32_t experts) {
    return sizeof(struct next) + store_recall_bytes(layers, experts) +
           layers * sizeof(struct next_layer) +
           experts * (sizeof(struct next_expert) + sizeof(float) + sizeof(uint32_t));
}

static void set_waits(struct next *next) {
    for (uint32_t i = 0; i < next->shape.layers; i++) {
        struct next_layer *layer = &next->layer[i];
        uint32_t steps = layer->position > next->position
                             ? layer->position - next->position
                             : layer->position + next->positions - next->position;
        layer->wait = (float)steps / (float)next->positions;
        layer->wait_longer = layer->wait + 1.0f;
    }
}

static void next_start(void *state, const struct store_shape *shape) {
    struct next *next = state;
    next->shape = *shape;
    // What needs most alignment comes first.
    next->layer = (struct next_layer *)(next + 1);
    uint8_t *recall = (uint8_t *)(next->layer + shape->layers);
    store_recall_start(&next->recall, shape, recall);
    next->expert =
        (struct next_expert *)(recall + store_recall_bytes(shape->layers, shape->experts));
    next->chance = (float *)(next->expert + shape->experts);
    next->layer_of = (uint32_t *)(next->chance + shape->experts);
    for (uint32_t i = 0; i < shape->layers; i++) {
        next->layer[i].position = next->positions;
        next->positions += shape->layer_first[i + 1] > shape->layer_first[i];
        for (uint32_t e = shape->layer_first[i]; e < shape->layer_first[i + 1]; e++)
            next->layer_of[e] = i;
    }
    for (uint32_t i = 0; i < RATES; i++)
        next->keep[i] = store_math_exp2(-1.0f / half_life[i]);
    for (uint32_t i = 0; i < FEATURES; i++)
        next->weight[i] = FIRST_WEIGHT;
    next->weight[TILT] = FIRST_TILT;
    set_waits(next);
}

static float weight_of(const struct next *next, const struct next_layer *layer, uint32_t i) {
    return next->weight[i] + layer->own[i];
}

static void add_features(const struct next_expert *expert, float lean, float factor, float *sum) {
    for (uint32_t i = 0; i < FEATURES; i++)
        sum[i] += factor * expert->feature[i];
    sum[BIAS] += factor;
    sum[TILT] += factor * lean;
}

// One step of gradient descent on the log loss, over all experts of the layer.
static void learn(struct next *next, uint32_t layer, const uint32_t *ids, uint32_t count) {
    struct next_layer *of = &next->layer[layer];
    uint32_t first = next->shape.layer_first[layer], end = next->shape.layer_first[layer + 1];
    float tilt = weight_of(next, of, TILT), slope[WEIGHTS] = {0};
    for (uint32_t e = first; e < end; e++) {
        float lean = store_recall_tilt(&next->recall, e, of->share);
        float chance = store_math_chance(next->expert[e].log_odds + tilt * lean);
        add_features(&next->expert[e], lean, -chance, slope);
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t e = first + ids[k];
        add_features(&next->expert[e], store_recall_tilt(&next->recall, e, of->share), 1.0f, slope);
    }
    for (uint32_t i = 0; i < WEIGHTS; i++) {
        next->weight[i] += LEARNING * slope[i];
        of->own[i] += LEARNING_LAYER * slope[i];
    }
}

static void count_uses(struct next *next, uint32_t layer, const uint32_t *ids, uint32_t count) {
    struct next_layer *of = &next->layer[layer];
    uint32_t first = next->shape.layer_first[layer], end = next->shape.layer_first[layer + 1];
    of->steps++;
    of->used += count;
    of->share = (float)of->used / ((float)of->steps * (float)(end - first));
    for (uint32_t i = 0; i < RATES; i++) {
        of->full[i] = of->full[i] * next->keep[i] + (1.0f - next->keep[i]);
        for (uint32_t e = first; e < end; e++)
            next->expert[e].rate[i] *= next->keep[i];
        for (uint32_t k = 0; k < count; k++)
            next->expert[first + ids[k]].rate[i] += 1.0f - next->keep[i];
    }
    for (uint32_t k = 0; k < count; k++)
        next->expert[first + ids[k]].count += 1.0f;
}

// Half the log2 of a frequency over the layer's average.
static float feature(float uses, float of, float prior, float share) {
    return 0.5f * store_math_log2((uses + prior * share) / ((of + prior) * share));
}

static void estimate(struct next *next, uint32_t layer) {
    const struct next_layer *of = &next->layer[layer];
    float bias = weight_of(next, of, BIAS) + store_math_log2(of->share), weight[FEATURES];
    for (uint32_t i = 0; i < FEATURES; i++)
        weight[i] = weight_of(next, of, i);
    for (uint32_t e = next->shape.layer_first[layer]; e < next->shape.layer_first[layer + 1]; e++) {
        struct next_expert *expert = &next->expert[e];
        for (uint32_t i = 0; i < RATES; i++)
            expert->feature[i] = feature(expert->rate[i], of->full[i], RATE_PRIOR, of->share);
        expert->feature[COUNT] = feature(expert->count, (float)of->steps, COUNT_PRIOR, of->share);
        float log_odds = bias;
        for (uint32_t i = 0; i < FEATURES; i++)
            log_odds += weight[i] * expert->feature[i];
        expert->log_odds = log_odds;
        next->chance[e] = store_math_chance(log_odds);
    }
}

static void next_step(void *state, uint32_t layer, const uint32_t *ids, uint32_t count) {
    struct next *next = state;
    if (count == 0) return;
    if (next->layer[layer].steps > 0) learn(next, layer, ids, count);
    store_recall_step(&next->recall, layer, ids, count);
    count_uses(next, layer, ids, count);
    estimate(next, layer);
    next->position = next->layer[layer].position;
    next->step++;
    set_waits(next);
}

// Earlier runs tell how often, nothing of how lately.
static void next_learn(void *state, const uint32_t *steps, const uint32_t *uses) {
    struct next *next = state;
    for (uint32_t i = 0; i < next->shape.layers; i++) {
        struct next_layer *layer = &next->layer[i];
        uint32_t first = next->shape.layer_first[i], end = next->shape.layer_first[i + 1];
        float scale = (float)steps[i] > KNOWN_MOST ? KNOWN_MOST / (float)steps[i] : 1.0f, sum = 0.0f;
        for (uint32_t e = first; e < end; e++) {
            next->expert[e].count = (float)uses[e] * scale;
            sum += next->expert[e].count;
        }
        if (sum < 1.0f) continue;
        layer->steps = (uint32_t)((float)steps[i] * scale + 0.5f);
        layer->used = (uint64_t)(sum + 0.5f);
        layer->share = sum / ((float)layer->steps * (float)(end - first));
        estimate(next, i);
    }
}

static uint64_t next_worth(void *state, uint32_t expert, uint64_t enough) {
    struct next *next = state;
    const struct next_layer *layer = &next->layer[next->layer_of[expert]];
    float chance = next->chance[expert];
    uint64_t least = store_math_order(chance / layer->wait_longer); // were it useless this time
    if (least >= enough) return least; // as nearly all are: the tilt costs most
    struct next_expert *it = &next->expert[expert];
    if (it->worth_step != next->step) {
        float lean = store_recall_tilt(&next->recall, expert, layer->share);
        float soon = store_math_chance(it->log_odds + weight_of(next, layer, TILT) * lean);
        float once = soon / layer->wait;
        float twice = (soon + (1.0f - soon) * chance) / layer->wait_longer;
        it->worth = once > twice ? once : twice;
        it->worth_step = next->step;
    }
    return store_math_order(it->worth);
}

const struct store_policy store_policy_next = {"next", next_bytes, next_start, next_step,
                                               next_worth, next_learn};
