// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_until.h"

// Bytes of the text that stand at the end of (its first `matched` bytes, then byte).
static size_t advance(struct slice text, size_t matched, uint8_t byte) {
    size_t length = matched + 1;
    for (; length > 0; length--) {
        bool ends = (uint8_t)text.data[length - 1] == byte;
        if (ends && memcmp(text.data, text.data + matched + 1 - length, length - 1) == 0) break;
    }
    return length;
}

// A rule for each number of bytes that have been matched. Bytes in a row that lead to the same rule
// share an expression. A rule calls the next one last, so the stack does not grow.
static grammar_expr step(struct grammar_ast *ast, struct slice text, size_t matched,
                         uint32_t first) {
    grammar_expr choices[256];
    uint32_t count = 0;
    for (uint32_t byte = 0; byte < 256;) {
        size_t to = advance(text, matched, (uint8_t)byte);
        uint32_t end = byte + 1;
        while (end < 256 && advance(text, matched, (uint8_t)end) == to)
            end++;
        grammar_expr bytes = grammar_ast_bytes(ast, (uint8_t)byte, (uint8_t)(end - 1));
        choices[count++] =
            to == text.size
                ? bytes
                : GRAMMAR_SEQ(ast, bytes, grammar_ast_rule(ast, first + (uint32_t)to));
        byte = end;
    }
    return grammar_ast_choice(ast, choices, count);
}

grammar_expr grammar_until(struct grammar_ast *ast, struct slice text) {
    uint32_t first = ast->count;
    for (size_t i = 0; i < text.size; i++)
        grammar_ast_add_rule(ast, "until");
    for (size_t i = 0; i < text.size && !ast->failed; i++)
        grammar_ast_define(ast, first + (uint32_t)i, step(ast, text, i, first));
    return grammar_ast_rule(ast, first);
}
