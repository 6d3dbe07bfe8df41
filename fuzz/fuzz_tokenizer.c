// SPDX-License-Identifier: Apache-2.0
//
// A vocabulary and a text, both out of the input. Whatever the vocabulary is, opening it ends with
// a tokenizer or an error; then every text has ids that exist, comes back from them byte for byte
// unless something had to stand in, and streams to the same characters however it is cut.
//
// Input: model, row of pre-tokenizers, switches (three bytes); tokens: count (2), each kind, score,
// size and bytes; merges: count (1), each size and bytes; the text is the rest.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/check.h"
#include "token/detokenizer.h"
#include "token/pretokenize.h"

enum {
    SWITCH_BYTES = 1,  // begin with a token for each byte, in the byte alphabet
    SWITCH_KINDS = 2,  // the file has types of tokens
    SWITCH_SCORES = 4, // and scores
    SWITCH_PREFIX = 8, // add_space_prefix
    SWITCH_BOS = 16,
    SWITCH_STRIP = 32,
};

enum { TOKENS_MAX = 2048, MERGES_MAX = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    struct slice rest;
    struct slice texts[TOKENS_MAX], merges[MERGES_MAX];
    double kinds[TOKENS_MAX], scores[TOKENS_MAX];
    size_t count, merge_count;
    char alphabet[256][4];
};

static uint8_t take_byte(struct input *in) {
    uint8_t byte = in->rest.size > 0 ? (uint8_t)in->rest.data[0] : 0;
    in->rest = in->rest.size > 0 ? slice_from(in->rest, 1) : in->rest;
    return byte;
}

static struct slice take_text(struct input *in) {
    size_t size = take_byte(in);
    size = size < in->rest.size ? size : in->rest.size;
    struct slice text = slice_make(in->rest.data, size);
    in->rest = slice_from(in->rest, size);
    return text;
}

static void add_alphabet(struct input *in) {
    unsigned others = 0;
    for (unsigned byte = 0; byte < 256; byte++) {
        bool prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
        unsigned code = prints ? byte : 256 + others++;
        char *text = in->alphabet[byte];
        size_t size = code < 0x80 ? 1 : 2;
        text[0] = (char)(size == 1 ? code : 0xC0 | code >> 6);
        text[1] = (char)(0x80 | (code & 63));
        in->texts[in->count] = slice_make(text, size);
        in->kinds[in->count++] = TOKEN_KIND_NORMAL;
    }
}

static bool next_text(struct token_texts *texts, struct slice *text) {
    if (texts->rest.size == 0) {
        return false;
    }
    memcpy(text, texts->rest.data, sizeof *text);
    texts->rest = slice_from(texts->rest, sizeof *text);
    return true;
}

static bool get_number(const void *values, uint64_t index, double *number) {
    *number = ((const double *)values)[index];
    return true;
}

static struct token_texts walk_over(const struct slice *texts, size_t count) {
    return (struct token_texts){count, {(const char *)texts, count * sizeof *texts}, next_text};
}

