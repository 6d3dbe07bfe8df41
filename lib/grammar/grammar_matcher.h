// SPDX-License-Identifier: Apache-2.0
//
// Owns:      where one answer stands in a grammar: which tokens may come, what the one that came does.
// Called by: engine.
// Threads:   one thread at a time; program and vocabulary may be shared.
// Errors:    E_OUT_OF_MEMORY; E_ARGUMENT for a grammar that is too ambiguous, or that no token can
//            continue.
// Not here:  choosing among the allowed (sample), grammar texts (grammar).
//
// Masks of states are kept, and states and masks together stay below a bound: past it all but the
// present state is forgotten. The masks do not depend on what is kept.
#ifndef GRAMMAR_MATCHER_H
#define GRAMMAR_MATCHER_H

#include "grammar/grammar_machine.h"
#include "grammar/grammar_vocabulary.h"

enum { GRAMMAR_MATCHER_BYTES = 32 << 20 }; // a usual bound

// What it did since it was created.
struct grammar_counts {
    uint64_t masks;       // given
    uint64_t walks;       // of them, made by a walk over the tokens
    uint64_t trims;       // times that all but one state were forgotten
    uint64_t states_most; // states at a time
};

struct grammar_matcher {
    const struct grammar_vocabulary *vocabulary;
    struct grammar_machine *machine;
    uint32_t state;
    size_t bytes_max;
    uint64_t *masks; // of states, mask_words each
    uint32_t masks_count, masks_capacity;
    uint64_t *mask;   // given out
    uint32_t *states; // [longest + 1], of a walk
    struct grammar_counts counts;
};

// Both must outlive the matcher. bytes_max: GRAMMAR_MATCHER_BYTES, or what there is.
locum_status grammar_matcher_create(const struct grammar_program *program,
                                    const struct grammar_vocabulary *vocabulary, size_t bytes_max,
                                    struct grammar_matcher **out, locum_error *error);
void grammar_matcher_free(struct grammar_matcher *matcher); // NULL is fine

void grammar_matcher_reset(struct grammar_matcher *matcher); // to the beginning; keeps its masks

// The tokens that may come now: bit t % 64 of word t / 64. Valid until the next call. Never all zero:
// that is an error.
locum_status grammar_matcher_mask(struct grammar_matcher *matcher, const uint64_t **mask,
                                  locum_error *error);
// Goes on. False, and nothing changes: the token may not come, or ends the answer.
bool grammar_matcher_take(struct grammar_matcher *matcher, uint32_t token);
bool grammar_matcher_take_bytes(struct grammar_matcher *matcher, struct slice bytes);
bool grammar_matcher_can_end(const struct grammar_matcher *matcher);
// The grammar allows the end of the answer and nothing else.
bool grammar_matcher_must_end(const struct grammar_matcher *matcher);

#endif
