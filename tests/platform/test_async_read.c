// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "platform/async_read.h"
#include "platform/clock.h"
#include "platform/vmem.h"
#include "tests/platform/fake_disk.h"
#include "tests/platform/scratch.h"

enum {
    BLOCKS = 300,
    SIZE = BLOCKS * FILE_BLOCK + 777,
    PIECE_MAX = 16 * FILE_BLOCK, // bytes of one read
    DEPTH_MAX = 64,
};

static struct vmem content; // SIZE rounded up
static struct vmem buffers; // DEPTH_MAX pieces
static char real_path[4096];
static struct fake_disk disk;
static locum_error error;

static int group_start(void **state) {
    if (scratch_create(state) != 0 || vmem_alloc(&content, SIZE, NULL) != LOCUM_OK ||
        vmem_alloc(&buffers, (size_t)DEPTH_MAX * PIECE_MAX, NULL) != LOCUM_OK)
        return 1;
    scratch_fill(content.data, SIZE, 9);
    snprintf(real_path, sizeof real_path, "%s", scratch_write("model.gguf", content.data, SIZE));
    return 0;
}

static int group_end(void **state) {
    vmem_release(&content);
    vmem_release(&buffers);
    return scratch_remove(state);
}

// Every test runs with each kind. Both read the real file, through a fake disk that adds faults.
static struct async_read *create(enum async_read_kind kind, uint32_t depth) {
    struct async_read *queue;
    locum_status status = async_read_create(kind, depth, &queue, &error);
    if (kind == ASYNC_READ_URING && status == LOCUM_E_UNSUPPORTED) {
        print_message("SKIP io_uring: %s\n", error.text);
        skip();
    }
    assert_int_equal(status, LOCUM_OK);
    return queue;
}

static struct platform_file *open_real(bool direct) {
    struct platform_file *file;
    fake_disk_init(&disk, NULL, 0);
    assert_int_equal(file_open(real_path, direct, &disk.methods, &file, &error), LOCUM_OK);
    atomic_store(&disk.reads, 0);
    return file;
}

static void close_real(struct platform_file *file) {
    file_close(file);
    assert_int_equal(disk.opens, disk.closes);
}

static uint8_t *buffer_of(uint64_t tag) {
    return buffers.data + tag % DEPTH_MAX * PIECE_MAX;
}

// Read number i of a scenario: somewhere in the file, sometimes across its end.
static uint64_t offset_of(uint32_t i) {
    return (uint64_t)(i * 7919u % (BLOCKS + 1)) * FILE_BLOCK;
}
static size_t bytes_of(uint32_t i) {
    return (size_t)(1 + i * 31 % 16) * FILE_BLOCK;
}

static void check_done(const struct async_read_done *done, uint32_t i) {
    size_t expected = bytes_of(i);
    if (offset_of(i) + expected > SIZE) expected = (size_t)(SIZE - offset_of(i));
    assert_int_equal(done->status, LOCUM_OK);
    assert_int_equal(done->bytes, expected);
    assert_int_equal(done->offset, offset_of(i));
    assert_int_equal(done->bytes_wanted, bytes_of(i));
    assert_memory_equal(buffer_of(done->tag), content.data + offset_of(i), expected);
}

// `count` reads with the queue kept full; buffers are taken again as soon as they are free.
static void run_scenario(struct async_read *queue, const struct platform_file *file, uint32_t depth,
                         uint32_t count) {
    uint32_t submitted = 0, taken = 0, read_in[DEPTH_MAX];
    uint8_t busy[DEPTH_MAX] = {0};
    while (taken < count) {
        for (uint32_t k = 0; k < depth && submitted < count; k++) {
            if (busy[k]) continue;
            memset(buffer_of(k), 0xee, bytes_of(submitted));
            assert_true(async_read_submit(queue, file, buffer_of(k), bytes_of(submitted),
                                          offset_of(submitted), k));
            busy[k] = 1;
            read_in[k] = submitted++;
        }
        assert_int_equal(async_read_out(queue), submitted - taken);
        struct async_read_done done[5];
        size_t got = async_read_wait(queue, done, 1 + submitted % 5, ASYNC_READ_FOREVER);
        assert_true(got >= 1 && got <= 1 + submitted % 5);
        for (size_t i = 0; i < got; i++) {
            assert_true(busy[done[i].tag]); // each comes once
            check_done(&done[i], read_in[done[i].tag]);
            busy[done[i].tag] = 0;
            taken++;
        }
    }
    assert_int_equal(async_read_out(queue), 0);
}

static void same_bytes(enum async_read_kind kind, bool direct) {
    static const uint32_t depths[] = {1, 2, 7, DEPTH_MAX};
    struct platform_file *file = open_real(direct);
    if (direct && !file_is_direct(file))
        print_message("SKIP direct reads: %s\n", file_buffered_reason(file));
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        struct async_read_stats stats;
        struct async_read *queue = create(kind, depths[i]);
        run_scenario(queue, file, depths[i], 200);
        async_read_get_stats(queue, &stats);
        assert_int_equal(stats.reads, 200);
        assert_int_equal(stats.out_max, depths[i]);
        assert_int_equal(stats.resubmits, 0);
        assert_true(stats.bytes > 100 * FILE_BLOCK && stats.busy_ns > 0);
        async_read_destroy(queue);
    }
    close_real(file);
}

