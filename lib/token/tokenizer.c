// SPDX-License-Identifier: Apache-2.0
//
// How a text becomes ids:
//
//     text          special tokens that it may hold are cut out            special.c
//     fragment      byte-pair models: cut into pieces by the model's rules pretokenize.c
//     piece         cut before blanks where no merge can span them         here
//     symbols       merged, lowest rank or highest score first             bpe.c, spm.c, merge.c
//     ids           what is no token becomes byte tokens                   token_output.c
#include "token/tokenizer.h"

#include <stdio.h>

#include "base/buffer.h"
#include "base/check.h"
#include "token/bpe.h"
#include "token/pretokenize.h"
#include "token/special.h"
#include "token/spm.h"
#include "token/token_roles.h"

struct tokenizer {
    const struct pretokenizer *pretokenizer; // NULL: scores decide (SPM)
    struct vocabulary vocabulary;
    struct bpe bpe;
    struct special special; // what a text that may hold special tokens is cut at
    struct special blank;   // what every text is cut at
    struct token_roles roles;
    locum_token ids[TOKENIZER_ID_COUNT];
    locum_token replacement[TOKEN_OUTPUT_REPLACEMENT_MAX]; // the ids of U+FFFD
    uint32_t replacement_count;
    bool adds_bos, adds_space, strips;
    const char *name, *notice;
};

// ---------------------------------------------------------------------------------------------
// Encoding
// ---------------------------------------------------------------------------------------------
static bool is_special(const struct vocabulary *vocabulary, locum_token id) {
    enum token_kind kind = vocabulary_kind(vocabulary, id);
    return kind == TOKEN_KIND_CONTROL || kind == TOKEN_KIND_UNKNOWN || kind == TOKEN_KIND_USER;
}

struct encoder {
    const struct tokenizer *tokenizer;
    struct token_output output;
    struct merge merge;
    struct buffer prefixed; // a fragment with its blank in front
    bool after_special;     // at the start, or behind a special token
    const struct tokenizer_watch *watch;
    size_t done, total; // bytes; the blank in front counts as one more
};

static bool encoder_watch(void *user) {
    const struct encoder *encoder = user;
    const struct tokenizer_watch *watch = encoder->watch;
    size_t done = encoder->done < encoder->total ? encoder->done : encoder->total;
    return watch->progress && watch->progress(watch->user, done, encoder->total);
}

// Size of the part of `text` that merges by itself.
static size_t part_size(struct slice text, bool inner_blanks) {
    for (size_t i = 1; !inner_blanks && i < text.size; i++) {
        if (text.data[i] == ' ' && text.data[i - 1] != ' ') {
            return i;
        }
    }
    return text.size;
}

static void encode_scored(struct encoder *encoder, struct slice text) {
    const struct vocabulary *vocabulary = &encoder->tokenizer->vocabulary;
    while (text.size > 0 && !encoder->merge.failed) {
        size_t size = part_size(text, vocabulary->inner_blanks);
        spm_encode(vocabulary, slice_make(text.data, size), &encoder->merge, &encoder->output);
        text = slice_from(text, size);
        encoder->done += size;
    }
}

static void encode_pieces(struct encoder *encoder, struct slice text) {
    const struct tokenizer *tokenizer = encoder->tokenizer;
    uint32_t flags = tokenizer->pretokenizer->flags;
    struct pretokenize_cursor cursor;
    pretokenize_begin(&cursor, tokenizer->pretokenizer, text);
    for (struct slice piece; !encoder->merge.failed && pretokenize_next(&cursor, &piece);) {
        bool whole = (flags & PRETOKENIZE_WHOLE) ||
                     ((flags & PRETOKENIZE_WHOLE_LINES) && piece.data[0] == '\n');
        // Only spelled spaces leave pieces of many words; the others are cut already.
        bool in_parts = (flags & PRETOKENIZE_SPACES) && !whole && !tokenizer->bpe.inner_blanks;
        while (piece.size > 0) {
            size_t size = part_size(piece, !in_parts);
            bpe_encode(&tokenizer->bpe, slice_make(piece.data, size), whole, &encoder->merge,
                       &encoder->output);
            piece = slice_from(piece, size);
            encoder->done += size;
        }
    }
}

