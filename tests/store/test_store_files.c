// SPDX-License-Identifier: Apache-2.0
//
// The store on real files: direct and buffered, io_uring and threads, with the faults of the fake
// disk around the system's own reads; what it allocates; what the system counts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "tests/platform/fake_disk.h"
#include "tests/platform/scratch.h"
#include "tests/store/driver.h"

enum { STEPS = 60, SEEDS = 12 };

// ---- allocations, counted where no sanitizer has taken malloc over ------------------------------

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { ALLOCATIONS_COUNTED = true };
static _Atomic uint64_t allocations;
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    allocations++;
    return __libc_realloc(memory, size);
}
#else
enum { ALLOCATIONS_COUNTED = false };
static _Atomic uint64_t allocations;
#endif

// ---- a model on disk ----------------------------------------------------------------------------

struct kind {
    bool direct, io_uring;
};
static const struct kind kinds[] = {{true, true}, {true, false}, {false, true}, {false, false}};

struct world {
    struct driver driver;
    struct fake_model model;
    struct fake_disk disk;
    struct platform_file *file[FAKE_FILES];
};
static struct world world;

static void write_model(void) {
    for (uint32_t i = 0; i < FAKE_FILES; i++) {
        uint8_t *bytes = heap_resize(NULL, world.model.file_bytes[i]);
        assert_non_null(bytes);
        fake_model_bytes(i, 0, bytes, world.model.file_bytes[i]);
        scratch_write(i == 0 ? "model-1.gguf" : "model-2.gguf", bytes, world.model.file_bytes[i]);
        heap_free(bytes);
    }
}

// A model from the seed on disk and its store. percent: of what holds everything, 0: the floor.
static void open_world(uint64_t seed, const struct kind *kind, uint32_t percent) {
    memset(&world, 0, sizeof world);
    world.driver = (struct driver){.random = {seed}, .model = &world.model, .held_most = 1};
    fake_model_draw(&world.model, &world.driver.random);
    write_model();
    fake_disk_init(&world.disk, NULL, 0);
    locum_error error;
    for (uint32_t i = 0; i < FAKE_FILES; i++) {
        const char *path = scratch_path("model-%u.gguf", i + 1);
        if (file_open(path, kind->direct, &world.disk.methods, &world.file[i], &error) != LOCUM_OK)
            fail_msg("%s", error.text);
        if (kind->direct && !file_is_direct(world.file[i]))
            print_message("SKIP direct reads: %s\n", file_buffered_reason(world.file[i]));
    }
    struct store_config *config = &world.model.config;
    config->files = world.file;
    config->io_uring = kind->io_uring;
    uint64_t floor, full;
    assert_int_equal(store_floor(config, 2, &floor, NULL), LOCUM_OK);
    assert_int_equal(store_full(config, &full, NULL), LOCUM_OK);
    config->slot_bytes = full / 100 * percent > floor ? full / 100 * percent : floor;
    if (percent == 100) config->slot_bytes = full;
    if (store_create(config, &world.driver.store, &error) != LOCUM_OK) fail_msg("%s", error.text);
    if (kind->io_uring && !strstr(store_io_name(world.driver.store), "io_uring"))
        print_message("SKIP reads by io_uring: %s\n", store_io_name(world.driver.store));
    world.disk.reads = 0; // those of the probe
}

static void close_world(void) {
    store_destroy(world.driver.store);
    for (uint32_t i = 0; i < FAKE_FILES; i++)
        file_close(world.file[i]);
    assert_int_equal(world.disk.opens, world.disk.closes);
}

static void run_steps(uint32_t steps) {
    for (uint32_t i = 0; i < steps; i++)
        driver_step(&world.driver, i);
}

static struct store_stats stats(void) {
    struct store_stats now;
    store_get_stats(world.driver.store, &now);
    return now;
}

#define EACH_KIND(kind) \
    for (const struct kind *kind = kinds; kind < kinds + sizeof kinds / sizeof *kinds; kind++)

// ---- tests --------------------------------------------------------------------------------------

static void test_right_bytes(void **state) {
    (void)state;
    static const uint32_t percents[] = {0, 30, 100};
    EACH_KIND(kind) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            open_world(seed, kind, percents[seed % 3]);
            if (seed == 1) print_message("%s\n", store_io_name(world.driver.store));
            run_steps(STEPS);
            if (!kind->io_uring) assert_int_equal(stats().reads, world.disk.reads);
            assert_int_equal(world.driver.failed, 0);
            close_world();
        }
    }
}