static void threads_read_the_same_bytes(void **state) {
    (void)state;
    same_bytes(ASYNC_READ_THREADS, false);
    same_bytes(ASYNC_READ_THREADS, true);
}

static void uring_reads_the_same_bytes(void **state) {
    (void)state;
    same_bytes(ASYNC_READ_URING, false);
    same_bytes(ASYNC_READ_URING, true);
}

static void partial(enum async_read_kind kind, bool direct) {
    struct async_read *queue = create(kind, 8);
    struct platform_file *file = open_real(direct);
    struct async_read_stats stats;
    disk.short_every = 3;
    disk.interrupt_every = 5;
    run_scenario(queue, file, 8, 200);
    async_read_get_stats(queue, &stats);
    assert_true(stats.resubmits >= 60);
    async_read_destroy(queue);
    close_real(file);
}

static void threads_continue_partial_reads(void **state) {
    (void)state;
    partial(ASYNC_READ_THREADS, false);
    partial(ASYNC_READ_THREADS, true);
}

static void uring_continues_partial_reads(void **state) {
    (void)state;
    partial(ASYNC_READ_URING, false);
    partial(ASYNC_READ_URING, true);
}

// The n-th read fails: exactly one completion says so, and the others are right.
static void nth_failure(enum async_read_kind kind) {
    for (size_t n = 1; n <= 12; n++) {
        struct async_read *queue = create(kind, 4);
        struct platform_file *file = open_real(false);
        struct async_read_done done[4];
        uint32_t failed = 0;
        disk.fail_at = n;
        for (uint32_t i = 0; i < 12; i++) {
            assert_true(async_read_submit(queue, file, buffer_of(i), bytes_of(i), offset_of(i), i));
            if (i % 4 != 3) continue;
            for (size_t got = 0; got < 4;)
                got += async_read_wait(queue, done + got, 4 - got, ASYNC_READ_FOREVER);
            for (int k = 0; k < 4; k++) {
                if (done[k].status == LOCUM_OK) {
                    check_done(&done[k], (uint32_t)done[k].tag);
                    continue;
                }
                failed++;
                assert_int_equal(done[k].system_error, EIO);
                assert_int_equal(async_read_failed(&done[k], &error), LOCUM_E_IO);
                assert_non_null(strstr(error.text, real_path));
                assert_non_null(strstr(error.text, "at offset"));
                assert_non_null(strstr(error.text, "Input/output error"));
            }
        }
        assert_int_equal(failed, 1);
        async_read_destroy(queue);
        close_real(file);
    }
}

static void threads_report_the_failing_read_only(void **state) {
    (void)state;
    nth_failure(ASYNC_READ_THREADS);
}

static void uring_reports_the_failing_read_only(void **state) {
    (void)state;
    nth_failure(ASYNC_READ_URING);
}

static void bounds(enum async_read_kind kind) {
    struct async_read *queue = create(kind, 2);
    struct platform_file *file = open_real(false);
    struct async_read_done done[4];
    assert_int_equal(async_read_wait(queue, done, 4, ASYNC_READ_FOREVER), 0); // nothing is out
    for (uint32_t i = 0; i < 2; i++)
        assert_true(async_read_submit(queue, file, buffer_of(i), bytes_of(i), offset_of(i), i));
    assert_false(async_read_submit(queue, file, buffer_of(2), bytes_of(2), offset_of(2), 2));
    assert_int_equal(async_read_wait(queue, done, 0, ASYNC_READ_FOREVER), 0);
    size_t got = 0;
    while (got < 2)
        got += async_read_wait(queue, done + got, 4 - got, 1000000); // with a timeout
    assert_int_equal(async_read_wait(queue, done, 4, 0), 0);
    assert_true(done[0].tag != done[1].tag && done[0].latency_ns > 0);
    for (int i = 0; i < 2; i++)
        check_done(&done[i], (uint32_t)done[i].tag);
    // Wholly behind the end: no bytes, no error.
    uint64_t behind = (uint64_t)(BLOCKS + 5) * FILE_BLOCK;
    assert_true(async_read_submit(queue, file, buffer_of(0), FILE_BLOCK, behind, 7));
    assert_int_equal(async_read_wait(queue, done, 4, ASYNC_READ_FOREVER), 1);
    assert_int_equal(done[0].status, LOCUM_OK);
    assert_int_equal(done[0].bytes, 0);
    assert_int_equal(async_read_failed(&done[0], &error), LOCUM_OK);
    async_read_destroy(queue);
    close_real(file);
}

static void threads_keep_their_bounds(void **state) {
    (void)state;
    bounds(ASYNC_READ_THREADS);
}

static void uring_keeps_its_bounds(void **state) {
    (void)state;
    bounds(ASYNC_READ_URING);
}

