// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the way from text to token ids, for one model.
// Called by: engine (locum_tokenize, sessions), chat.
// Threads:   read-only after open: any.
// Errors:    E_FORMAT, E_UNSUPPORTED (model or pre-tokenizer named, with the known ones),
//            E_OUT_OF_MEMORY, E_CANCELLED. Any bytes are a valid text.
// Not here:  where the vocabulary comes from (token_gguf.h), ids to text (detokenizer.h).
//
// Rules
//   Special tokens   With TOKENIZER_SPECIAL, control and user-defined tokens that stand in the text
//                    become their ids, the longest first, from left to right. Without it both are
//                    plain text: what a user types can't end a turn. One exception: user-defined
//                    tokens of white space only, which some vocabularies hold for runs of blanks
//                    (vocabulary_is_blank).
//   BOS              With TOKENIZER_BOS, if the model wants one and the text did not begin with it:
//                    exactly one. Never an EOS: a prompt that ended there could not be continued.
//   Bytes            Decoding the ids of a text gives its bytes, valid UTF-8 or not. Bytes that the
//                    vocabulary has no token for become the unknown token or U+FFFD, and are
//                    counted in the list of ids; an error only if it lacks those too.
//   Time             Linear in the text (a factor log n inside one piece), constant stack.
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include "base/arena.h"
#include "base/slice.h"
#include "base/status.h"
#include "token/token_list.h"
#include "token/vocabulary.h"

enum tokenizer_id {
    TOKENIZER_ID_BOS,
    TOKENIZER_ID_EOS,
    TOKENIZER_ID_EOT,
    TOKENIZER_ID_EOM,
    TOKENIZER_ID_UNKNOWN,
    TOKENIZER_ID_PADDING,
    TOKENIZER_ID_FIM_PAD, // the fill-in-the-middle tokens that end an answer
    TOKENIZER_ID_FIM_REPOSITORY,
    TOKENIZER_ID_FIM_SEPARATOR,
    TOKENIZER_ID_COUNT
};

enum tokenizer_choice { TOKENIZER_NO, TOKENIZER_YES, TOKENIZER_UNSAID }; // of an optional flag

// What a file says. Texts and numbers are read during tokenizer_open only.
struct tokenizer_source {
    const char *name;   // of the file, for messages
    struct slice model; // "gpt2", "llama", "gemma4"
    struct slice pre;   // size 0: absent
    struct token_texts tokens, merges;
    struct token_numbers scores, kinds;
    int64_t ids[TOKENIZER_ID_COUNT]; // TOKEN_NONE: absent
    enum tokenizer_choice add_bos, add_space_prefix;
    // White space after a special token belongs to it (Phi-3; its files don't say so, its makers'
    // do).
    bool strip_after_special;
};

struct tokenizer;

// Everything is kept in `arena`.
locum_status tokenizer_open(const struct tokenizer_source *source, struct arena *arena,
                            const struct tokenizer **out, locum_error *error);

enum {
    TOKENIZER_SPECIAL = LOCUM_TOKENIZE_SPECIAL, // the text may hold special tokens
    TOKENIZER_BOS = LOCUM_TOKENIZE_BOS          // begin with BOS if the model wants it
};

// Asked now and then, on the calling thread: `done` of the text's `total` bytes, whole pieces only.
// true: stop.
struct tokenizer_watch {
    bool (*progress)(void *user, size_t done, size_t total); // NULL: nobody watches
    void *user;
};

// Appends to *ids. With ids already there the text continues them: no BOS and no space prefix,
// unless the last one is a special token. On an error *ids is as before.
locum_status tokenizer_encode(const struct tokenizer *tokenizer, struct slice text, uint32_t flags,
                              struct token_list *ids, locum_error *error);
// The same, watched: E_CANCELLED when that says stop.
locum_status tokenizer_encode_watched(const struct tokenizer *tokenizer, struct slice text,
                                      uint32_t flags, const struct tokenizer_watch *watch,
                                      struct token_list *ids, locum_error *error);

// A part of a text and whether it may hold special tokens.
struct tokenizer_stretch {
    size_t size; // bytes
    bool special;
};
// A text of several origins, whose stretches add up to its size: special tokens are looked for inside
// single stretches that allow them, ordinary text is cut as one whatever its stretches. Of the flags
// TOKENIZER_BOS counts.
locum_status tokenizer_encode_stretches(const struct tokenizer *tokenizer, struct slice text,
                                        const struct tokenizer_stretch *stretches, size_t count,
                                        uint32_t flags, const struct tokenizer_watch *watch,
                                        struct token_list *ids, locum_error *error);

uint32_t tokenizer_size(const struct tokenizer *tokenizer); // tokens
bool tokenizer_is_valid(const struct tokenizer *tokenizer, locum_token id);
// What the token stands for; control and unknown tokens: empty, or their name with `special`.
struct slice tokenizer_token_bytes(const struct tokenizer *tokenizer, locum_token id, bool special);
enum token_kind tokenizer_token_kind(const struct tokenizer *tokenizer, locum_token id);
bool tokenizer_is_end(const struct tokenizer *tokenizer, locum_token id); // ends an answer
locum_token tokenizer_id(const struct tokenizer *tokenizer,
                         enum tokenizer_id which); // or TOKEN_NONE
// The token with this name, special ones too: for templates; not for ordinary text. TOKEN_NONE.
locum_token tokenizer_search(const struct tokenizer *tokenizer, struct slice name);

bool tokenizer_adds_bos(const struct tokenizer *tokenizer);
// The first token of a text carries a blank that the text did not have.
bool tokenizer_adds_space(const struct tokenizer *tokenizer);

const char *tokenizer_name(const struct tokenizer *tokenizer); // "gpt2 / qwen2", "llama"
// One sentence that the host must show (a missing pre-tokenizer name); NULL: nothing.
const char *tokenizer_notice(const struct tokenizer *tokenizer);

// Bytes of its longest token.
size_t tokenizer_longest(const struct tokenizer *tokenizer);
// Bytes of memory that it holds.
size_t tokenizer_bytes(const struct tokenizer *tokenizer);

#endif
