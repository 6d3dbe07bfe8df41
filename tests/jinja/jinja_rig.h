// SPDX-License-Identifier: Apache-2.0
//
// Renders a template with variables given as JSON, for the tests of lib/jinja.
#ifndef JINJA_RIG_H
#define JINJA_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jinja/jinja.h"
#include "jinja/jinja_json.h"

struct rig {
    locum_status status;
    locum_error error;
    struct jinja_output output;
};

static inline void rig_render(struct rig *rig, const char *source, const char *json,
                              bool extended) {
    struct jinja_options options = {.now = {2024, 2, 29, 23, 5, 9}, .extended = extended};
    struct jinja_template *jinja;
    struct jinja_value variables;
    struct arena arena;
    *rig = (struct rig){0};
    arena_init(&arena, 0);
    rig->status = jinja_json_read(slice_text(json ? json : "{}"), &arena, JINJA_DATA, &variables,
                                  &rig->error);
    if (rig->status == LOCUM_OK) {
        rig->status = jinja_open(slice_text(source), &jinja, &rig->error);
    }
    if (rig->status == LOCUM_OK) {
        rig->status = jinja_render(jinja, variables, &options, &rig->output, &rig->error);
        jinja_close(jinja);
    }
    arena_release(&arena);
}

static inline void rig_release(struct rig *rig) {
    jinja_output_release(&rig->output);
}

// The text, or the error behind a "!".
static inline void rig_expect(const char *source, const char *json, const char *expected) {
    struct rig rig;
    rig_render(&rig, source, json, false);
    if (expected[0] == '!') {
        if (rig.status == LOCUM_OK || !strstr(rig.error.text, expected + 1)) {
            fail_msg("%s: '%s' instead of the error '%s'", source,
                     rig.status == LOCUM_OK ? rig.output.text : rig.error.text, expected + 1);
        }
    } else if (rig.status != LOCUM_OK || strcmp(rig.output.text, expected) != 0) {
        fail_msg("%s: '%s' instead of '%s'", source,
                 rig.status == LOCUM_OK ? rig.output.text : rig.error.text, expected);
    }
    rig_release(&rig);
}

struct rig_case {
    const char *source, *json, *expected;
};

static inline void rig_expect_all(const struct rig_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        rig_expect(cases[i].source, cases[i].json, cases[i].expected);
    }
}

#define RIG_EXPECT_ALL(cases) rig_expect_all(cases, sizeof(cases) / sizeof(cases)[0])

#endif