static void destroying_waits(enum async_read_kind kind) {
    for (int round = 0; round < 10; round++) {
        struct async_read *queue = create(kind, 16);
        struct platform_file *file = open_real(round % 2);
        disk.delay_ns_max = 2000000;
        for (uint32_t i = 0; i < 16; i++)
            assert_true(async_read_submit(queue, file, buffer_of(i), bytes_of(i), offset_of(i), i));
        async_read_destroy(queue);
        memset(buffers.data, round, buffers.bytes); // nobody else writes there any more
        close_real(file);
        for (size_t i = 0; i < buffers.bytes; i += 997)
            assert_int_equal(buffers.data[i], round);
    }
}

static void threads_are_waited_for(void **state) {
    (void)state;
    destroying_waits(ASYNC_READ_THREADS);
}

static void uring_is_waited_for(void **state) {
    (void)state;
    destroying_waits(ASYNC_READ_URING);
}

static void slow_reads_let_waiting_give_up(void **state) {
    (void)state;
    struct async_read *queue = create(ASYNC_READ_THREADS, 1);
    struct platform_file *file = open_real(false);
    struct async_read_done done;
    disk.delay_ns_max = 1000000000; // the first read takes 0.65 of it
    uint64_t start = clock_now_ns();
    assert_true(async_read_submit(queue, file, buffer_of(0), bytes_of(0), offset_of(0), 0));
    assert_int_equal(async_read_wait(queue, &done, 1, 0), 0);
    assert_int_equal(async_read_wait(queue, &done, 1, 5000000), 0);
    assert_true(clock_now_ns() - start >= 5000000);
    assert_int_equal(async_read_wait(queue, &done, 1, ASYNC_READ_FOREVER), 1);
    check_done(&done, 0);
    assert_true(done.latency_ns >= 600000000);
    struct async_read_stats stats;
    async_read_get_stats(queue, &stats);
    assert_true(stats.busy_ns >= 600000000);
    async_read_destroy(queue);
    close_real(file);
}

static void reads_with_random_delays_arrive_in_any_order_and_right(void **state) {
    (void)state;
    struct async_read *queue = create(ASYNC_READ_THREADS, 16);
    struct platform_file *file = open_real(false);
    disk.delay_ns_max = 500000;
    disk.short_every = 4;
    run_scenario(queue, file, 16, 300);
    async_read_destroy(queue);
    close_real(file);
}

static void the_automatic_choice_says_what_it_is(void **state) {
    (void)state;
    struct async_read *queue = create(ASYNC_READ_AUTO, 4);
    struct async_read *uring;
    struct platform_file *file = open_real(true);
    run_scenario(queue, file, 4, 50);
    if (async_read_create(ASYNC_READ_URING, 4, &uring, &error) == LOCUM_OK) {
        assert_string_equal(async_read_name(queue), "io_uring");
        assert_null(async_read_fallback_reason(queue));
        async_read_destroy(uring);
    } else {
        assert_string_equal(async_read_name(queue), "threads");
        assert_string_equal(async_read_fallback_reason(queue), error.text);
        assert_null(uring);
    }
    async_read_destroy(queue);
    async_read_destroy(NULL);
    close_real(file);
}

// The last test: what it takes away does not come back. Containers often refuse io_uring in this
// way.
static void a_kernel_that_refuses_uring_is_named(void **state) {
    (void)state;
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = 4, .filter = program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        print_message("SKIP io_uring is forbidden: no filter for system calls here\n");
        skip();
    }
    struct async_read *queue;
    assert_int_equal(async_read_create(ASYNC_READ_URING, 4, &queue, &error), LOCUM_E_UNSUPPORTED);
    assert_null(queue);
    queue = create(ASYNC_READ_AUTO, 4);
    assert_string_equal(async_read_name(queue), "threads");
    assert_string_equal(async_read_fallback_reason(queue), error.text);
    struct platform_file *file = open_real(true);
    run_scenario(queue, file, 4, 50);
    async_read_destroy(queue);
    close_real(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_read_the_same_bytes),
        cmocka_unit_test(uring_reads_the_same_bytes),
        cmocka_unit_test(threads_continue_partial_reads),
        cmocka_unit_test(uring_continues_partial_reads),
        cmocka_unit_test(threads_report_the_failing_read_only),
        cmocka_unit_test(uring_reports_the_failing_read_only),
        cmocka_unit_test(threads_keep_their_bounds),
        cmocka_unit_test(uring_keeps_its_bounds),
        cmocka_unit_test(threads_are_waited_for),
        cmocka_unit_test(uring_is_waited_for),
        cmocka_unit_test(slow_reads_let_waiting_give_up),
        cmocka_unit_test(reads_with_random_delays_arrive_in_any_order_and_right),
        cmocka_unit_test(the_automatic_choice_says_what_it_is),
        cmocka_unit_test(a_kernel_that_refuses_uring_is_named), // last
    };
    return cmocka_run_group_tests(tests, group_start, group_end);
}
