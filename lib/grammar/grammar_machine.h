// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the states that a grammar can be in, made when they are first reached.
// Called by: grammar_matcher.
// Threads:   one thread at a time.
// Errors:    sticky: `status` is E_OUT_OF_MEMORY, or E_ARGUMENT where the grammar is too ambiguous;
//            what could not be made is GRAMMAR_DEAD. Text that the grammar forbids is no error.
// Not here:  tokens (grammar_vocabulary), masks (grammar_matcher).
//
// A state is the set of all places where the grammar can stand after the bytes so far: pairs of an
// operation and a stack. A stack is a set of frames, each with the stack below it, so what was called
// by several places at the same byte is followed once, and the number of places grows with the
// grammar and not with the ways to read a text. Equal stacks and equal states have equal numbers:
// state and class of byte index a table of transitions, which fills as it is used, and whatever is
// known of a state (its mask of tokens) is known when it comes back.
#ifndef GRAMMAR_MACHINE_H
#define GRAMMAR_MACHINE_H

#include "grammar/grammar_program.h"

enum { GRAMMAR_DEAD = 0 }; // the state that nothing leaves and nothing accepts
#define GRAMMAR_UNKNOWN UINT32_MAX

// What a count becomes when only the next few bytes matter; see grammar_machine_relax.
enum { GRAMMAR_RELAX_SHORT, GRAMMAR_RELAX_LONG, GRAMMAR_RELAX_COUNT };

enum grammar_answer { GRAMMAR_UNASKED, GRAMMAR_NO, GRAMMAR_YES };

struct grammar_state {
    uint32_t relaxed[GRAMMAR_RELAX_COUNT]; // or GRAMMAR_UNKNOWN
    uint32_t mask;                         // of the user, GRAMMAR_UNKNOWN at first
    bool accepts;                          // the text may end here
    uint8_t takes_text;                    // enum grammar_answer: see grammar_machine_takes_text
};

struct grammar_stack {
    uint32_t relaxed[GRAMMAR_RELAX_COUNT]; // or GRAMMAR_UNKNOWN
    uint16_t depth;                        // frames above each other at most
    bool counts;                           // a frame in it, or below, has a count
};

struct grammar_closure; // work space of grammar_machine.c

struct grammar_machine {
    const struct grammar_program *program;
    uint32_t horizon[GRAMMAR_RELAX_COUNT]; // bytes
    struct grammar_intern stack_words;     // runs of frames
    struct grammar_intern state_words;     // accepts, then pairs of operation and stack
    struct grammar_stack *stacks;
    struct grammar_state *states;
    uint32_t *transitions; // [state][class], GRAMMAR_UNKNOWN where not made yet
    uint32_t stacks_capacity, states_capacity, transitions_capacity;
    struct grammar_closure *work;
    size_t bytes_max; // a state that would pass it is an error
    uint32_t start;
    locum_status status;
    locum_error error;
};

locum_status grammar_machine_create(const struct grammar_program *program, uint32_t horizon_short,
                                    uint32_t horizon_long, size_t bytes_max,
                                    struct grammar_machine **out, locum_error *error);
void grammar_machine_free(struct grammar_machine *machine); // NULL is fine

// Makes the transition that the table lacks.
uint32_t grammar_machine_make(struct grammar_machine *machine, uint32_t state, uint32_t class);

static inline uint32_t grammar_machine_step(struct grammar_machine *machine, uint32_t state,
                                            uint8_t byte) {
    const struct grammar_program *p = machine->program;
    uint32_t class = p->class_of[byte],
             next = machine->transitions[(size_t)state * p->class_count + class];
    return next != GRAMMAR_UNKNOWN ? next : grammar_machine_make(machine, state, class);
}

// A state that takes the same texts of at most horizon bytes, and that more states share: counts
// which these bytes cannot bring to a bound are only "far from it". So a mask for the 5th of 1000
// items serves the 6th too. Whether the text may end is not kept.
uint32_t grammar_machine_relax(struct grammar_machine *machine, uint32_t state, uint32_t which);

// Does every run of whole characters from U+0020 on, but for '"' and '\', keep the state alive?
// That is what the inside of a JSON string does, and most tokens are such a run.
bool grammar_machine_takes_text(struct grammar_machine *machine, uint32_t state);

// Forgets all states but this one, whose new number it gives. GRAMMAR_UNKNOWN: no memory, and
// nothing has changed.
uint32_t grammar_machine_trim(struct grammar_machine *machine, uint32_t state);

size_t grammar_machine_bytes(const struct grammar_machine *machine);

#endif