// Text without special tokens.
static void encode_fragment(struct encoder *encoder, struct slice text) {
    if (text.size == 0) {
        return;
    }
    if (encoder->tokenizer->adds_space && encoder->after_special) {
        encoder->prefixed.size = 0;
        buffer_append_byte(&encoder->prefixed, ' ');
        buffer_append(&encoder->prefixed, text.data, text.size);
        text = encoder->prefixed.failed ? slice_make(NULL, 0) : buffer_slice(&encoder->prefixed);
    }
    if (encoder->tokenizer->pretokenizer) {
        encode_pieces(encoder, text);
    } else {
        encode_scored(encoder, text);
    }
    encoder->after_special = false;
}

// The special tokens of Phi-3 behind which white space counts.
static bool keeps_blanks(struct slice name) {
    return slice_is(name, "<unk>") || slice_is(name, "<s>") || slice_is(name, "<|endoftext|>");
}

static struct slice strip_blanks(struct slice text) {
    while (text.size > 0 && text.data[0] != '\0' && strchr(" \t\n\r\v\f", text.data[0])) {
        text = slice_from(text, 1);
    }
    return text;
}

// Cuts at special tokens where a stretch allows them. What lies between two of them is one fragment, also
// across the borders of stretches.
static void encode_text(struct encoder *encoder, struct slice text,
                        const struct tokenizer_stretch *stretches, size_t count) {
    const struct tokenizer *tokenizer = encoder->tokenizer;
    size_t from = 0, at = 0, end = 0;
    for (size_t i = 0; i < count; i++) {
        bool special = stretches[i].special;
        end += stretches[i].size;
        while (at < end && !encoder->merge.failed) {
            size_t begin;
            locum_token id = special_next(special ? &tokenizer->special : &tokenizer->blank,
                                          slice_make(text.data + at, end - at), &begin);
            at += begin;
            if (id == TOKEN_NONE) {
                break;
            }
            struct slice name = vocabulary_bytes(&tokenizer->vocabulary, id);
            encode_fragment(encoder, slice_make(text.data + from, at - from));
            token_list_push(encoder->output.ids, id);
            encoder->after_special = true;
            encoder->done += name.size;
            merge_poll(&encoder->merge);
            at += name.size;
            if (special && tokenizer->strips && !keeps_blanks(name)) {
                at = text.size - strip_blanks(slice_from(text, at)).size;
            }
            from = at;
        }
    }
    if (from < text.size) {
        encode_fragment(encoder, slice_from(text, from));
    }
}

static void add_bos(const struct tokenizer *tokenizer, struct token_list *ids) {
    locum_token bos = tokenizer->ids[TOKENIZER_ID_BOS];
    if (!tokenizer->adds_bos || (ids->count > 0 && ids->ids[0] == bos)) {
        return;
    }
    token_list_push(ids, bos);
    if (!ids->failed) {
        memmove(ids->ids + 1, ids->ids, (ids->count - 1) * sizeof *ids->ids);
        ids->ids[0] = bos;
    }
}

static struct encoder encoder_begin(const struct tokenizer *tokenizer, struct token_list *ids) {
    return (struct encoder){
        .tokenizer = tokenizer,
        .output = {.vocabulary = &tokenizer->vocabulary,
                   .unknown = tokenizer->ids[TOKENIZER_ID_UNKNOWN],
                   .replacement = tokenizer->replacement,
                   .replacement_count = tokenizer->replacement_count,
                   .ids = ids,
                   .lost = -1},
        .after_special =
            ids->count == 0 || is_special(&tokenizer->vocabulary, ids->ids[ids->count - 1]),
    };
}

// Releases what the encoder holds; false when it ran out of memory.
static bool encoder_end(struct encoder *encoder) {
    bool ok = !encoder->output.ids->failed && !encoder->merge.failed && !encoder->prefixed.failed;
    merge_release(&encoder->merge);
    buffer_release(&encoder->prefixed);
    return ok;
}

locum_status tokenizer_encode(const struct tokenizer *tokenizer, struct slice text, uint32_t flags,
                              struct token_list *ids, locum_error *error) {
    return tokenizer_encode_watched(tokenizer, text, flags, &(struct tokenizer_watch){NULL, NULL},
                                    ids, error);
}

locum_status tokenizer_encode_watched(const struct tokenizer *tokenizer, struct slice text,
                                      uint32_t flags, const struct tokenizer_watch *watch,
                                      struct token_list *ids, locum_error *error) {
    struct tokenizer_stretch whole = {text.size, flags & TOKENIZER_SPECIAL};
    return tokenizer_encode_stretches(tokenizer, text, &whole, 1, flags, watch, ids, error);
}

