// SPDX-License-Identifier: Apache-2.0
//
// Merges in memory: the ids of both sides by rank, and an index of ranks by pair, 13.3 bytes a
// merge. What a merge makes is not stored, it is found by its text: one look-up per merge done,
// against 4 bytes for each of half a million merges known.
#include "token/bpe.h"

#include "base/check.h"
#include "base/utf8.h"
#include "token/token_hash.h"

static int32_t symbol_of(const struct bpe *bpe, struct slice bytes) {
    int32_t id = vocabulary_find(bpe->vocabulary, bytes);
    if (id == TOKEN_NONE) {
        int32_t other = token_table_find(&bpe->others, bytes);
        id = other < 0 ? MERGE_NONE : (int32_t)vocabulary_size(bpe->vocabulary) + other;
    }
    return id;
}

// ---------------------------------------------------------------------------------------------
// Merges
// ---------------------------------------------------------------------------------------------
// The two sides of "A B", one behind the other.
struct pair {
    size_t left_size, size;
    char bytes[2 * LIMIT_TOKEN_BYTES];
};

static locum_status read_pair(enum token_spelling spelling, struct slice text, uint64_t rank,
                              struct pair *out, bool *known, locum_error *error) {
    // The first side may itself begin with a space.
    const char *space = text.size > 1 ? memchr(text.data + 1, ' ', text.size - 1) : NULL;
    if (!space || text.size > sizeof out->bytes) {
        return status_fail(error, LOCUM_E_FORMAT,
                           "merge %llu (tokenizer.ggml.merges) is not two texts with a space between",
                           (unsigned long long)rank);
    }
    struct slice left = slice_make(text.data, (size_t)(space - text.data));
    struct slice right = slice_from(text, left.size + 1);
    size_t left_size = spelling_read(spelling, left, out->bytes);
    *known = false;
    if (left_size == SPELLING_BAD) {
        return LOCUM_OK; // no text has such symbols
    }
    size_t right_size = spelling_read(spelling, right, out->bytes + left_size);
    if (right_size == SPELLING_BAD || left_size == 0 || right_size == 0) {
        return LOCUM_OK;
    }
    out->left_size = left_size;
    out->size = left_size + right_size;
    *known = true;
    return LOCUM_OK;
}

typedef void (*pair_fn)(struct bpe *bpe, const struct pair *pair, uint32_t rank, void *user);

static locum_status each_pair(struct bpe *bpe, struct token_texts merges, pair_fn function,
                              void *user, locum_error *error) {
    struct pair pair;
    struct slice text;
    for (uint32_t rank = 0; rank < merges.count; rank++) {
        if (!merges.next(&merges, &text)) {
            return status_fail(error, LOCUM_E_FORMAT, "the list of merges ends at %u", rank);
        }
        bool known = false;
        STATUS_TRY(read_pair(bpe->vocabulary->spelling, text, rank, &pair, &known, error));
        if (known) {
            function(bpe, &pair, rank, user);
        }
    }
    return LOCUM_OK;
}

// Left, right, and both: the symbols that a merge mentions.
static void symbols_of(const struct pair *pair, struct slice out[3]) {
    out[0] = slice_make(pair->bytes, pair->left_size);
    out[1] = slice_make(pair->bytes + pair->left_size, pair->size - pair->left_size);
    out[2] = slice_make(pair->bytes, pair->size);
}

// What the first walk over the merges learns.
struct survey {
    uint32_t others; // symbols that are no tokens, at most, and their bytes
    size_t other_bytes;
    locum_token last; // what the merge before makes
};

// A merge mostly makes the token behind the one that the merge before made, so that one is looked
// at first: it is near, an index is far.
static locum_token find_made(const struct vocabulary *vocabulary, struct slice both, locum_token last) {
    uint32_t next = (uint32_t)(last + 1);
    if (next < vocabulary_size(vocabulary) && (vocabulary->kinds[next] & VOCABULARY_PLAIN) &&
        slice_equal(vocabulary_bytes(vocabulary, (locum_token)next), both)) {
        return (locum_token)next;
    }
    return vocabulary_find(vocabulary, both);
}

