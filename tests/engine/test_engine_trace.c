// SPDX-License-Identifier: Apache-2.0
//
// The routing trace, read back: its rows agree with the statistics of the requests.
#include "tests/engine/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/platform/scratch.h"

enum {
    PROMPT = 100,
    LAYERS = 3,
    EXPERTS = 8,
    USED = 2,
    CHUNK = 16,
    EXPERT_BYTES = 3 * 32 * 64 * 4
};

static struct house house;
static locum_options options;
static locum_token prompt[PROMPT];
static struct talk talks[2];
static const char *model_path, *trace_path;

static int set_up(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    model_path = talk_save(&spec);
    trace_path = scratch_path("trace.csv");
    unlink(trace_path);
    locum_options_init(&options);
    options.threads = 2;
    options.chunk = CHUNK;
    options.trace_path = trace_path;
    talk_text(1, 320, prompt, PROMPT);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    house_close(&house);
    return 0;
}

struct row {
    unsigned turn, phase, step, layer, slot, expert, residency;
    double weight;
    unsigned long long bytes;
};
static struct row rows[20000];

static char *read_all(const char *path) {
    static char text[4 << 20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    assert_true(size < sizeof text - 1);
    fclose(file);
    text[size] = 0;
    return text;
}

// Checks the head and gives the number of rows.
static size_t parse(char *text) {
    static const char columns[] =
        "turn,phase,step,layer,slot,expert,weight,residency,expert_bytes\n";
    char expected[200];
    assert_int_equal(strncmp(text, "# route_trace v1\n# model=", 25), 0);
    assert_non_null(strstr(text, " arch=qwen3moe n_layer=3 n_expert=8 n_expert_used=2\n"));
    for (int layer = 0; layer < LAYERS; layer++) {
        snprintf(expected, sizeof expected, "# layer=%d expert_bytes=%d dense_bytes=", layer,
                 EXPERT_BYTES);
        assert_non_null(strstr(text, expected));
    }
    char *at = strstr(text, columns);
    assert_non_null(at);
    size_t count = 0;
    for (at += strlen(columns); *at; count++) {
        struct row *r = &rows[count];
        int used = 0;
        assert_true(count < sizeof rows / sizeof *rows);
        assert_int_equal(sscanf(at, "%u,%u,%u,%u,%u,%u,%lf,%u,%llu\n%n", &r->turn, &r->phase,
                                &r->step, &r->layer, &r->slot, &r->expert, &r->weight,
                                &r->residency, &r->bytes, &used),
                         9);
        at += used;
    }
    return count;
}

// What a turn's rows say, counted as the statistics count: an expert once per step.
struct sums {
    uint64_t rows[2], hits[2], misses[2], ahead[2], bytes[2];
};

static struct sums add_up(size_t count, unsigned turn) {
    struct sums s = {{0}, {0}, {0}, {0}, {0}};
    static bool seen[2][PROMPT + 100][LAYERS][EXPERTS];
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < count; i++) {
        const struct row *r = &rows[i];
        if (r->turn != turn) continue;
        unsigned step = r->phase ? r->step : r->step / CHUNK; // prompts begin at 0 here
        s.rows[r->phase]++;
        s.bytes[r->phase] += r->bytes;
        assert_true(r->bytes == 0 || r->bytes == EXPERT_BYTES);
        if (r->residency == 1) assert_int_equal(r->bytes, 0);
        bool *once = &seen[r->phase][step][r->layer][r->expert];
        if (*once)
            assert_int_equal(r->bytes, 0); // charged once
        else if (r->residency)
            s.hits[r->phase]++;
        else
            s.misses[r->phase]++;
        if (!*once && r->residency == 2) s.ahead[r->phase]++;
        *once = true;
    }
    return s;
}

static void trace_agrees_with(const struct talk *talk, size_t count, unsigned turn) {
    struct sums s = add_up(count, turn);
    const locum_stats *stats = &talk->stats;
    assert_int_equal(s.rows[0], stats->computed_tokens * LAYERS * USED);
    assert_int_equal(s.rows[1], stats->decode_steps * LAYERS * USED);
    assert_int_equal(s.hits[0], stats->hits_prefill);
    assert_int_equal(s.misses[0], stats->misses_prefill);
    assert_int_equal(s.hits[1], stats->hits_decode);
    assert_int_equal(s.misses[1], stats->misses_decode);
    // What one answer left unused in the pool the next prompt may use.
    assert_int_equal(s.ahead[0] + s.ahead[1], stats->read_ahead_used);
    assert_int_equal(s.bytes[0], (s.misses[0] + s.ahead[0]) * EXPERT_BYTES);
    assert_int_equal(s.bytes[1], (s.misses[1] + s.ahead[1]) * EXPERT_BYTES);
}

