// SPDX-License-Identifier: Apache-2.0
//
// What it costs to open a header: a real vocabulary's size, and small files that ask for much.
// Memory is asserted; times are printed only.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/gguf/fixture.h"
#include "tests/platform/scratch.h"

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Peak resident memory of this process since it began.
static uint64_t peak_bytes(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)usage.ru_maxrss << 10;
}

struct cost {
    locum_status status;
    uint64_t before, peak; // resident
    uint64_t held;         // by the open file
    double seconds;
};

// Opens a path in a process of its own, whose peak nothing else has raised.
static struct cost cost_of(const char *path) {
    struct cost cost;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct gguf_file *file;
        double start = seconds();
        cost = (struct cost){.before = peak_bytes()};
        cost.status = gguf_file_open(path, &file, NULL);
        cost.seconds = seconds() - start;
        cost.peak = peak_bytes();
        cost.held = cost.status == LOCUM_OK ? gguf_file_memory(file) : 0;
        _exit(write(ends[1], &cost, sizeof cost) != sizeof cost);
    }
    int status;
    assert_int_equal(read(ends[0], &cost, sizeof cost), sizeof cost);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(ends[1]);
    return cost;
}

// Sanitizers keep freed memory and shadow it: what they add is not ours.
static bool peak_is_ours(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("SKIP peak of memory: it is not judged under a sanitizer\n");
    return false;
#else
    return true;
#endif
}

// 250,000 tokens with scores and types, 500,000 merges: somewhat above the largest vocabularies in
// use.
static size_t write_vocabulary(const char *path) {
    enum { TOKENS = 250000, MERGES = 500000 };
    struct slice *texts = malloc(MERGES * sizeof *texts);
    char *letters = malloc(MERGES * 16), *numbers = calloc(TOKENS, 4);
    assert_true(texts && letters && numbers);
    for (size_t i = 0; i < MERGES; i++) {
        int size = snprintf(letters + 16 * i, 16, "tok%zu en", i);
        texts[i] = slice_make(letters + 16 * i, (size_t)size);
    }
    struct buffer bytes = {0};
    struct gguf_value value = {.element = GGUF_F32, .is_array = true, .count = TOKENS};
    value.bytes = slice_make(numbers, (size_t)TOKENS * 4);
    struct gguf_writer *writer = gguf_writer_create(0);
    gguf_writer_add_strings(writer, "tokenizer.ggml.tokens", texts, TOKENS);
    gguf_writer_add_value(writer, "tokenizer.ggml.scores", &value);
    value.element = GGUF_I32;
    gguf_writer_add_value(writer, "tokenizer.ggml.token_type", &value);
    gguf_writer_add_strings(writer, "tokenizer.ggml.merges", texts, MERGES);
    assert_int_equal(gguf_writer_begin(writer, gguf_writer_to_buffer(&bytes), NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_end(writer, NULL), LOCUM_OK);
    gguf_writer_close(writer);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    assert_int_equal(fclose(file), 0);
    size_t size = bytes.size;
    buffer_release(&bytes);
    free(texts);
    free(letters);
    free(numbers);
    return size;
}

static void test_large_vocabulary(void **state) {
    (void)state;
    const char *path = scratch_path("vocabulary.gguf");
    size_t size = write_vocabulary(path);
    struct cost cost = cost_of(path);
    assert_int_equal(cost.status, LOCUM_OK);
    print_message("header of %.1f MB, 250,000 tokens, 500,000 merges: %.0f ms, holds %.1f MB, peak "
                  "+%.1f MB\n",
                  (double)size * 1e-6, cost.seconds * 1e3, (double)cost.held * 1e-6,
                  (double)(cost.peak - cost.before) * 1e-6);
    assert_true(cost.held < size + size / 32); // the header and little more
    if (peak_is_ours()) assert_true(cost.peak - cost.before < 2 * size + (8 << 20));
}

// Files of about 200 bytes whose counts, lengths and offsets ask for the most.
static void test_small_hostile_files(void **state) {
    (void)state;
    static const uint64_t asked[] = {1000,
                                     65536,
                                     1 << 20,
                                     UINT64_C(1) << 30,
                                     (UINT64_C(1) << 31) - 1,
                                     UINT64_C(1) << 40,
                                     INT64_MAX,
                                     UINT64_MAX};
    uint64_t worst = 0;
    for (size_t i = 0; i < 8 * sizeof asked / sizeof asked[0]; i++) {
        uint64_t n = asked[i / 8];
        struct buffer bytes = {0};
        bool counts = i % 8 < 2;
        raw_start(&bytes, 3, i % 8 == 0 ? n : i % 8 == 7, i % 8 == 1 ? n : i % 8 != 7);
        if (i % 8 == 7) {
            raw_tensor(&bytes, "w", 2, (const uint64_t[]){n, n}, DTYPE_I8, 0);
        } else if (i % 8 == 2) {
            raw_u64(&bytes, n); // a key of n bytes
        } else if (!counts) {
            raw_text(&bytes, "key");
            raw_u32(&bytes, i % 8 == 3 ? GGUF_STRING : GGUF_ARRAY);
            static const uint32_t elements[] = {GGUF_U8, GGUF_STRING, GGUF_F64};
            if (i % 8 > 3) raw_u32(&bytes, elements[i % 8 - 4]);
            raw_u64(&bytes, n);
        }
        raw_zeros(&bytes, 200 - bytes.size);
        struct cost cost = cost_of(scratch_write("small.gguf", bytes.data, bytes.size));
        buffer_release(&bytes);
        assert_int_not_equal(cost.status, LOCUM_OK);
        if (cost.peak - cost.before > worst) worst = cost.peak - cost.before;
    }
    print_message("hostile files of 200 bytes: peak +%.1f MB\n", (double)worst * 1e-6);
    if (peak_is_ours()) assert_true(worst < 50 * 1000 * 1000);
}

// A table of tensors as large as an expert each makes it, and in the worst order for the sort.
static void test_many_tensors(void **state) {
    (void)state;
    enum { N = 200000 };
    struct buffer bytes = {0};
    raw_start(&bytes, 3, N, 0);
    for (uint32_t i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", i);
        raw_tensor(&bytes, name, 0, NULL, DTYPE_F32, (uint64_t)(N - 1 - i) * 32); // backwards
    }
    raw_pad(&bytes, 32);
    raw_zeros(&bytes, (size_t)N * 32);
    struct cost cost = cost_of(scratch_write("many.gguf", bytes.data, bytes.size));
    assert_int_equal(cost.status, LOCUM_OK);
    print_message("%d tensors: %.0f ms, holds %.1f MB\n", N, cost.seconds * 1e3,
                  (double)cost.held * 1e-6);
    assert_true(cost.held < (uint64_t)N * 400);
    buffer_release(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_hostile_files),
        cmocka_unit_test(test_large_vocabulary),
        cmocka_unit_test(test_many_tensors),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
