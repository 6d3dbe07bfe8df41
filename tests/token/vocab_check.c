// SPDX-License-Identifier: Apache-2.0
//
// vocab_check MODEL.gguf...: for each file, reads MODEL.gguf.inp (texts, divided by
// lines of __ggml_vocab_test__) and MODEL.gguf.out (for each text a line of ids), and holds the ids
// of lib/token against them. Prints a line for each file; status 1 if any differs. Every text must
// also come back from its ids byte for byte.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "gguf/gguf_file.h"
#include "token/token_gguf.h"

static const char divider[] = "\n__ggml_vocab_test__\n";

static bool read_file(const char *path, struct buffer *out) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return false;
    }
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;) {
        buffer_append(out, chunk, n);
    }
    fclose(file);
    return buffer_text(out) != NULL;
}

static void print_ids(const char *what, const locum_token *ids, size_t count) {
    printf("    %s", what);
    for (size_t i = 0; i < count; i++) {
        printf(" %d", ids[i]);
    }
    printf("\n");
}

// The ids of one line; moves *line to the next.
static void read_line(const char **line, struct token_list *ids) {
    const char *at = *line;
    while (*at != '\n' && *at != '\0') {
        char *end;
        long id = strtol(at, &end, 10);
        if (end == at) {
            at++;
            continue;
        }
        token_list_push(ids, (locum_token)id);
        at = end;
    }
    *line = *at == '\n' ? at + 1 : at;
}

static bool comes_back(const struct tokenizer *tokenizer, struct slice text,
                       const struct token_list *ids) {
    struct buffer bytes = {0};
    for (size_t i = 0; i < ids->count; i++) {
        struct slice token = tokenizer_token_bytes(tokenizer, ids->ids[i], true);
        if (i == 0 && tokenizer_adds_space(tokenizer)) {
            token = slice_from(token, 1);
        }
        buffer_append(&bytes, token.data, token.size);
    }
    bool same = slice_equal(buffer_slice(&bytes), text);
    buffer_release(&bytes);
    return same;
}

static bool check_text(const struct tokenizer *tokenizer, struct slice text, const char **line) {
    struct token_list got = {0}, wanted = {0};
    locum_error error = {0};
    bool ok = tokenizer_encode(tokenizer, text, 0, &got, &error) == LOCUM_OK;
    read_line(line, &wanted);
    bool same = ok && got.count == wanted.count &&
                (got.count == 0 || memcmp(got.ids, wanted.ids, got.count * sizeof *got.ids) == 0);
    bool back = comes_back(tokenizer, text, &got);
    if (!same || !back) {
        printf("  differs%s: \"%.*s\" %s\n", same ? " on the way back" : "", (int)text.size,
               text.data, error.text);
        print_ids("ids   ", got.ids, got.count);
        print_ids("wanted", wanted.ids, wanted.count);
    }
    token_list_release(&got);
    token_list_release(&wanted);
    return same && back;
}

static bool check_texts(const struct tokenizer *tokenizer, struct buffer *inp, struct buffer *out,
                        size_t *texts) {
    struct slice rest = buffer_slice(inp);
    const char *line = buffer_text(out);
    bool same = true;
    while (true) {
        const char *end = memmem(rest.data, rest.size, divider, sizeof divider - 1);
        struct slice text = slice_make(rest.data, end ? (size_t)(end - rest.data) : rest.size);
        same &= check_text(tokenizer, text, &line);
        ++*texts;
        if (!end) {
            return same;
        }
        rest = slice_from(rest, text.size + sizeof divider - 1);
    }
}

static bool check_file(const char *path) {
    struct gguf_file *file = NULL;
    struct tokenizer_source source;
    struct arena arena;
    const struct tokenizer *tokenizer = NULL;
    locum_error error = {0};
    struct buffer inp = {0}, out = {0};
    char name[4096];
    size_t texts = 0;
    bool same = false;
    arena_init(&arena, 0);
    clock_t start = clock();
    if (gguf_file_open(path, &file, &error) == LOCUM_OK &&
        token_gguf_read(gguf_file_meta(file), &source, &error) == LOCUM_OK &&
        tokenizer_open(&source, &arena, &tokenizer, &error) == LOCUM_OK) {
        double ms = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
        snprintf(name, sizeof name, "%s.inp", path);
        bool found = read_file(name, &inp);
        snprintf(name, sizeof name, "%s.out", path);
        found = found && read_file(name, &out);
        same = found && check_texts(tokenizer, &inp, &out, &texts);
        printf("%s: %s (%s, %u tokens, %zu KB, opened in %.0f ms, %zu texts)\n",
               !found ? "MISSING"
               : same ? "ok"
                      : "DIFFERS",
               path, tokenizer_name(tokenizer), tokenizer_size(tokenizer),
               tokenizer_bytes(tokenizer) / 1000, ms, texts);
    } else {
        printf("FAILED: %s: %s\n", path, error.text);
    }
    gguf_file_close(file);
    arena_release(&arena);
    buffer_release(&inp);
    buffer_release(&out);
    return same;
}

int main(int argc, char **argv) {
    bool same = argc > 1;
    for (int i = 1; i < argc; i++) {
        same &= check_file(argv[i]);
    }
    return same ? 0 : 1;
}