locum_status tokenizer_encode_stretches(const struct tokenizer *tokenizer, struct slice text,
                                        const struct tokenizer_stretch *stretches, size_t count,
                                        uint32_t flags, const struct tokenizer_watch *watch,
                                        struct token_list *ids, locum_error *error) {
    if (text.size >= INT32_MAX) {
        return status_fail(error, LOCUM_E_ARGUMENT, "a text of %zu bytes is too long", text.size);
    }
    size_t before = ids->count;
    uint64_t replaced_before = ids->replaced;
    struct encoder encoder = encoder_begin(tokenizer, ids);
    encoder.watch = watch;
    encoder.total = text.size;
    encoder.merge.watch = encoder_watch;
    encoder.merge.user = &encoder;
    encode_text(&encoder, text, stretches, count);
    if ((flags & TOKENIZER_BOS) && before == 0) {
        add_bos(tokenizer, ids);
    }
    bool stopped = encoder.merge.stopped, has_memory = encoder_end(&encoder);
    int lost = encoder.output.lost;
    if (has_memory && lost < 0) {
        return LOCUM_OK;
    }
    ids->count = before;
    ids->replaced = replaced_before;
    if (stopped) {
        return status_fail(error, LOCUM_E_CANCELLED, "cutting the text into tokens was cancelled");
    }
    if (!has_memory) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory to encode %zu bytes",
                           text.size);
    }
    return status_fail(error, LOCUM_E_UNSUPPORTED,
                       "the text has the byte 0x%02X, for which the vocabulary has no token", lost);
}

// ---------------------------------------------------------------------------------------------
// Opening
// ---------------------------------------------------------------------------------------------
static const struct tokenizer_model {
    const char *name;
    const char *pre; // the only pre-tokenizer of this model; NULL: the file says
    bool scores;     // merges by score, not by a list
    bool bos;        // begins with BOS unless the file says otherwise
    bool forces_bos; // whatever the file says: its converters had it wrong
    locum_token bos_id, eos_id, unknown_id; // unless the file says otherwise
} models[] = {
    {"gpt2", NULL, false, false, false, TOKEN_NONE, TOKEN_NONE, TOKEN_NONE},
    {"llama", NULL, true, true, false, 1, 2, 0},
    {"gemma4", "gemma4", false, true, true, TOKEN_NONE, TOKEN_NONE, TOKEN_NONE},
};

static locum_status find_model(const struct tokenizer_source *source,
                               const struct tokenizer_model **out, locum_error *error) {
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        if (slice_is(source->model, models[i].name)) {
            *out = &models[i];
            return LOCUM_OK;
        }
    }
    return status_fail(
        error, LOCUM_E_UNSUPPORTED,
        "%s: the tokenizer model '%.*s' is not supported; known are gpt2, llama, gemma4",
        source->name, (int)source->model.size, source->model.data);
}

static locum_status find_pretokenizer(const struct tokenizer_source *source,
                                      const struct tokenizer_model *model, struct tokenizer *out,
                                      locum_error *error) {
    struct slice pre = model->pre ? slice_text(model->pre) : source->pre;
    out->pretokenizer = pretokenize_find(pre);
    if (!out->pretokenizer) {
        char names[PRETOKENIZE_NAMES_BYTES];
        pretokenize_names(names);
        return status_fail(
            error, LOCUM_E_UNSUPPORTED,
            "%s: the pre-tokenizer '%.*s' (tokenizer.ggml.pre) is not known; known are %s",
            source->name, (int)pre.size, pre.data, names);
    }
    return LOCUM_OK;
}

// An id of the file that no token has: -1: none.
static int64_t stray_id(const struct tokenizer_source *source, uint32_t tokens) {
    for (int i = 0; i < TOKENIZER_ID_COUNT; i++) {
        if (source->ids[i] != TOKEN_NONE && (source->ids[i] < 0 || source->ids[i] >= tokens)) {
            return source->ids[i];
        }
    }
    return TOKEN_NONE;
}

static locum_status make_texts(const struct tokenizer_source *source,
                               const struct tokenizer_model *model, struct arena *arena,
                               struct tokenizer *out, locum_error *error) {
    bool names_pre = out->pretokenizer && !model->pre;
    out->name = arena_format(arena, "%s%s%s", model->name, names_pre ? " / " : "",
                             names_pre ? out->pretokenizer->name : "");
    bool guesses = names_pre && source->pre.size == 0;
    int64_t stray = stray_id(source, vocabulary_size(&out->vocabulary));
    char guess[256] = "", lack[128] = "";
    if (guesses) {
        snprintf(guess, sizeof guess,
                 "; the file names no pre-tokenizer (tokenizer.ggml.pre), so text is cut by the "
                 "rules of "
                 "'%s', which need not be those of the model",
                 out->pretokenizer->name);
    }
    if (stray != TOKEN_NONE) {
        snprintf(lack, sizeof lack, "; the file names a special token %lld, which it does not have",
                 (long long)stray);
    }
    if (guesses || stray != TOKEN_NONE) {
        out->notice = arena_format(arena, "%s: tokenizer%s%s", source->name, guess, lack);
    }
    if (!out->name || ((guesses || stray != TOKEN_NONE) && !out->notice)) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the tokenizer");
    }
    return LOCUM_OK;
}

