// SPDX-License-Identifier: Apache-2.0
//
// A template and its variables, both out of the input. Whatever they are, the end is a text or an
// error; the text is UTF-8, its stretches add up, and a second rendering gives the same.
//
// Input: the template, a byte 0, the variables as JSON (none: a fixed set); the first byte's lowest bit
// chooses the extended language.
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "jinja/jinja.h"
#include "jinja/jinja_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char variables_text[] =
    "{\"messages\": [{\"role\": \"user\", \"content\": \"a <b> \\u00e9\"}, {\"role\": \"assistant\","
    " \"content\": null, \"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": {\"k\": 1}}}]}],"
    " \"tools\": [{\"name\": \"f\"}], \"s\": \"text\", \"i\": 3, \"f\": 2.5, \"t\": true, \"n\": null,"
    " \"l\": [3, 1, \"x\"], \"d\": {\"a\": [1]}, \"add_generation_prompt\": true}";

static void check_output(const struct jinja_output *output) {
    size_t sum = 0, characters;
    for (size_t i = 0; i < output->stretch_count; i++) {
        LOCUM_ASSERT(output->stretches[i].size > 0);
        sum += output->stretches[i].size;
    }
    LOCUM_ASSERT(sum == output->size);
    LOCUM_ASSERT(jinja_count_characters(slice_make(output->text, output->size), &characters));
}

static void render_twice(const struct jinja_template *jinja, struct jinja_value variables,
                         const struct jinja_options *options) {
    struct jinja_output first, second;
    locum_error error = {0}, again = {0};
    locum_status status = jinja_render(jinja, variables, options, &first, &error);
    LOCUM_ASSERT(jinja_render(jinja, variables, options, &second, &again) == status);
    if (status == LOCUM_OK) {
        check_output(&first);
        LOCUM_ASSERT(first.size == second.size && memcmp(first.text, second.text, first.size) == 0);
    } else {
        LOCUM_ASSERT(first.text == NULL && strcmp(error.text, again.text) == 0);
    }
    jinja_output_release(&first);
    jinja_output_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct slice source = slice_make((const char *)data, size), json = slice_text(variables_text);
    struct jinja_options options = {.now = {2026, 1, 2, 3, 4, 5},
                                    .extended = size > 0 && (data[0] & 1)};
    const char *end = size > 0 ? memchr(source.data, '\0', size) : NULL;
    if (end) {
        json = slice_from(source, (size_t)(end - source.data) + 1);
        source.size = (size_t)(end - source.data);
    }
    struct arena arena;
    struct jinja_template *jinja;
    struct jinja_value variables;
    locum_error error;
    arena_init(&arena, 16 << 20);
    if (jinja_json_read(json, &arena, JINJA_DATA, &variables, &error) == LOCUM_OK &&
        jinja_open(source, &jinja, &error) == LOCUM_OK) {
        render_twice(jinja, variables, &options);
        jinja_close(jinja);
    }
    arena_release(&arena);
    return 0;
}
