// SPDX-License-Identifier: Apache-2.0
//
// Metrics and the trace of reads, read back: their rows add up to the statistics of the request, and to
// what the system counts.
#include "tests/engine/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/memory.h"
#include "tests/platform/scratch.h"

enum { PROMPT = 100, CHUNK = 16, ANSWER = 40, LINES = 4000, COLUMNS = 20 };

static struct house house;
static locum_options options;
static locum_token prompt[PROMPT];
static struct talk talk;
static double rows[LINES][COLUMNS];
static char header[512];

static size_t parse(const char *path) {
    char line[1024];
    size_t count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    header[0] = '\0';
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        if (header[0] == '\0') {
            snprintf(header, sizeof header, "%.*s", (int)strcspn(line, "\n"), line);
            continue;
        }
        assert_true(count < LINES);
        char *at = line;
        for (size_t i = 0; i < COLUMNS && *at; i++) {
            rows[count][i] = strtod(at, &at);
            at += *at == ',';
        }
        count++;
    }
    fclose(file);
    return count;
}

static size_t column(const char *name) {
    size_t at = 0;
    for (const char *p = header; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
        if (strncmp(p, name, strlen(name)) == 0 && strcspn(p, ",") == strlen(name)) return at;
        at++;
    }
    fail_msg("no column %s in %s", name, header);
    return 0;
}

static double sum(const char *name, size_t count) {
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += rows[i][column(name)];
    return total;
}

// Answers with the least budget; gives what the system says that this process read meanwhile.
static uint64_t answer(const char *model_path) {
    locum_options_init(&options);
    options.threads = 2;
    options.chunk = CHUNK;
    options.memory = house_floor(model_path, &options);
    options.metrics_path = scratch_path("metrics.csv");
    options.io_trace_path = scratch_path("io.csv");
    unlink(options.metrics_path);
    unlink(options.io_trace_path);
    talk_text(1, 320, prompt, PROMPT);
    talk_init(&talk, prompt, PROMPT);
    talk.request.predict = ANSWER;
    house_open(&house, model_path, &options);
    locum_session *session = house_session(&house);
    struct memory_process before, after;
    assert_int_equal(memory_process_read(&before, NULL), LOCUM_OK);
    talk_must(&talk, session);
    assert_int_equal(memory_process_read(&after, NULL), LOCUM_OK);
    locum_session_close(session);
    assert_int_equal(access(options.metrics_path, F_OK), -1); // whole or not at all
    house_close(&house);
    return after.device_read_bytes - before.device_read_bytes;
}

static const char *save_model(void) {
    struct toy_spec spec = toy_spec_of("qwen3moe");
    static char path[4096];
    snprintf(path, sizeof path, "%s", talk_save(&spec));
    return path;
}

static void metrics_add_up_to_the_statistics(void **state) {
    (void)state;
    answer(save_model());
    const locum_stats *s = &talk.stats;
    size_t count = parse(options.metrics_path);
    assert_int_equal(count, (PROMPT + CHUNK - 1) / CHUNK + ANSWER - 1);
    assert_int_equal((uint64_t)sum("tokens", count), PROMPT + ANSWER - 1);
    assert_int_equal((uint64_t)sum("read_bytes", count), s->bytes_read);
    assert_int_equal((uint64_t)sum("hits", count), s->hits_prefill + s->hits_decode);
    assert_int_equal((uint64_t)sum("misses", count), s->misses_prefill + s->misses_decode);
    assert_int_equal((uint64_t)sum("evictions", count), s->evictions);
    assert_int_equal((uint64_t)sum("ahead", count), s->read_ahead);
    assert_int_equal((uint64_t)sum("ahead_used", count), s->read_ahead_used);
    double seconds = sum("wall_ms", count) * 1e-3;
    assert_true(seconds > 0 && seconds <= s->prefill_s + s->decode_s);
    assert_true(sum("stall_ms", count) * 1e-3 <= s->io_wait_s + 1e-3);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i][column("phase")], rows[i][column("step")] >= PROMPT);
        assert_true(rows[i][column("rss_mib")] > 0);
        assert_true(rows[i][column("cache_mib")] <= rows[i][column("cache_budget_mib")]);
    }
}

static void the_trace_has_every_read(void **state) {
    (void)state;
    uint64_t counted = answer(save_model());
    const locum_stats *s = &talk.stats;
    size_t count = parse(options.io_trace_path);
    assert_int_equal(count, s->reads);
    assert_int_equal((uint64_t)sum("read_bytes", count), s->bytes_read);
    assert_true(sum("req_bytes", count) >= sum("read_bytes", count));
    double ahead = sum("spec", count); // those that no step had asked for when they ended
    assert_true(s->read_ahead > 0 && ahead <= 3 * (double)s->read_ahead);
    for (size_t i = 0; i < count; i++)
        assert_true(rows[i][column("latency_ns")] > 0 && rows[i][column("proj")] < 3);
    if (counted == 0) {
        print_message("SKIP reads against the system's count: it counts none on this file system\n");
        return;
    }
    assert_in_range(counted, s->bytes_read - s->bytes_read / 100,
                    s->bytes_read + s->bytes_read / 100);
}

static void places_that_cannot_be_written(void **state) {
    (void)state;
    const char *path = save_model();
    const char *nowhere = scratch_path("no-such-folder/file.csv");
    for (int i = 0; i < 2; i++) {
        locum_options_init(&options);
        options.memory = LOCUM_MEMORY_ALL;
        *(i ? &options.io_trace_path : &options.metrics_path) = nowhere;
        assert_int_not_equal(house_try(&house, path, &options), LOCUM_OK);
        assert_non_null(strstr(house.error.text, "no-such-folder"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_add_up_to_the_statistics),
        cmocka_unit_test(the_trace_has_every_read),
        cmocka_unit_test(places_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