static void read_ids(const struct tokenizer_source *source, const struct tokenizer_model *model,
                     struct tokenizer *out) {
    for (int i = 0; i < TOKENIZER_ID_COUNT; i++) {
        out->ids[i] = TOKEN_NONE;
    }
    uint32_t count = vocabulary_size(&out->vocabulary);
    const struct {
        enum tokenizer_id which;
        locum_token id;
    } defaults[] = {{TOKENIZER_ID_BOS, model->bos_id},
                    {TOKENIZER_ID_EOS, model->eos_id},
                    {TOKENIZER_ID_UNKNOWN, model->unknown_id}};
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        if (defaults[i].id != TOKEN_NONE && (uint32_t)defaults[i].id < count) {
            out->ids[defaults[i].which] = defaults[i].id;
        }
    }
    for (int i = 0; i < TOKENIZER_ID_COUNT; i++) {
        if (source->ids[i] >= 0 && source->ids[i] < (int64_t)count) {
            out->ids[i] = (locum_token)source->ids[i];
        }
    }
}

static void assign_roles(const struct tokenizer_source *source, struct tokenizer *out) {
    static const enum tokenizer_id ends[] = {TOKENIZER_ID_EOS,
                                             TOKENIZER_ID_EOT,
                                             TOKENIZER_ID_EOM,
                                             TOKENIZER_ID_FIM_PAD,
                                             TOKENIZER_ID_FIM_REPOSITORY,
                                             TOKENIZER_ID_FIM_SEPARATOR};
    token_roles_find(&out->vocabulary, &out->roles);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        token_roles_add_end(&out->roles, out->ids[ends[i]]);
    }
    // A file without types of tokens still tells which ids are no text.
    for (int i = 0; source->kinds.count == 0 && i < TOKENIZER_ID_COUNT; i++) {
        if (out->ids[i] != TOKEN_NONE) {
            vocabulary_set_kind(&out->vocabulary, out->ids[i], TOKEN_KIND_CONTROL);
        }
    }
}

static bool chosen(enum tokenizer_choice choice, bool unsaid) {
    return choice == TOKENIZER_UNSAID ? unsaid : choice == TOKENIZER_YES;
}

// How the vocabulary says U+FFFD, for bytes that it can't say.
static locum_status find_replacement(struct tokenizer *tokenizer, locum_error *error) {
    struct token_list ids = {0};
    struct encoder encoder = encoder_begin(tokenizer, &ids);
    struct slice text = slice_text("\xEF\xBF\xBD");
    if (tokenizer->pretokenizer) {
        encode_pieces(&encoder, text);
    } else {
        encode_scored(&encoder, text);
    }
    bool ok = encoder_end(&encoder);
    if (ok && ids.replaced == 0 && ids.count <= TOKEN_OUTPUT_REPLACEMENT_MAX) {
        memcpy(tokenizer->replacement, ids.ids, ids.count * sizeof *ids.ids);
        tokenizer->replacement_count = (uint32_t)ids.count;
    }
    token_list_release(&ids);
    return ok ? LOCUM_OK : status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the tokenizer");
}

