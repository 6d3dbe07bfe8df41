// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja.h"

#include "base/limits.h"
#include "jinja/jinja_exec.h"
#include "jinja/jinja_parse.h"

struct jinja_template {
    struct arena arena;
    struct jinja_node *body;
    struct jinja_specials specials;
};

locum_status jinja_open(struct slice source, struct jinja_template **out, locum_error *error) {
    *out = NULL;
    struct jinja_template *jinja = heap_resize(NULL, sizeof *jinja);
    if (!jinja) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the template");
    }
    *jinja = (struct jinja_template){0};
    arena_init(&jinja->arena, LIMIT_JINJA_MEMORY);
    locum_status status =
        jinja_parse(source, &jinja->arena, &jinja->body, &jinja->specials, error);
    if (status != LOCUM_OK) {
        jinja_close(jinja);
        return status;
    }
    *out = jinja;
    return LOCUM_OK;
}

void jinja_close(struct jinja_template *jinja) {
    if (jinja) {
        arena_release(&jinja->arena);
        heap_free(jinja);
    }
}

// Bytes that are marked alike and follow each other are one stretch.
static bool take_stretches(const struct buffer *marks, struct jinja_output *out) {
    size_t count = 0;
    for (size_t i = 0; i < marks->size; i++) {
        count += i == 0 || marks->data[i] != marks->data[i - 1];
    }
    out->stretches = heap_resize(NULL, (count + 1) * sizeof *out->stretches);
    if (!out->stretches) {
        return false;
    }
    for (size_t i = 0; i < marks->size; i++) {
        if (i == 0 || marks->data[i] != marks->data[i - 1]) {
            out->stretches[out->stretch_count++] =
                (struct jinja_stretch){.origin = (enum jinja_origin)marks->data[i]};
        }
        out->stretches[out->stretch_count - 1].size++;
    }
    return true;
}

static locum_status take_output(struct jinja_run *run, struct jinja_text *text,
                                struct jinja_output *out) {
    if (!buffer_text(&text->bytes) || !take_stretches(&text->marks, out)) {
        jinja_output_release(out);
        jinja_fail_memory(run);
        return run->status;
    }
    out->text = text->bytes.data;
    out->size = text->bytes.size;
    text->bytes = (struct buffer){0};
    return LOCUM_OK;
}

locum_status jinja_render(const struct jinja_template *jinja, struct jinja_value variables,
                          const struct jinja_options *options, struct jinja_output *out,
                          locum_error *error) {
    *out = (struct jinja_output){0};
    if (variables.kind != JINJA_DICT) {
        return status_fail(error, LOCUM_E_ARGUMENT, "the variables of a template are a dict");
    }
    // The limit is looked at after each statement; this one bounds a single one.
    struct jinja_text text = {.bytes.limit = 2u * LIMIT_JINJA_OUTPUT};
    struct jinja_scope scope = {0};
    struct jinja_run run = {.options = options,
                            .specials = &jinja->specials,
                            .variables = variables.dict,
                            .scope = &scope,
                            .out = &text,
                            .error = error};
    arena_init(&run.arena, LIMIT_JINJA_MEMORY);
    if (jinja_execute(&run, jinja->body) != JINJA_FAILED) {
        run.status = take_output(&run, &text, out);
    }
    jinja_text_release(&text);
    arena_release(&run.arena);
    return run.status;
}

void jinja_output_release(struct jinja_output *output) {
    heap_free(output->text);
    heap_free(output->stretches);
    *output = (struct jinja_output){0};
}
