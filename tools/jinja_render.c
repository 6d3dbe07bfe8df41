// SPDX-License-Identifier: Apache-2.0
//
// Renders chat templates: jinja_render [OPTION...] TEMPLATE [CONTEXT.json]
//
//   --runs       print the text as lines "template TEXT" and "data TEXT" (TEXT as JSON strings): whose it is
//   --now TIME   the clock of strftime_now, YYYY-MM-DDTHH:MM:SS (default 2026-01-02T03:04:05)
//   --extended   also what transformers refuses: append, pop, ..., from_json
//   --batch      read lines {"template": PATH, "context": {...}} from stdin, answer each with a line
//                {"text": ..., "stretches": [[SIZE, 1 for template], ...]} or {"error": ...}
//
// Of the context, strings whose name ends in _token are the template's (bos_token), all others data.
// Exit status 1: the template or the context is wrong; the message says where.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "jinja/jinja.h"
#include "jinja/jinja_json.h"

struct settings {
    bool runs, batch;
    struct jinja_options options;
    const char *files[2];
    int file_count;
};

static void die(const char *what, const char *why) {
    fprintf(stderr, "jinja_render: %s: %s\n", what, why);
    exit(1);
}

static void read_file(const char *path, struct buffer *out) {
    FILE *file = fopen(path, "rb");
    char block[1 << 16];
    size_t size;
    if (!file) {
        die(path, "cannot be opened");
    }
    out->size = 0;
    while ((size = fread(block, 1, sizeof block, file)) > 0) {
        buffer_append(out, block, size);
    }
    if (ferror(file) || out->failed) {
        die(path, "cannot be read");
    }
    fclose(file);
}

static void print_json(struct slice text, FILE *out) {
    fputc('"', out);
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (byte == '"' || byte == '\\') {
            fprintf(out, "\\%c", byte);
        } else if (byte < ' ') {
            fprintf(out, "\\u%04x", byte);
        } else {
            fputc(byte, out);
        }
    }
    fputc('"', out);
}

// The template's own tokens come from the model, not from a user.
static bool trust_tokens(struct arena *arena, struct jinja_value context) {
    for (size_t i = 0; context.kind == JINJA_DICT && i < context.dict->count; i++) {
        struct jinja_entry *entry = &context.dict->entries[i];
        struct slice name = jinja_value_text(entry->key), end = slice_text("_token");
        if (entry->value.kind == JINJA_STRING && name.size >= end.size &&
            slice_equal(slice_from(name, name.size - end.size), end) &&
            !jinja_string_new(arena, jinja_value_text(entry->value), JINJA_TEMPLATE,
                              &entry->value)) {
            return false;
        }
    }
    return true;
}

static locum_status render(struct slice source, struct jinja_value context, struct arena *arena,
                           const struct settings *settings, struct jinja_output *out,
                           locum_error *error) {
    struct jinja_template *jinja;
    if (!trust_tokens(arena, context)) {
        return LOCUM_E_OUT_OF_MEMORY;
    }
    locum_status status = jinja_open(source, &jinja, error);
    if (status == LOCUM_OK) {
        status = jinja_render(jinja, context, &settings->options, out, error);
        jinja_close(jinja);
    }
    return status;
}

static void print_output(const struct settings *settings, const struct jinja_output *output) {
    size_t at = 0;
    if (!settings->runs) {
        fwrite(output->text, 1, output->size, stdout);
    }
    for (size_t i = 0; settings->runs && i < output->stretch_count; i++) {
        const struct jinja_stretch *stretch = &output->stretches[i];
        printf("%s ", stretch->origin == JINJA_TEMPLATE ? "template" : "data");
        print_json(slice_make(output->text + at, stretch->size), stdout);
        printf("\n");
        at += stretch->size;
    }
}

