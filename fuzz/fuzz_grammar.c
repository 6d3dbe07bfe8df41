// SPDX-License-Identifier: Apache-2.0
//
// A grammar and a text, both out of the input. Whatever they are, the grammar is an error or an
// automaton; a text that it accepts has no dead beginning, and trimming and relaxing do not change
// what follows.
//
// Input: a byte that chooses the language ('s': a JSON schema, else GBNF), the grammar, a byte 0, the
// text.
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "grammar/grammar.h"
#include "grammar/grammar_machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HORIZON = 4, TEXT_MAX = 64 };

static uint32_t run(struct grammar_machine *m, uint32_t state, struct slice text) {
    for (size_t i = 0; i < text.size; i++)
        state = grammar_machine_step(m, state, (uint8_t)text.data[i]);
    return state;
}

static void check(struct grammar_machine *m, struct slice text) {
    uint32_t end = run(m, m->start, text);
    bool accepts = m->states[end].accepts, dead = end == GRAMMAR_DEAD;
    size_t cut = text.size > HORIZON ? text.size - HORIZON : 0;
    uint32_t middle = run(m, m->start, slice_make(text.data, cut));
    uint32_t relaxed = grammar_machine_relax(m, middle, GRAMMAR_RELAX_SHORT);
    if (cut < text.size) {
        uint32_t loose = run(m, relaxed, slice_from(text, cut));
        LOCUM_ASSERT(m->status != LOCUM_OK || (loose == GRAMMAR_DEAD) == dead);
    }
    if (m->status != LOCUM_OK) return;
    middle = grammar_machine_trim(m, middle);
    if (middle == GRAMMAR_UNKNOWN) return;
    end = run(m, middle, slice_from(text, cut));
    LOCUM_ASSERT(m->status != LOCUM_OK || m->states[end].accepts == accepts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    struct slice source = slice_make((const char *)data + 1, size - 1), text = slice_text("");
    const char *end = source.size > 0 ? memchr(source.data, '\0', source.size) : NULL;
    if (end) {
        text = slice_from(source, (size_t)(end - source.data) + 1);
        source.size = (size_t)(end - source.data);
    }
    if (text.size > TEXT_MAX) text.size = TEXT_MAX;
    struct grammar_request request = {
        .kind = data[0] == 's' ? GRAMMAR_KIND_SCHEMA : GRAMMAR_KIND_GBNF, .text = source};
    struct grammar_program *program;
    struct grammar_machine *machine;
    locum_error error;
    if (grammar_open(&request, &program, &error) != LOCUM_OK) {
        LOCUM_ASSERT(program == NULL);
        return 0;
    }
    if (grammar_machine_create(program, HORIZON, 64, 16 << 20, &machine, &error) == LOCUM_OK) {
        check(machine, text);
        grammar_machine_free(machine);
    }
    grammar_program_free(program);
    return 0;
}
