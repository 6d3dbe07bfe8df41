// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a chat template: parsing it once, rendering it with the variables of a request.
// Called by: chat.
// Threads:   a template is never changed after parsing: any number of threads may render it, each
//            with an output of its own. The clock is passed in; nothing else is looked at.
// Errors:    jinja_open: E_FORMAT, E_UNSUPPORTED. jinja_render: E_ARGUMENT for what the template
//            raises or cannot do with these variables, and for the limits of base/limits.h. Both: with
//            line and column; E_OUT_OF_MEMORY.
// Not here:  building variables (jinja_value.h, jinja_json.h); which variables a template gets.
//
// The language is jinja2's, as Hugging Face's transformers sets it up for chat templates: sandboxed,
// trim_blocks and lstrip_blocks, break and continue, the generation tag, their tojson,
// raise_exception and strftime_now.
#ifndef JINJA_JINJA_H
#define JINJA_JINJA_H

#include "base/status.h"
#include "jinja/jinja_value.h"

// Local time, for strftime_now.
struct jinja_clock {
    int year, month, day; // month from 1
    int hour, minute, second;
};

struct jinja_options {
    struct jinja_clock now;
    // Also what transformers refuses and templates in the wild use: methods that change the lists and
    // dicts that a template has made (append, pop, update, ...), and the filter from_json.
    bool extended;
};

struct jinja_template;

locum_status jinja_open(struct slice source, struct jinja_template **out, locum_error *error);
void jinja_close(struct jinja_template *jinja);

struct jinja_stretch {
    size_t size; // bytes
    enum jinja_origin origin;
};

// The text and whose it is: stretches of alternating origin that add up to its size.
struct jinja_output {
    char *text; // NUL-terminated
    size_t size;
    struct jinja_stretch *stretches;
    size_t stretch_count;
};

// variables: a DICT. On an error *out is empty.
locum_status jinja_render(const struct jinja_template *jinja, struct jinja_value variables,
                          const struct jinja_options *options, struct jinja_output *out,
                          locum_error *error);
void jinja_output_release(struct jinja_output *output);

#endif
