// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a compiled grammar: a recursive automaton over bytes, immutable.
// Called by: grammar (opens one), grammar_machine (runs it).
// Threads:   read-only after grammar_program_compile: any.
// Errors:    E_ARGUMENT naming the rule: not defined, left-recursive, without an end; too big.
//            E_OUT_OF_MEMORY.
// Not here:  running it (grammar_machine), grammar texts (the readers).
//
// Every rule, and the body of every counted repetition, is a routine of operations that ends with
// RETURN. A repetition is a call whose frame holds how often it was done: {0,10000} costs no more
// than {0,2}. What cannot be finished by any text is a FAIL, so an automaton that is alive can end.
#ifndef GRAMMAR_PROGRAM_H
#define GRAMMAR_PROGRAM_H

#include "base/status.h"
#include "grammar/grammar_ast.h"
#include "grammar/grammar_intern.h"

enum grammar_op_kind {
    GRAMMAR_OP_ACCEPT, // the whole text is complete
    GRAMMAR_OP_FAIL,
    GRAMMAR_OP_RETURN,
    GRAMMAR_OP_SET,   // a byte of sets[arg], then next
    GRAMMAR_OP_SPLIT, // arg or next
    GRAMMAR_OP_CALL,  // routines[arg], then next
    GRAMMAR_OP_REPEAT // routines[arg], least to most times, then next
};

// Operations that every program has at these places.
enum { GRAMMAR_AT_ACCEPT = 0, GRAMMAR_AT_FAIL = 1, GRAMMAR_AT_RETURN = 2 };

struct grammar_op {
    enum grammar_op_kind kind;
    uint32_t arg, next;
};

struct grammar_routine {
    uint32_t entry;
    uint32_t least, most; // of a repetition
    uint32_t rank;        // a routine that calls another before any byte has the lower one
    bool nullable;        // matches the empty text
    bool productive;      // matches some text
};

enum { GRAMMAR_SET_WORDS = 8 };

struct grammar_program {
    struct arena arena; // everything below but the sets
    struct grammar_op *ops;
    struct grammar_routine *routines; // rules first, the root at 0
    uint32_t op_count, routine_count, rule_count;
    struct grammar_intern sets; // of 8 words, a bit for each byte
    uint8_t class_of[256];      // bytes of one class are in the same sets
    uint8_t class_byte[256];    // a byte of each class
    uint32_t class_count;
    bool counts; // has a repetition with a frame
};

// Of all rules of the ast, which is not needed afterwards.
locum_status grammar_program_compile(const struct grammar_ast *ast, struct grammar_program **out,
                                     locum_error *error);
void grammar_program_free(struct grammar_program *program); // NULL is fine

static inline bool grammar_program_in_set(const struct grammar_program *program, uint32_t set,
                                          uint8_t byte) {
    return (program->sets.words[set * GRAMMAR_SET_WORDS + byte / 32] >> (byte % 32)) & 1;
}

size_t grammar_program_bytes(const struct grammar_program *program);

#endif