static void survey_pair(struct bpe *bpe, const struct pair *pair, uint32_t rank, void *user) {
    struct survey *survey = user;
    struct slice symbols[3];
    symbols_of(pair, symbols);
    locum_token ids[3] = {vocabulary_find(bpe->vocabulary, symbols[0]),
                          vocabulary_find(bpe->vocabulary, symbols[1]),
                          find_made(bpe->vocabulary, symbols[2], survey->last)};
    for (int i = 0; i < 3; i++) {
        if (ids[i] == TOKEN_NONE) {
            survey->others++;
            survey->other_bytes += symbols[i].size;
        }
    }
    bpe->left[rank] = ids[0];
    bpe->right[rank] = ids[1];
    survey->last = ids[2];
}

static int32_t add_other(struct bpe *bpe, struct slice bytes) {
    int32_t symbol = symbol_of(bpe, bytes);
    if (symbol == MERGE_NONE) {
        uint32_t number = token_table_append(&bpe->others, bytes);
        token_table_index(&bpe->others, number);
        symbol = (int32_t)(vocabulary_size(bpe->vocabulary) + number);
    }
    return symbol;
}

static void add_others(struct bpe *bpe, const struct pair *pair, uint32_t rank, void *user) {
    (void)user;
    struct slice symbols[3];
    symbols_of(pair, symbols);
    bpe->left[rank] = add_other(bpe, symbols[0]);
    bpe->right[rank] = add_other(bpe, symbols[1]);
    add_other(bpe, symbols[2]);
}

static uint64_t hash_of(int32_t left, int32_t right) {
    return token_hash_number((uint64_t)(uint32_t)left << 32 | (uint32_t)right);
}

static uint32_t *find_cell(const struct bpe *bpe, int32_t left, int32_t right, uint64_t hash) {
    uint32_t cell = token_hash_cell(hash, bpe->cells);
    for (; bpe->index[cell] != 0; cell = cell + 1 == bpe->cells ? 0 : cell + 1) {
        int32_t rank = token_hash_number_of(bpe->index[cell]);
        if (token_hash_may_be(hash, bpe->index[cell]) && bpe->left[rank] == left &&
            bpe->right[rank] == right) {
            break;
        }
    }
    return &bpe->index[cell];
}

static void index_merges(struct bpe *bpe) {
    for (uint32_t rank = 0; rank < bpe->merges; rank++) {
        int32_t left = bpe->left[rank], right = bpe->right[rank];
        if (left == MERGE_NONE || right == MERGE_NONE) {
            continue;
        }
        uint64_t hash = hash_of(left, right);
        uint32_t *cell = find_cell(bpe, left, right, hash);
        if (*cell == 0) { // of equal merges the first counts
            *cell = token_hash_pack(hash, rank);
        }
    }
}

static locum_status make_tables(struct bpe *bpe, struct arena *arena, locum_error *error) {
    bpe->cells = token_hash_cells(bpe->merges);
    bpe->left = arena_array(arena, bpe->merges, sizeof *bpe->left);
    bpe->right = arena_array(arena, bpe->merges, sizeof *bpe->right);
    bpe->index = arena_array(arena, bpe->cells, sizeof *bpe->index);
    if (!bpe->left || !bpe->right || !bpe->index) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for %u merges", bpe->merges);
    }
    for (uint32_t rank = 0; rank < bpe->merges; rank++) {
        bpe->left[rank] = bpe->right[rank] = MERGE_NONE;
    }
    return LOCUM_OK;
}

static locum_status read_merges(struct bpe *bpe, struct token_texts merges, struct arena *arena,
                                locum_error *error) {
    if (merges.count > LIMIT_MERGES) {
        return status_fail(error, LOCUM_E_FORMAT, "%llu merges, more than %d",
                           (unsigned long long)merges.count, LIMIT_MERGES);
    }
    bpe->merges = (uint32_t)merges.count;
    STATUS_TRY(make_tables(bpe, arena, error));
    // Every byte gets a first symbol, with or without a token.
    struct survey survey = {.others = 256, .other_bytes = 256, .last = TOKEN_NONE};
    STATUS_TRY(each_pair(bpe, merges, survey_pair, &survey, error));
    if (survey.others > LIMIT_VOCABULARY || survey.other_bytes > UINT32_MAX) {
        return status_fail(error, LOCUM_E_FORMAT, "the merges name %u texts that are no tokens",
                           survey.others);
    }
    STATUS_TRY(token_table_make(&bpe->others, arena, survey.others, survey.other_bytes, error));
    for (int byte = 0; byte < 256; byte++) {
        char text = (char)byte;
        bpe->byte_symbols[byte] = add_other(bpe, slice_make(&text, 1));
    }
    if (survey.others > 256) {
        STATUS_TRY(each_pair(bpe, merges, add_others, NULL, error));
    }
    index_merges(bpe);
    return LOCUM_OK;
}