static locum_status build(const struct tokenizer_source *source,
                          const struct tokenizer_model *model, struct arena *arena,
                          struct tokenizer *out, locum_error *error) {
    uint32_t flags = out->pretokenizer ? out->pretokenizer->flags : PRETOKENIZE_SPACES;
    enum token_spelling spelling =
        flags & PRETOKENIZE_SPACES ? TOKEN_SPELLING_SPACES : TOKEN_SPELLING_BYTES;
    if (model->scores && source->scores.count == 0) {
        return status_fail(error, LOCUM_E_FORMAT, "tokenizer.ggml.scores is missing");
    }
    if (!model->scores && source->merges.count == 0 && !(flags & PRETOKENIZE_BY_ID)) {
        return status_fail(error, LOCUM_E_FORMAT, "tokenizer.ggml.merges is missing");
    }
    // Byte-pair models have no use for scores.
    STATUS_TRY(vocabulary_build(spelling, source->tokens,
                                model->scores ? source->scores : (struct token_numbers){0},
                                source->kinds, arena, &out->vocabulary, error));
    read_ids(source, model, out);
    assign_roles(source, out);
    vocabulary_index(&out->vocabulary);
    if (!model->scores) {
        STATUS_TRY(bpe_build(&out->vocabulary, source->merges, source->merges.count == 0, arena,
                             &out->bpe, error));
    }
    STATUS_TRY(special_build(&out->vocabulary, is_special, arena, &out->special, error));
    STATUS_TRY(special_build(&out->vocabulary, vocabulary_is_blank, arena, &out->blank, error));
    STATUS_TRY(find_replacement(out, error));
    bool bos = model->bos || (flags & PRETOKENIZE_BOS);
    out->adds_bos = (model->forces_bos || chosen(source->add_bos, bos)) &&
                    out->ids[TOKENIZER_ID_BOS] != TOKEN_NONE;
    out->adds_space = model->scores && chosen(source->add_space_prefix, true);
    out->strips = source->strip_after_special;
    return LOCUM_OK;
}

locum_status tokenizer_open(const struct tokenizer_source *source, struct arena *arena,
                            const struct tokenizer **out, locum_error *error) {
    const struct tokenizer_model *model = NULL;
    STATUS_TRY(find_model(source, &model, error));
    struct tokenizer *tokenizer = arena_array(arena, 1, sizeof *tokenizer);
    if (!tokenizer) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the tokenizer");
    }
    if (!model->scores) {
        STATUS_TRY(find_pretokenizer(source, model, tokenizer, error));
    }
    locum_status status = build(source, model, arena, tokenizer, error);
    if (status != LOCUM_OK) {
        return status_prefix(error, status, "%s: tokenizer", source->name);
    }
    STATUS_TRY(make_texts(source, model, arena, tokenizer, error));
    *out = tokenizer;
    return LOCUM_OK;
}

// ---------------------------------------------------------------------------------------------
// Tokens
// ---------------------------------------------------------------------------------------------
uint32_t tokenizer_size(const struct tokenizer *tokenizer) {
    return vocabulary_size(&tokenizer->vocabulary);
}

bool tokenizer_is_valid(const struct tokenizer *tokenizer, locum_token id) {
    return id >= 0 && (uint32_t)id < tokenizer_size(tokenizer);
}

struct slice tokenizer_token_bytes(const struct tokenizer *tokenizer, locum_token id,
                                   bool special) {
    LOCUM_ASSERT(tokenizer_is_valid(tokenizer, id));
    enum token_kind kind = tokenizer_token_kind(tokenizer, id);
    if (!special && (kind == TOKEN_KIND_CONTROL || kind == TOKEN_KIND_UNKNOWN)) {
        return slice_make(NULL, 0);
    }
    return vocabulary_bytes(&tokenizer->vocabulary, id);
}

enum token_kind tokenizer_token_kind(const struct tokenizer *tokenizer, locum_token id) {
    LOCUM_ASSERT(tokenizer_is_valid(tokenizer, id));
    return vocabulary_kind(&tokenizer->vocabulary, id);
}

size_t tokenizer_longest(const struct tokenizer *tokenizer) {
    return tokenizer->vocabulary.longest;
}

bool tokenizer_is_end(const struct tokenizer *tokenizer, locum_token id) {
    return token_roles_is_end(&tokenizer->roles, id);
}

locum_token tokenizer_id(const struct tokenizer *tokenizer, enum tokenizer_id which) {
    LOCUM_ASSERT(which < TOKENIZER_ID_COUNT);
    return tokenizer->ids[which];
}

locum_token tokenizer_search(const struct tokenizer *tokenizer, struct slice name) {
    return vocabulary_search(&tokenizer->vocabulary, name);
}

bool tokenizer_adds_bos(const struct tokenizer *tokenizer) {
    return tokenizer->adds_bos;
}

bool tokenizer_adds_space(const struct tokenizer *tokenizer) {
    return tokenizer->adds_space;
}

const char *tokenizer_name(const struct tokenizer *tokenizer) {
    return tokenizer->name;
}

const char *tokenizer_notice(const struct tokenizer *tokenizer) {
    return tokenizer->notice;
}

size_t tokenizer_bytes(const struct tokenizer *tokenizer) {
    return sizeof *tokenizer + vocabulary_memory(&tokenizer->vocabulary) +
           bpe_memory(&tokenizer->bpe) + special_memory(&tokenizer->special) +
           special_memory(&tokenizer->blank);
}