static int render_one(const struct settings *settings) {
    struct buffer source = {0}, json = {0};
    struct arena arena;
    struct jinja_value context;
    struct jinja_output output;
    locum_error error;
    arena_init(&arena, 0);
    read_file(settings->files[0], &source);
    buffer_append_text(&json, "{}");
    if (settings->file_count > 1) {
        read_file(settings->files[1], &json);
    }
    if (jinja_json_read(buffer_slice(&json), &arena, JINJA_DATA, &context, &error) != LOCUM_OK) {
        die(settings->files[1], error.text);
    }
    if (render(buffer_slice(&source), context, &arena, settings, &output, &error) != LOCUM_OK) {
        die(settings->files[0], error.text);
    }
    print_output(settings, &output);
    jinja_output_release(&output);
    buffer_release(&source);
    buffer_release(&json);
    arena_release(&arena);
    return 0;
}

static void answer(const struct settings *settings, struct slice line, struct buffer *source) {
    struct arena arena;
    struct jinja_value request;
    struct jinja_output output = {0};
    locum_error error = {0};
    arena_init(&arena, 0);
    if (jinja_json_read(line, &arena, JINJA_DATA, &request, &error) != LOCUM_OK ||
        request.kind != JINJA_DICT) {
        die("a request", error.text);
    }
    const struct jinja_value *path = jinja_dict_get_text(request.dict, slice_text("template"));
    const struct jinja_value *context = jinja_dict_get_text(request.dict, slice_text("context"));
    if (!path || path->kind != JINJA_STRING || !context) {
        die("a request", "needs template and context");
    }
    char *name = arena_copy_text(&arena, path->string->data, path->string->size);
    read_file(name, source);
    locum_status status =
        render(buffer_slice(source), *context, &arena, settings, &output, &error);
    printf("{\"%s\": ", status == LOCUM_OK ? "text" : "error");
    print_json(status == LOCUM_OK ? slice_make(output.text, output.size) : slice_text(error.text),
               stdout);
    printf(", \"stretches\": [");
    for (size_t i = 0; i < output.stretch_count; i++) {
        printf("%s[%zu, %d]", i > 0 ? ", " : "", output.stretches[i].size,
               output.stretches[i].origin);
    }
    printf("]}\n");
    jinja_output_release(&output);
    arena_release(&arena);
}

static int render_batch(const struct settings *settings) {
    struct buffer line = {0}, source = {0};
    for (int byte; (byte = getchar()) != EOF;) {
        if (byte != '\n') {
            buffer_append_byte(&line, (char)byte);
            continue;
        }
        answer(settings, buffer_slice(&line), &source);
        line.size = 0;
    }
    buffer_release(&line);
    buffer_release(&source);
    return 0;
}

static bool read_clock(const char *text, struct jinja_clock *now) {
    int size = 0;
    return sscanf(text, "%d-%d-%dT%d:%d:%d%n", &now->year, &now->month, &now->day, &now->hour,
                  &now->minute, &now->second, &size) == 6 &&
           text[size] == '\0';
}

int main(int argc, char **argv) {
    struct settings settings = {.options.now = {2026, 1, 2, 3, 4, 5}};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--runs") == 0) {
            settings.runs = true;
        } else if (strcmp(argv[i], "--batch") == 0) {
            settings.batch = true;
        } else if (strcmp(argv[i], "--extended") == 0) {
            settings.options.extended = true;
        } else if (strcmp(argv[i], "--now") == 0 && i + 1 < argc) {
            if (!read_clock(argv[++i], &settings.options.now)) {
                die(argv[i], "is no time");
            }
        } else if (argv[i][0] == '-' || settings.file_count == 2) {
            die(argv[i], "is not understood");
        } else {
            settings.files[settings.file_count++] = argv[i];
        }
    }
    if (settings.batch) {
        return render_batch(&settings);
    }
    if (settings.file_count == 0) {
        die("usage", "jinja_render [--runs] [--now TIME] [--extended] TEMPLATE [CONTEXT.json]");
    }
    return render_one(&settings);
}