// Rows of one token in one layer: the chosen ones, strongest first, their weights a sum of 1.
static void rows_are_routings(size_t count) {
    assert_int_equal(count % USED, 0);
    for (size_t i = 0; i < count; i += USED) {
        double sum = 0;
        for (unsigned slot = 0; slot < USED; slot++) {
            const struct row *r = &rows[i + slot];
            assert_int_equal(r->slot, slot);
            assert_true(r->step == rows[i].step && r->layer == rows[i].layer);
            assert_true(r->layer < LAYERS && r->expert < EXPERTS);
            if (slot > 0) assert_true(r->weight <= rows[i + slot - 1].weight);
            sum += r->weight;
        }
        assert_true(sum > 0.9999 && sum < 1.0001);
    }
}

static void trace_agrees_with_statistics(void **state) {
    (void)state;
    uint64_t floor = house_floor(model_path, &options);
    const uint64_t budgets[] = {floor, floor + 150000, LOCUM_MEMORY_ALL};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        options.memory = budgets[i];
        house_open(&house, model_path, &options);
        for (int turn = 0; turn < 2; turn++) { // the second one meets a warm store
            locum_session *session = house_session(&house);
            talk_init(&talks[turn], prompt, turn ? 60 : PROMPT);
            talk_must(&talks[turn], session);
            locum_session_close(session);
        }
        assert_int_equal(access(trace_path, F_OK), -1); // whole or not at all
        house_close(&house);
        size_t count = parse(read_all(trace_path));
        assert_int_equal(count, (PROMPT + 39 + 60 + 39) * LAYERS * USED);
        rows_are_routings(count);
        trace_agrees_with(&talks[0], count, 0);
        trace_agrees_with(&talks[1], count, 1);
        if (options.memory == LOCUM_MEMORY_ALL)
            assert_int_equal(talks[1].stats.bytes_read, 0);
        else
            assert_true(talks[1].stats.bytes_read > 0);
        unlink(trace_path);
    }
}

// The routes are the model's own: whatever the budget, the same experts with the same weights.
static void routes_do_not_depend_on_the_budget(void **state) {
    (void)state;
    static struct row first[20000];
    size_t counts[2];
    for (int i = 0; i < 2; i++) {
        options.memory = i ? LOCUM_MEMORY_ALL : house_floor(model_path, &options);
        house_open(&house, model_path, &options);
        locum_session *session = house_session(&house);
        talk_init(&talks[0], prompt, PROMPT);
        talk_must(&talks[0], session);
        locum_session_close(session);
        house_close(&house);
        counts[i] = parse(read_all(trace_path));
        if (i == 0) memcpy(first, rows, sizeof rows);
    }
    assert_int_equal(counts[0], counts[1]);
    for (size_t i = 0; i < counts[0]; i++)
        assert_true(first[i].expert == rows[i].expert && first[i].weight == rows[i].weight);
}

static void places_that_cannot_be_written(void **state) {
    (void)state;
    options.trace_path = scratch_path("no-such-folder/trace.csv");
    assert_int_not_equal(house_try(&house, model_path, &options), LOCUM_OK);
    assert_non_null(strstr(house.error.text, "no-such-folder"));
    assert_null(house.model);
}

static bool never(void *user, locum_phase phase, uint64_t done, uint64_t total) {
    (void)user, (void)done, (void)total;
    return phase == LOCUM_PHASE_LOAD;
}

static void failed_opening_leaves_no_file(void **state) {
    (void)state;
    options.progress = never;
    assert_int_equal(house_try(&house, model_path, &options), LOCUM_E_CANCELLED);
    assert_int_equal(access(trace_path, F_OK), -1);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(trace_agrees_with_statistics),
        TEST(routes_do_not_depend_on_the_budget),
        TEST(places_that_cannot_be_written),
        TEST(failed_opening_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