static struct tokenizer_source read_source(struct input *in) {
    static const char *const models[] = {"gpt2", "llama", "gemma4", "other"};
    struct tokenizer_source source = {.name = "fuzz"};
    source.model = slice_text(models[take_byte(in) % 4]);
    const struct pretokenizer *row = pretokenize_at(take_byte(in));
    source.pre = row ? slice_text(row->name) : slice_make(NULL, 0);
    uint8_t switches = take_byte(in);
    if (switches & SWITCH_BYTES) {
        add_alphabet(in);
    }
    size_t tokens = take_byte(in) % 8 * 256u;
    tokens += take_byte(in);
    for (; tokens > 0 && in->count < TOKENS_MAX && in->rest.size > 0; tokens--) {
        in->kinds[in->count] = take_byte(in);
        in->scores[in->count] = (int8_t)take_byte(in);
        in->texts[in->count++] = take_text(in);
    }
    for (size_t merges = take_byte(in); merges > 0 && in->rest.size > 0; merges--) {
        in->merges[in->merge_count++] = take_text(in);
    }
    source.tokens = walk_over(in->texts, in->count);
    source.merges = walk_over(in->merges, in->merge_count);
    source.kinds =
        (struct token_numbers){switches & SWITCH_KINDS ? in->count : 0, in->kinds, get_number};
    source.scores =
        (struct token_numbers){switches & SWITCH_SCORES ? in->count : 0, in->scores, get_number};
    source.add_space_prefix = switches & SWITCH_PREFIX ? TOKENIZER_YES : TOKENIZER_NO;
    source.add_bos = switches & SWITCH_BOS ? TOKENIZER_YES : TOKENIZER_UNSAID;
    source.strip_after_special = switches & SWITCH_STRIP;
    for (int i = 0; i < TOKENIZER_ID_COUNT; i++) {
        source.ids[i] = (int64_t)in->count - 1 - i;
    }
    return source;
}

// The text as characters, by the rule of the detokenizer, from the whole at once.
static void append_characters(struct buffer *out, struct slice bytes) {
    while (bytes.size > 0) {
        struct utf8_step step = utf8_next(bytes);
        if (step.kind == UTF8_CHARACTER) {
            buffer_append(out, bytes.data, step.size);
        } else {
            buffer_append_text(out, "\xEF\xBF\xBD");
        }
        bytes = slice_from(bytes, step.size);
    }
}

static void check_stream(const struct tokenizer *tokenizer, const struct token_list *ids,
                         struct slice text) {
    struct buffer streamed = {0}, wanted = {0};
    struct detokenizer detokenizer;
    char *out = malloc(detokenizer_push_max(tokenizer));
    LOCUM_ASSERT(out);
    // Special tokens are shown here: blank ones are text.
    detokenizer_init(&detokenizer, tokenizer, DETOKENIZER_START | DETOKENIZER_SPECIAL);
    for (size_t i = 0; i < ids->count; i++) {
        LOCUM_ASSERT(tokenizer_is_valid(tokenizer, ids->ids[i]));
        buffer_append(&streamed, out, detokenizer_push(&detokenizer, ids->ids[i], out));
    }
    buffer_append(&streamed, out, detokenizer_flush(&detokenizer, out));
    append_characters(&wanted, text);
    LOCUM_ASSERT(slice_equal(buffer_slice(&streamed), buffer_slice(&wanted)));
    buffer_release(&streamed);
    buffer_release(&wanted);
    free(out);
}

static void check_text(const struct tokenizer *tokenizer, struct slice text) {
    struct token_list ids = {0};
    locum_error error;
    if (tokenizer_encode(tokenizer, text, 0, &ids, &error) == LOCUM_OK && ids.replaced == 0) {
        check_stream(tokenizer, &ids, text);
    }
    ids.count = 0;
    if (tokenizer_encode(tokenizer, text, TOKENIZER_SPECIAL | TOKENIZER_BOS, &ids, &error) ==
        LOCUM_OK) {
        for (size_t i = 0; i < ids.count; i++) {
            LOCUM_ASSERT(tokenizer_is_valid(tokenizer, ids.ids[i]));
        }
    }
    token_list_release(&ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input *in = calloc(1, sizeof *in);
    struct arena arena;
    const struct tokenizer *tokenizer;
    locum_error error;
    LOCUM_ASSERT(in);
    in->rest = slice_make((const char *)data, size);
    struct tokenizer_source source = read_source(in);
    arena_init(&arena, 0);
    if (tokenizer_open(&source, &arena, &tokenizer, &error) == LOCUM_OK) {
        LOCUM_ASSERT(tokenizer_bytes(tokenizer) <= arena.bytes);
        check_text(tokenizer, in->rest);
    }
    arena_release(&arena);
    free(in);
    return 0;
}
