// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_matcher.h"

#include "base/arena.h"

#include <string.h>

// All tokens of a tree that the state takes.
static void walk(struct grammar_matcher *m, const struct grammar_tree *tree, uint32_t state,
                 uint64_t *mask) {
    m->states[0] = state;
    for (uint32_t i = 0; i < tree->count;) {
        const struct grammar_node *node = &tree->nodes[i];
        uint32_t next = grammar_machine_step(m->machine, m->states[node->depth], node->byte);
        if (next == GRAMMAR_DEAD) {
            i = node->end;
            continue;
        }
        if (node->token != GRAMMAR_NO_TOKEN)
            mask[node->token / 64] |= UINT64_C(1) << (node->token % 64);
        m->states[node->depth + 1] = next;
        i++;
    }
}

// Adds the tokens of the trees for short or long ones.
static void add_trees(struct grammar_matcher *m, uint32_t length, uint32_t state, uint64_t *mask) {
    const struct grammar_vocabulary *v = m->vocabulary;
    const struct grammar_tree *plain = &v->trees[length | GRAMMAR_TREE_PLAIN];
    walk(m, &v->trees[length], state, mask);
    if (plain->count == 0) return;
    if (grammar_machine_takes_text(m->machine, state)) {
        for (uint32_t i = 0; i < v->mask_words; i++)
            mask[i] |= plain->mask[i];
    } else {
        walk(m, plain, state, mask);
    }
}

// The short tokens of a relaxed state, kept with it.
static const uint64_t *short_mask(struct grammar_matcher *m, uint32_t state) {
    uint32_t words = m->vocabulary->mask_words, *kept = &m->machine->states[state].mask;
    if (*kept != GRAMMAR_UNKNOWN) return m->masks + (size_t)*kept * words;
    uint32_t need = (m->masks_count + 1) * words;
    if (!grammar_intern_grow((void **)&m->masks, &m->masks_capacity, need, sizeof *m->masks))
        return NULL;
    uint32_t number = m->masks_count++;
    *kept = number;
    uint64_t *mask = m->masks + (size_t)number * words;
    memset(mask, 0, words * sizeof *mask);
    add_trees(m, 0, state, mask);
    m->counts.walks++;
    return mask;
}

static size_t bytes_of(const struct grammar_matcher *m) {
    return grammar_machine_bytes(m->machine) + m->masks_capacity * sizeof *m->masks;
}

// Between two tokens, so that no walk is under way. Without memory for the move all stays as it is.
static void trim(struct grammar_matcher *m) {
    if (m->machine->state_words.count > m->counts.states_most)
        m->counts.states_most = m->machine->state_words.count;
    if (bytes_of(m) <= m->bytes_max) return;
    uint32_t state = grammar_machine_trim(m->machine, m->state);
    if (state == GRAMMAR_UNKNOWN) return;
    m->state = state;
    heap_free(m->masks);
    m->masks = NULL;
    m->masks_count = m->masks_capacity = 0;
    m->counts.trims++;
}

locum_status grammar_matcher_mask(struct grammar_matcher *matcher, const uint64_t **mask,
                                  locum_error *error) {
    struct grammar_machine *machine = matcher->machine;
    const struct grammar_vocabulary *v = matcher->vocabulary;
    uint64_t any = 0;
    trim(matcher);
    matcher->counts.masks++;
    uint32_t relaxed = grammar_machine_relax(machine, matcher->state, GRAMMAR_RELAX_SHORT);
    const uint64_t *kept = short_mask(matcher, relaxed);
    if (!kept) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for a mask of tokens");
    memcpy(matcher->mask, kept, v->mask_words * sizeof *kept);
    relaxed = grammar_machine_relax(machine, matcher->state, GRAMMAR_RELAX_LONG);
    add_trees(matcher, GRAMMAR_TREE_LONG, relaxed, matcher->mask);
    if (machine->status != LOCUM_OK) {
        if (error) *error = machine->error;
        return machine->status;
    }
    bool ends = grammar_matcher_can_end(matcher);
    for (uint32_t i = 0; i < v->mask_words; i++) {
        if (ends) matcher->mask[i] |= v->ends[i];
        any |= matcher->mask[i];
    }
    *mask = matcher->mask;
    return any ? LOCUM_OK
               : status_fail(error, LOCUM_E_ARGUMENT,
                             "the grammar allows none of the model's tokens here");
}

bool grammar_matcher_take_bytes(struct grammar_matcher *matcher, struct slice bytes) {
    uint32_t state = matcher->state;
    for (size_t i = 0; i < bytes.size && state != GRAMMAR_DEAD; i++)
        state = grammar_machine_step(matcher->machine, state, (uint8_t)bytes.data[i]);
    if (state == GRAMMAR_DEAD || bytes.size == 0) return false;
    matcher->state = state;
    return true;
}

bool grammar_matcher_take(struct grammar_matcher *matcher, uint32_t token) {
    const struct grammar_vocabulary *v = matcher->vocabulary;
    if (token >= v->size || (v->ends[token / 64] >> (token % 64)) & 1) return false;
    // A marker is its text, or its name where the grammar asks for that.
    struct slice bytes = grammar_vocabulary_bytes(v, token), name;
    return grammar_matcher_take_bytes(matcher, bytes) ||
           (grammar_vocabulary_name(v, token, &name) && grammar_matcher_take_bytes(matcher, name));
}

bool grammar_matcher_can_end(const struct grammar_matcher *matcher) {
    return matcher->machine->states[matcher->state].accepts;
}

bool grammar_matcher_must_end(const struct grammar_matcher *matcher) {
    uint32_t words;
    grammar_intern_get(&matcher->machine->state_words, matcher->state, &words);
    return grammar_matcher_can_end(matcher) && words == 1;
}

void grammar_matcher_reset(struct grammar_matcher *matcher) {
    matcher->state = matcher->machine->start;
}

locum_status grammar_matcher_create(const struct grammar_program *program,
                                    const struct grammar_vocabulary *vocabulary, size_t bytes_max,
                                    struct grammar_matcher **out, locum_error *error) {
    struct grammar_matcher *m = heap_resize(NULL, sizeof *m);
    *out = NULL;
    if (!m) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the grammar");
    *m = (struct grammar_matcher){
        .vocabulary = vocabulary,
        .bytes_max = bytes_max,
        .mask = heap_resize(NULL, (vocabulary->mask_words + 1) * sizeof *m->mask),
        .states = heap_resize(NULL, (vocabulary->longest + 1) * sizeof *m->states)};
    locum_status status = m->mask && m->states
                              ? grammar_machine_create(program, GRAMMAR_SHORT_BYTES,
                                                       vocabulary->longest, 2 * bytes_max,
                                                       &m->machine, error)
                              : status_fail(error, LOCUM_E_OUT_OF_MEMORY,
                                            "no memory for the grammar");
    if (status != LOCUM_OK) {
        grammar_matcher_free(m);
        return status;
    }
    m->state = m->machine->start;
    *out = m;
    return LOCUM_OK;
}

void grammar_matcher_free(struct grammar_matcher *matcher) {
    if (!matcher) return;
    grammar_machine_free(matcher->machine);
    heap_free(matcher->masks);
    heap_free(matcher->mask);
    heap_free(matcher->states);
    heap_free(matcher);
}