// While experts are missing several reads are out, each of a whole segment or of several that touch.
static void test_several_whole_reads_at_once(void **state) {
    (void)state;
    EACH_KIND(kind) {
        open_world(2, kind, 30);
        world.disk.delay_ns_max = 20000;
        run_steps(STEPS);
        struct store_stats seen = stats();
        uint64_t misses = seen.misses[STORE_PREFILL] + seen.misses[STORE_DECODE];
        print_message("%s: %llu misses by %llu reads, at most %u at once\n",
                      store_io_name(world.driver.store), (unsigned long long)misses,
                      (unsigned long long)seen.reads, seen.in_flight_most);
        assert_true(misses > 0 && seen.reads <= misses * STORE_SEGMENTS);
        assert_true(seen.bytes_read >= seen.bytes_wanted);
        assert_true(seen.in_flight_most > STORE_SEGMENTS); // of more than one expert
        assert_true(seen.reading_ns > 0 && seen.wait_ns > 0);
        close_world();
    }
}

// Short reads, interruptions and delays are nobody's business above the platform.
static void test_a_disk_in_pieces(void **state) {
    (void)state;
    EACH_KIND(kind) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            open_world(seed, kind, seed % 2 == 0 ? 0 : 50);
            world.disk.short_every = 3;
            world.disk.interrupt_every = 5;
            world.disk.delay_ns_max = 20000;
            run_steps(STEPS / 3);
            assert_int_equal(stats().retries, 0);
            close_world();
        }
    }
}

static void test_one_error_is_read_again(void **state) {
    (void)state;
    EACH_KIND(kind) {
        for (uint64_t n = 1; n <= 20; n++) {
            open_world(3, kind, 30);
            world.disk.fail_at = (size_t)n;
            run_steps(8);
            assert_true(world.disk.reads >= n);
            assert_int_equal(stats().retries, 1);
            close_world();
        }
    }
}

static void test_a_dead_disk_ends_steps_only(void **state) {
    (void)state;
    EACH_KIND(kind) {
        open_world(4, kind, 30);
        run_steps(4);
        world.disk.fail_from = 1;
        world.driver.may_fail = true;
        run_steps(STEPS);
        assert_true(world.driver.failed > STEPS / 4);
        world.disk.fail_from = 0;
        world.driver.may_fail = false;
        run_steps(STEPS);
        close_world();
    }
}

static void test_allocates_nothing_after_creation(void **state) {
    (void)state;
    if (!ALLOCATIONS_COUNTED) {
        print_message("SKIP allocations: a sanitizer owns malloc\n");
        skip();
    }
    EACH_KIND(kind) {
        open_world(5, kind, 30);
        run_steps(2); // what the C library keeps for itself
        uint64_t before = allocations;
        run_steps(STEPS);
        assert_int_equal(allocations - before, 0);
        close_world();
    }
    assert_true(allocations > 0);
}

// A number of /proc/self/io; -1 where there is none.
static int64_t system_counts(const char *name) {
    FILE *file = fopen("/proc/self/io", "r");
    char word[32];
    long long value, found = -1;
    while (file != NULL && fscanf(file, "%31s %lld", word, &value) == 2)
        if (strcmp(word, name) == 0) found = value;
    if (file != NULL) fclose(file);
    return found;
}

static void test_agrees_with_the_system(void **state) {
    (void)state;
    open_world(6, &(struct kind){.direct = true}, 50);
    int64_t before = system_counts("read_bytes:");
    if (before < 0 || strncmp(store_io_name(world.driver.store), "direct,", 7) != 0) {
        print_message("SKIP bytes from the device: no direct reads or no /proc/self/io\n");
        close_world();
        skip();
    }
    run_steps(STEPS);
    double seen = (double)(system_counts("read_bytes:") - before);
    double counted = (double)stats().bytes_read;
    print_message("the system read %.0f bytes, the store %.0f\n", seen, counted);
    assert_true(seen > counted * 0.99 && seen < counted * 1.01);
    close_world();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_bytes),
        cmocka_unit_test(test_several_whole_reads_at_once),
        cmocka_unit_test(test_a_disk_in_pieces),
        cmocka_unit_test(test_one_error_is_read_again),
        cmocka_unit_test(test_a_dead_disk_ends_steps_only),
        cmocka_unit_test(test_allocates_nothing_after_creation),
        cmocka_unit_test(test_agrees_with_the_system),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
