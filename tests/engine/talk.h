// SPDX-License-Identifier: Apache-2.0
//
// A request to an engine and everything that came of it, for the tests of this folder.
#ifndef TESTS_ENGINE_TALK_H
#define TESTS_ENGINE_TALK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locum/locum.h>

#include "tests/fixtures/toy_model.h"

// ---- models -------------------------------------------------------------------------------------
// The toy as a file in the scratch folder; gives its path (valid until the 8th next one).
const char *talk_save(const struct toy_spec *spec);
const char *talk_save_toy(struct toy_model *toy); // also releases it

struct house { // an open model
    locum_options options;
    locum_model *model;
    locum_memory_plan plan;
    locum_error error;
};
// Opens or fails the test. The file is closed again at once: a model does not need it.
void house_open(struct house *house, const char *path, const locum_options *options);
locum_status house_try(struct house *house, const char *path, const locum_options *options);
void house_close(struct house *house); // also an empty one
locum_session *house_session(struct house *house);
// What locum_file_plan says; *plan is filled on LOCUM_E_BUDGET too.
locum_status house_plan(const char *path, const locum_options *options, locum_memory_plan *plan,
                        locum_error *error);
uint64_t house_floor(const char *path, const locum_options *options);

// ---- requests -----------------------------------------------------------------------------------
enum { TALK_TOKENS = 2048, TALK_TEXT = 16384, TALK_ROWS = 2048 };

struct talk {
    locum_request request;   // of talk_init; both may be changed before talk_run
    locum_sampling sampling; // greedy
    uint32_t stop_at;      // answer "stop" to event number stop_at (from 1); 0: never
    void (*on_event)(struct talk *talk, const locum_event *event); // NULL: none
    void *user;

    locum_status status;
    locum_finish finish;
    locum_stats stats;
    locum_error error;
    uint32_t events, texts;
    locum_token ids[TALK_TOKENS];
    uint32_t positions[TALK_TOKENS];
    uint32_t count; // of ids
    char text[TALK_TEXT];
    size_t text_size;
    uint32_t rows; // of logits
    uint32_t row_position[TALK_ROWS];
    uint64_t row_hash[TALK_ROWS];
};

// Greedy, no end tokens, 40 tokens, logits of sampled rows.
void talk_init(struct talk *talk, const locum_token *prompt, size_t count);
locum_status talk_run(struct talk *talk, locum_session *session);
// The same, and it must succeed.
void talk_must(struct talk *talk, locum_session *session);
// Same ids, text, rows and hash, or the test fails with `what`.
void talk_same(const struct talk *a, const struct talk *b, const char *what);

// Pseudo-random ids below `vocabulary`.
void talk_text(uint32_t seed, uint32_t vocabulary, locum_token *tokens, size_t count);

#endif
