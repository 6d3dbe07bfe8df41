// SPDX-License-Identifier: Apache-2.0
#include "token/token_roles.h"

#include "base/check.h"

enum role {
    ROLE_END,     // ends an answer
    ROLE_CONTROL, // never shown
    ROLE_TEXT     // a marker that whoever reads the answer needs to see
};

// Rows that the exceptions below refer to.
#define END_OF_MESSAGE "<|end|>"
#define END_OF_HTML    "</s>"

static const struct {
    const char *name;
    enum role role;
} roles[] = {
    {"<|eot_id|>", ROLE_END},
    {"<|eom_id|>", ROLE_END},
    {"<|im_end|>", ROLE_END},
    {END_OF_MESSAGE, ROLE_END},
    {"<|return|>", ROLE_END},
    {"<|call|>", ROLE_END},
    {"<|calls|>", ROLE_END},
    {"<|flush|>", ROLE_END},
    {"<end_of_turn>", ROLE_END},
    {"<|endoftext|>", ROLE_END},
    {"<|end_of_text|>", ROLE_END},
    {"<end_of_utterance>", ROLE_END},
    {END_OF_HTML, ROLE_END},
    {"<eos>", ROLE_END},
    {"<turn|>", ROLE_END},
    {"<|tool_response>", ROLE_END},
    {"<EOT>", ROLE_END},
    {"_<EOT>", ROLE_END},
    {"\xE2\x96\x81<EOT>", ROLE_END}, // CodeLlama, with U+2581
    {"[EOT]", ROLE_END},
    {"[EOS]", ROLE_END},
    {"[e~[", ROLE_END}, // MiniMax
    {"<\xEF\xBD\x9C"
     "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
     ROLE_END}, // DeepSeek
    // Fill-in-the-middle: padding, and the markers of a next file or repository, end what was asked
    // for.
    {"<|fim_pad|>", ROLE_END},
    {"<fim-pad>", ROLE_END},
    {"<fim_pad>", ROLE_END},
    {"<PAD>", ROLE_END},
    {"[PAD]", ROLE_END},
    {"<|fim_repo|>", ROLE_END},
    {"<|repo_name|>", ROLE_END},
    {"<fim-repo>", ROLE_END},
    {"<REPO>", ROLE_END},
    {"<reponame>", ROLE_END},
    {"<|file_sep|>", ROLE_END},
    {"<|fim_prefix|>", ROLE_CONTROL},
    {"<fim-prefix>", ROLE_CONTROL},
    {"<fim_prefix>", ROLE_CONTROL},
    {"<PRE>", ROLE_CONTROL},
    {"<|code_prefix|>", ROLE_CONTROL},
    {"<|fim_suffix|>", ROLE_CONTROL},
    {"<fim-suffix>", ROLE_CONTROL},
    {"<fim_suffix>", ROLE_CONTROL},
    {"<SUF>", ROLE_CONTROL},
    {"<|code_suffix|>", ROLE_CONTROL},
    {"<|fim_middle|>", ROLE_CONTROL},
    {"<fim-middle>", ROLE_CONTROL},
    {"<fim_middle>", ROLE_CONTROL},
    {"<MID>", ROLE_CONTROL},
    {"<|code_middle|>", ROLE_CONTROL},
    // The harmony format of gpt-oss: channels are cut out of the text by whoever parses it.
    {"<|channel|>", ROLE_TEXT},
    {"<|message|>", ROLE_TEXT},
    {"<|start|>", ROLE_TEXT},
    {"<|constrain|>", ROLE_TEXT},
};

enum { ROLES = sizeof roles / sizeof roles[0] };

static int row_of(struct slice name) {
    // Nearly all tokens are words: look at the first byte before the list.
    if (name.size == 0 || !strchr("<[_\xE2", name.data[0])) {
        return -1;
    }
    for (int row = 0; row < ROLES; row++) {
        if (slice_is(name, roles[row].name)) {
            return row;
        }
    }
    return -1;
}

static locum_token found_as(const locum_token found[ROLES], const char *name) {
    int row = row_of(slice_text(name));
    LOCUM_ASSERT(row >= 0);
    return found[row];
}

// "<|end|>" ends a message, not the answer, in formats that have an end of their own for the
// answer.
static bool ends_message_only(const locum_token found[ROLES]) {
    bool has_return = found_as(found, "<|return|>") != TOKEN_NONE;
    bool has_call = found_as(found, "<|call|>") != TOKEN_NONE;
    bool has_calls = found_as(found, "<|calls|>") != TOKEN_NONE;
    bool has_flush = found_as(found, "<|flush|>") != TOKEN_NONE;
    return (has_call || has_calls) && (has_return || has_flush);
}

void token_roles_find(struct vocabulary *vocabulary, struct token_roles *out) {
    *out = (struct token_roles){0};
    locum_token found[ROLES];
    for (int row = 0; row < ROLES; row++) {
        found[row] = TOKEN_NONE;
    }
    for (uint32_t id = 0; id < vocabulary_size(vocabulary); id++) {
        int row = row_of(vocabulary_bytes(vocabulary, (locum_token)id));
        if (row >= 0) {
            found[row] = (locum_token)id;
        }
    }
    for (int row = 0; row < ROLES; row++) {
        enum role role = roles[row].role;
        if (found[row] == TOKEN_NONE) {
            continue;
        }
        if (found[row] == found_as(found, END_OF_MESSAGE) && ends_message_only(found)) {
            role = ROLE_TEXT;
        }
        // Gemma 4 has HTML tags among its tokens: strike-through, no end of a sequence.
        if (found[row] == found_as(found, END_OF_HTML) &&
            found_as(found, "<|tool_response>") != TOKEN_NONE) {
            continue;
        }
        vocabulary_set_kind(vocabulary, found[row],
                            role == ROLE_TEXT ? TOKEN_KIND_USER : TOKEN_KIND_CONTROL);
        if (role == ROLE_END) {
            token_roles_add_end(out, found[row]);
        }
    }
}

void token_roles_add_end(struct token_roles *roles_of, locum_token id) {
    if (id != TOKEN_NONE && !token_roles_is_end(roles_of, id)) {
        LOCUM_ASSERT(roles_of->end_count < TOKEN_ROLES_ENDS_MAX);
        roles_of->ends[roles_of->end_count++] = id;
    }
}

bool token_roles_is_end(const struct token_roles *roles_of, locum_token id) {
    for (uint32_t i = 0; i < roles_of->end_count; i++) {
        if (roles_of->ends[i] == id) {
            return true;
        }
    }
    return false;
}
