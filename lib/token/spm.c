// SPDX-License-Identifier: Apache-2.0
#include "token/spm.h"

#include "base/utf8.h"

// Higher scores first, so the order of the numbers turned round: with the sign bit flipped, and
// negative numbers complemented, the bits of a float sort like the float.
static uint32_t rank_of_score(float score) {
    score += 0.0f; // -0 and 0 are the same score
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    uint32_t ascending = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return ~ascending;
}

static bool rank_of_pair(const void *model, int32_t left, int32_t right, struct slice both,
                         uint32_t *rank) {
    const struct vocabulary *vocabulary = model;
    (void)left;
    (void)right;
    if (both.size > vocabulary->longest_plain) {
        return false; // keeps the look-up short whatever the symbols have grown to
    }
    locum_token id = vocabulary_find(vocabulary, both);
    if (id == TOKEN_NONE) {
        return false;
    }
    *rank = rank_of_score(vocabulary->scores[id]);
    return true;
}

static int32_t result_of(const void *model, struct slice both) {
    return vocabulary_find(model, both);
}

void spm_encode(const struct vocabulary *vocabulary, struct slice text, struct merge *merge,
                struct token_output *out) {
    struct merge_rules rules = {vocabulary, rank_of_pair, result_of};
    merge_begin(merge, text);
    for (size_t i = 0; i < text.size;) {
        struct utf8_step step = utf8_next(slice_from(text, i));
        size_t size = step.kind == UTF8_CHARACTER ? step.size : 1;
        merge_append(merge, (uint32_t)i,
                     vocabulary_find(vocabulary, slice_make(text.data + i, size)));
        i += size;
    }
    merge_run(merge, &rules);
    for (int32_t i = merge_first(merge); i != MERGE_NONE; i = merge->symbols[i].next) {
        locum_token id = merge->symbols[i].id;
        if (id != TOKEN_NONE) {
            token_list_push(out->ids, id);
        } else {
            token_output_bytes(out, merge_text(merge, i));
        }
    }
}
