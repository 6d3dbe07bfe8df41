// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/talk.h"

#include <string.h>

#include "tests/platform/scratch.h"

// ---- models -------------------------------------------------------------------------------------
const char *talk_save_toy(struct toy_model *toy) {
    static unsigned number;
    const char *path = scratch_path("toy-%u.gguf", number++);
    toy_save(toy, path);
    toy_release(toy);
    return path;
}

const char *talk_save(const struct toy_spec *spec) {
    return talk_save_toy(toy_create(spec));
}

locum_status house_try(struct house *house, const char *path, const locum_options *options) {
    locum_file *file;
    memset(house, 0, sizeof *house);
    locum_options_init(&house->options);
    if (options) house->options = *options;
    locum_status status = locum_file_open(path, &file, &house->error);
    if (status != LOCUM_OK) return status;
    status = locum_model_open(file, &house->options, &house->model, &house->error);
    locum_file_close(file);
    if (status == LOCUM_OK) locum_model_get_plan(house->model, &house->plan);
    return status;
}

void house_open(struct house *house, const char *path, const locum_options *options) {
    if (house_try(house, path, options) != LOCUM_OK) fail_msg("%s", house->error.text);
}

void house_close(struct house *house) {
    locum_model_close(house->model);
    house->model = NULL;
}

locum_session *house_session(struct house *house) {
    locum_session *session;
    if (locum_session_open(house->model, &session, &house->error) != LOCUM_OK)
        fail_msg("%s", house->error.text);
    return session;
}

locum_status house_plan(const char *path, const locum_options *options, locum_memory_plan *plan,
                        locum_error *error) {
    locum_file *file;
    locum_status status = locum_file_open(path, &file, error);
    if (status != LOCUM_OK) return status;
    status = locum_file_plan(file, options, plan, error);
    locum_file_close(file);
    return status;
}

uint64_t house_floor(const char *path, const locum_options *options) {
    locum_memory_plan plan;
    locum_error error;
    locum_options all;
    locum_options_init(&all);
    if (options) all = *options;
    all.memory = LOCUM_MEMORY_ALL;
    if (house_plan(path, &all, &plan, &error) != LOCUM_OK) fail_msg("%s", error.text);
    return plan.floor;
}

// ---- requests -----------------------------------------------------------------------------------
static uint64_t hash_floats(const float *values, uint32_t count) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static bool on_event(void *user, const locum_event *event) {
    struct talk *talk = user;
    // No event may follow the one that was answered with "stop".
    if (talk->stop_at) assert_true(talk->events < talk->stop_at);
    talk->events++;
    if (event->kind == LOCUM_EVENT_TOKEN) {
        assert_true(talk->count < TALK_TOKENS);
        talk->positions[talk->count] = event->position;
        talk->ids[talk->count++] = event->token;
    } else if (event->kind == LOCUM_EVENT_TEXT) {
        assert_true(event->text_size > 0 && talk->text_size + event->text_size < TALK_TEXT);
        memcpy(talk->text + talk->text_size, event->text, event->text_size);
        talk->text_size += event->text_size;
        talk->texts++;
    } else {
        assert_int_equal(event->kind, LOCUM_EVENT_LOGITS);
        assert_true(talk->rows < TALK_ROWS);
        talk->row_position[talk->rows] = event->position;
        talk->row_hash[talk->rows++] = hash_floats(event->logits, event->vocabulary);
    }
    if (talk->on_event) talk->on_event(talk, event);
    return talk->stop_at == talk->events;
}

void talk_init(struct talk *talk, const locum_token *prompt, size_t count) {
    memset(talk, 0, sizeof *talk);
    locum_request_init(&talk->request);
    talk->request.prompt = prompt;
    talk->request.prompt_count = count;
    talk->request.predict = 40;
    talk->request.ignore_end = true;
    locum_sampling_init(&talk->sampling);
    talk->sampling.temperature = 0;
    talk->request.logits = LOCUM_LOGITS_SAMPLED;
    talk->request.event = on_event;
    talk->request.user = talk;
}

locum_status talk_run(struct talk *talk, locum_session *session) {
    talk->events = talk->texts = talk->count = talk->rows = 0;
    talk->text_size = 0;
    memset(&talk->error, 0, sizeof talk->error);
    talk->request.sampling = &talk->sampling;
    talk->status =
        locum_generate(session, &talk->request, &talk->finish, &talk->stats, &talk->error);
    return talk->status;
}

void talk_must(struct talk *talk, locum_session *session) {
    if (talk_run(talk, session) != LOCUM_OK) fail_msg("%s", talk->error.text);
}

void talk_same(const struct talk *a, const struct talk *b, const char *what) {
    if (a->status != LOCUM_OK || b->status != LOCUM_OK)
        fail_msg("%s: %s %s", what, a->error.text, b->error.text);
    bool same = a->count == b->count && a->rows == b->rows && a->text_size == b->text_size &&
                memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0 &&
                memcmp(a->text, b->text, a->text_size) == 0 &&
                memcmp(a->row_hash, b->row_hash, a->rows * sizeof *a->row_hash) == 0 &&
                a->stats.logits_hash == b->stats.logits_hash;
    if (!same) fail_msg("%s: another answer", what);
}

void talk_text(uint32_t seed, uint32_t vocabulary, locum_token *tokens, size_t count) {
    uint32_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        tokens[i] = (locum_token)((state >> 8) % vocabulary);
    }
}