locum_status bpe_build(const struct vocabulary *vocabulary, struct token_texts merges, bool by_id,
                       struct arena *arena, struct bpe *out, locum_error *error) {
    *out = (struct bpe){.vocabulary = vocabulary, .by_id = by_id};
    STATUS_TRY(read_merges(out, merges, arena, error));
    out->inner_blanks = vocabulary->inner_blanks;
    for (uint32_t i = 0; i < out->others.count; i++) {
        out->inner_blanks |= vocabulary_has_inner_blank(token_table_get(&out->others, i));
    }
    return LOCUM_OK;
}

// ---------------------------------------------------------------------------------------------
// Encoding
// ---------------------------------------------------------------------------------------------
static bool rank_of_pair(const void *model, int32_t left, int32_t right, struct slice both,
                         uint32_t *rank) {
    const struct bpe *bpe = model;
    (void)both;
    if (left == MERGE_NONE || right == MERGE_NONE) {
        return false;
    }
    int32_t found = token_hash_number_of(*find_cell(bpe, left, right, hash_of(left, right)));
    *rank = (uint32_t)found;
    return found >= 0;
}

static bool rank_of_id(const void *model, int32_t left, int32_t right, struct slice both,
                       uint32_t *rank) {
    const struct bpe *bpe = model;
    (void)left;
    (void)right;
    if (both.size > bpe->vocabulary->longest_plain) {
        return false;
    }
    locum_token id = vocabulary_find(bpe->vocabulary, both);
    *rank = (uint32_t)id;
    return id != TOKEN_NONE;
}

static int32_t result_of(const void *model, struct slice both) {
    return symbol_of(model, both);
}

static void first_symbols(const struct bpe *bpe, struct slice piece, struct merge *merge) {
    merge_begin(merge, piece);
    if (bpe->vocabulary->spelling == TOKEN_SPELLING_BYTES) {
        for (size_t i = 0; i < piece.size; i++) {
            merge_append(merge, (uint32_t)i, bpe->byte_symbols[(uint8_t)piece.data[i]]);
        }
        return;
    }
    for (size_t i = 0; i < piece.size;) {
        struct utf8_step step = utf8_next(slice_from(piece, i));
        size_t size = step.kind == UTF8_CHARACTER ? step.size : 1;
        merge_append(merge, (uint32_t)i, symbol_of(bpe, slice_make(piece.data + i, size)));
        i += size;
    }
}

void bpe_encode(const struct bpe *bpe, struct slice piece, bool whole, struct merge *merge,
                struct token_output *out) {
    merge_poll(merge);
    if (whole && piece.size <= bpe->vocabulary->longest_plain) {
        locum_token id = vocabulary_find(bpe->vocabulary, piece);
        if (id != TOKEN_NONE) {
            token_list_push(out->ids, id);
            return;
        }
    }
    struct merge_rules rules = {bpe, bpe->by_id ? rank_of_id : rank_of_pair, result_of};
    first_symbols(bpe, piece, merge);
    merge_run(merge, &rules);
    int32_t tokens = (int32_t)vocabulary_size(bpe->vocabulary);
    for (int32_t i = merge_first(merge); i != MERGE_NONE; i = merge->symbols[i].next) {
        int32_t id = merge->symbols[i].id;
        if (id != MERGE_NONE && id < tokens) {
            token_list_push(out->ids, id);
        } else {
            token_output_bytes(out, merge_text(merge, i));
        }
    }
}

size_t bpe_memory(const struct bpe *bpe) {
    return token_table_memory(&bpe->others) +
           (2 * (size_t)bpe->merges + bpe->cells) * sizeof *bpe->index;
}
