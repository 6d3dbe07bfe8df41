// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/memory.h"
#include "platform/vmem.h"

static void sizes_round_up_to_pages(void **state) {
    (void)state;
    size_t page = vmem_page_size(), out;
    assert_true(page >= 4096 && (page & (page - 1)) == 0);
    assert_true(vmem_round(0, &out) && out == 0);
    assert_true(vmem_round(1, &out) && out == page);
    assert_true(vmem_round(page, &out) && out == page);
    assert_true(vmem_round(page + 1, &out) && out == 2 * page);
    assert_false(vmem_round(SIZE_MAX, &out));
}

static void regions_are_aligned_zeroed_and_accounted(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 4096, 5000, 2 << 20, (2 << 20) + 1, 7 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct vmem region = {0};
        assert_int_equal(vmem_alloc(&region, sizes[i], NULL), LOCUM_OK);
        size_t align = sizes[i] >= VMEM_HUGE_PAGE ? VMEM_HUGE_PAGE : vmem_page_size();
        assert_int_equal((uintptr_t)region.data % align, 0);
        assert_true(region.bytes >= sizes[i] && region.bytes < sizes[i] + vmem_page_size());
        assert_int_equal(region.bytes_committed, region.bytes);
        for (size_t k = 0; k < region.bytes; k += 511)
            assert_int_equal(region.data[k], 0);
        memset(region.data, 1, region.bytes);
        vmem_release(&region);
        assert_null(region.data);
        assert_int_equal(region.bytes + region.bytes_committed, 0);
    }
    struct vmem nothing = {0};
    vmem_release(&nothing);
}

static void a_region_is_committed_piece_by_piece(void **state) {
    (void)state;
    struct vmem region = {0};
    size_t page = vmem_page_size();
    // More than the machine has: address space alone costs nothing.
    assert_int_equal(vmem_reserve(&region, (size_t)1 << 40, NULL), LOCUM_OK);
    assert_int_equal(region.bytes_committed, 0);
    assert_int_equal(vmem_commit(&region, page, NULL), LOCUM_OK);
    region.data[page - 1] = 5;
    assert_int_equal(vmem_commit(&region, 3 * page - 1, NULL), LOCUM_OK);
    assert_int_equal(region.bytes_committed, 3 * page);
    assert_int_equal(region.data[page - 1], 5);
    region.data[3 * page - 1] = 6;
    assert_int_equal(vmem_commit(&region, page, NULL), LOCUM_OK);
    assert_int_equal(region.bytes_committed, 3 * page);
    vmem_release(&region);
}

static void too_much_is_refused_with_the_size(void **state) {
    (void)state;
    struct vmem region = {0};
    locum_error error;
    assert_int_equal(vmem_alloc(&region, (size_t)1 << 62, &error), LOCUM_E_OUT_OF_MEMORY);
    assert_non_null(strstr(error.text, "4611686018427387904"));
    assert_null(region.data);
    assert_int_equal(vmem_alloc(&region, SIZE_MAX, &error), LOCUM_E_OUT_OF_MEMORY);
    struct vmem_guarded guarded;
    assert_int_equal(vmem_guarded_alloc(&guarded, SIZE_MAX - 4096, true, &error),
                     LOCUM_E_OUT_OF_MEMORY);
}

static void discarded_pages_are_zero_and_not_resident(void **state) {
    (void)state;
    size_t page = vmem_page_size(), bytes = 64 << 20;
    struct vmem region = {0};
    struct memory_process full, empty;
    assert_int_equal(vmem_alloc(&region, bytes, NULL), LOCUM_OK);
    memset(region.data, 9, bytes);
    assert_int_equal(memory_process_read(&full, NULL), LOCUM_OK);
    vmem_discard(&region, 1, bytes - 2); // whole pages inside only
    assert_int_equal(memory_process_read(&empty, NULL), LOCUM_OK);
    assert_int_equal(region.data[0], 9);
    assert_int_equal(region.data[page - 1], 9);
    assert_int_equal(region.data[page], 0);
    assert_int_equal(region.data[bytes - page - 1], 0);
    assert_int_equal(region.data[bytes - page], 9);
    assert_true(full.resident >= empty.resident + bytes - (1 << 20));
    vmem_discard(&region, 10, 100); // no whole page
    assert_int_equal(region.data[10], 9);
    vmem_release(&region);
}

static void huge_pages_change_no_byte(void **state) {
    (void)state;
    struct vmem region = {0};
    assert_int_equal(vmem_alloc(&region, 4 << 20, NULL), LOCUM_OK);
    if (!vmem_advise_huge(&region))
        print_message("SKIP huge pages: this system has none on request\n");
    memset(region.data, 3, region.bytes);
    assert_int_equal(region.data[region.bytes - 1], 3);
    vmem_release(&region);
}

// Does a child that reads this byte end by it?
static int reading_ends_the_process(const volatile uint8_t *byte) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); // cmocka's and the sanitizers' handlers would report and go on
        signal(SIGBUS, SIG_DFL);
        _exit(*byte == 77 ? 77 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status);
}

static void guard_pages_catch_the_first_byte_outside(void **state) {
    (void)state;
    struct vmem_guarded memory;
    size_t page = vmem_page_size();
    assert_int_equal(vmem_guarded_alloc(&memory, 1000, true, NULL), LOCUM_OK);
    memset(memory.data, 7, 1000);
    assert_false(reading_ends_the_process(memory.data + 999));
    assert_true(reading_ends_the_process(memory.data + 1000));
    vmem_guarded_release(&memory);
    assert_int_equal(vmem_guarded_alloc(&memory, 1000, false, NULL), LOCUM_OK);
    memset(memory.data, 7, 1000);
    assert_false(reading_ends_the_process(memory.data));
    assert_true(reading_ends_the_process(memory.data - 1));
    assert_true(reading_ends_the_process(memory.data + page));
    vmem_guarded_release(&memory);
    assert_int_equal(vmem_guarded_alloc(&memory, 0, true, NULL), LOCUM_OK);
    assert_true(reading_ends_the_process(memory.data));
    assert_true(reading_ends_the_process(memory.data - 1));
    vmem_guarded_release(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_round_up_to_pages),
        cmocka_unit_test(regions_are_aligned_zeroed_and_accounted),
        cmocka_unit_test(a_region_is_committed_piece_by_piece),
        cmocka_unit_test(too_much_is_refused_with_the_size),
        cmocka_unit_test(discarded_pages_are_zero_and_not_resident),
        cmocka_unit_test(huge_pages_change_no_byte),
        cmocka_unit_test(guard_pages_catch_the_first_byte_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
