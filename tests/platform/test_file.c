// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/memory.h"
#include "platform/vmem.h"
#include "tests/platform/fake_disk.h"
#include "tests/platform/scratch.h"

enum { SIZE = 5 * FILE_BLOCK + 1234 }; // ends inside a block

static unsigned char content[SIZE];
static struct vmem memory; // SIZE rounded up, aligned
static struct fake_disk disk;
static struct platform_file *file;
static locum_error error;

static int group_start(void **state) {
    scratch_fill(content, SIZE, 1);
    return scratch_create(state) != 0 || vmem_alloc(&memory, SIZE, NULL) != LOCUM_OK;
}

static int group_end(void **state) {
    vmem_release(&memory);
    return scratch_remove(state);
}

static void open_disk(bool direct) {
    assert_int_equal(file_open("fake", direct, &disk.methods, &file, &error), LOCUM_OK);
    atomic_store(&disk.reads, 0); // faults count from here
}

static void close_disk(void) {
    file_close(file);
    assert_int_equal(disk.opens, disk.closes);
}

static void assert_reads_all(void) {
    size_t got;
    memset(memory.data, 0, memory.bytes);
    assert_int_equal(file_read(file, memory.data, memory.bytes, 0, &got, &error), LOCUM_OK);
    assert_int_equal(got, SIZE);
    assert_memory_equal(memory.data, content, SIZE);
}

// ---- real files ---------------------------------------------------------------------------------

static void a_file_gives_its_bytes(void **state) {
    (void)state;
    const char *path = scratch_write("model.gguf", content, SIZE);
    size_t got;
    assert_int_equal(file_open(path, false, NULL, &file, &error), LOCUM_OK);
    assert_string_equal(file_path(file), path);
    assert_int_equal(file_size(file), SIZE);
    assert_false(file_is_direct(file));
    assert_null(file_buffered_reason(file));
    assert_reads_all();
    assert_int_equal(file_read(file, memory.data, 100, 1001, &got, &error), LOCUM_OK);
    assert_int_equal(got, 100);
    assert_memory_equal(memory.data, content + 1001, 100);
    assert_int_equal(file_read(file, memory.data, 100, SIZE - 7, &got, &error), LOCUM_OK);
    assert_int_equal(got, 7);
    assert_int_equal(file_read(file, memory.data, 100, SIZE + 1000, &got, &error), LOCUM_OK);
    assert_int_equal(got, 0);
    assert_int_equal(file_read(file, NULL, 0, 0, &got, &error), LOCUM_OK);
    file_close(file);
    file_close(NULL);
}

static void direct_reads_give_the_same_bytes(void **state) {
    (void)state;
    const char *path = scratch_write("model.gguf", content, SIZE);
    size_t got;
    assert_int_equal(file_open(path, true, NULL, &file, &error), LOCUM_OK);
    if (!file_is_direct(file)) {
        print_message("SKIP direct reads: %s\n", file_buffered_reason(file));
        file_close(file);
        skip();
    }
    assert_null(file_buffered_reason(file));
    assert_reads_all();
    assert_int_equal(file_read(file, memory.data, FILE_BLOCK, 5 * FILE_BLOCK, &got, &error),
                     LOCUM_OK);
    assert_int_equal(got, 1234);
    assert_memory_equal(memory.data, content + 5 * FILE_BLOCK, 1234);
    file_close(file);
    path = scratch_write("empty", "", 0);
    assert_int_equal(file_open(path, true, NULL, &file, &error), LOCUM_OK);
    assert_int_equal(file_read(file, memory.data, FILE_BLOCK, 0, &got, &error), LOCUM_OK);
    assert_int_equal(got, 0);
    file_close(file);
}

static void direct_reads_reach_the_device(void **state) {
    (void)state;
    enum { LARGE = 8 << 20 };
    struct memory_process before, after;
    struct vmem large = {0};
    size_t got;
    assert_int_equal(vmem_alloc(&large, LARGE, NULL), LOCUM_OK);
    scratch_fill(large.data, LARGE, 3);
    const char *path = scratch_write("large", large.data, LARGE);
    int descriptor = open(path, O_RDONLY);
    assert_int_equal(fsync(descriptor), 0);
    close(descriptor);
    assert_int_equal(file_open(path, true, NULL, &file, &error), LOCUM_OK);
    assert_int_equal(memory_process_read(&before, NULL), LOCUM_OK);
    assert_int_equal(file_read(file, large.data, LARGE, 0, &got, &error), LOCUM_OK);
    assert_int_equal(memory_process_read(&after, NULL), LOCUM_OK);
    bool direct = file_is_direct(file);
    file_close(file);
    vmem_release(&large);
    if (!direct || after.device_read_bytes == 0) {
        print_message("SKIP bytes from the device: no direct reads here, or the kernel counts none\n");
        skip();
    }
    assert_true(after.device_read_bytes >= before.device_read_bytes + LARGE);
}

static void files_in_memory_are_read_buffered(void **state) {
    (void)state;
    char path[] = "/dev/shm/locum-test-XXXXXX";
    struct statfs facts;
    if (statfs("/dev/shm", &facts) != 0 || facts.f_type != TMPFS_MAGIC) {
        print_message("SKIP files in memory: /dev/shm is no tmpfs here\n");
        skip();
    }
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, content, SIZE), SIZE);
    close(descriptor);
    assert_int_equal(file_open(path, true, NULL, &file, &error), LOCUM_OK);
    unlink(path);
    assert_false(file_is_direct(file));
    assert_non_null(file_buffered_reason(file));
    assert_reads_all();
    file_close(file);
}

static void offsets_have_64_bits(void **state) {
    (void)state;
    static const uint64_t offsets[] = {UINT64_C(3) << 30, UINT64_C(5) << 30, UINT64_C(2) << 40};
    const char *path = scratch_write("sparse", "", 0);
    int descriptor = open(path, O_WRONLY);
    for (int i = 0; i < 3; i++) {
        if (pwrite(descriptor, content + i * 100, 100, (off_t)offsets[i]) != 100) {
            print_message("SKIP far offsets: no file of 2 TiB in the build folder\n");
            close(descriptor);
            skip();
        }
    }
    close(descriptor);
    for (int direct = 0; direct < 2; direct++) {
        size_t got;
        assert_int_equal(file_open(path, direct, NULL, &file, &error), LOCUM_OK);
        assert_true(file_size(file) == offsets[2] + 100);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(file_read(file, memory.data, FILE_BLOCK, offsets[i], &got, &error),
                             LOCUM_OK);
            assert_memory_equal(memory.data, content + i * 100, 100);
        }
        file_close(file);
    }
    unlink(path);
}

static void awkward_names_are_only_names(void **state) {
    (void)state;
    static const char *const names[] = {
        "Загрузки/模型 \xe3\x80\x80x/ü.gguf",
        "-o.gguf",
        "a \"b\" 'c' $(d).gguf",
        " lead and trail ",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = scratch_write(names[i], content, SIZE);
        assert_int_equal(file_open(path, true, NULL, &file, &error), LOCUM_OK);
        assert_reads_all();
        file_close(file);
        const char *missing = scratch_path("%s.not", names[i]);
        assert_int_equal(file_open(missing, false, NULL, &file, &error), LOCUM_E_NOT_FOUND);
        assert_non_null(strstr(error.text, missing)); // the whole path
    }
}

static void what_is_no_file_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *words;
    } rows[] = {
        {"folder", "is a folder"},   {"pipe", "is a pipe or device"},
        {"missing", "No such file"}, {"plain/below", "Not a directory"},
        {"loop", "symbolic links"},
    };
    scratch_clear();
    assert_int_equal(mkdir(scratch_path("folder"), 0777), 0);
    assert_int_equal(mkfifo(scratch_path("pipe"), 0666), 0); // opening it must not hang
    assert_int_equal(symlink("loop", scratch_path("loop")), 0);
    scratch_text("plain", "x");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        file = (void *)&file;
        locum_status status =
            file_open(scratch_path("%s", rows[i].name), true, NULL, &file, &error);
        assert_int_equal(status, LOCUM_E_NOT_FOUND);
        assert_null(file);
        assert_non_null(strstr(error.text, rows[i].words));
    }
    assert_int_equal(file_open("/dev/null", false, NULL, &file, &error), LOCUM_E_NOT_FOUND);
    assert_int_equal(file_open("", false, NULL, &file, &error), LOCUM_E_NOT_FOUND);
}

static void a_file_without_permission_is_refused(void **state) {
    (void)state;
    const char *path = scratch_text("secret", "x");
    assert_int_equal(chmod(path, 0), 0);
    if (access(path, R_OK) == 0) {
        print_message("SKIP a file without permission: this user may read everything\n");
        skip();
    }
    assert_int_equal(file_open(path, false, NULL, &file, &error), LOCUM_E_NOT_FOUND);
    assert_non_null(strstr(error.text, "Permission denied"));
}

static void a_file_that_shrinks_ends_early(void **state) {
    (void)state;
    const char *path = scratch_write("shrinks", content, SIZE);
    size_t got;
    assert_int_equal(file_open(path, false, NULL, &file, &error), LOCUM_OK);
    assert_int_equal(truncate(path, 2000), 0);
    assert_int_equal(file_read(file, memory.data, SIZE, 0, &got, &error), LOCUM_OK);
    assert_int_equal(got, 2000);
    file_close(file);
}

// ---- faults -------------------------------------------------------------------------------------

static void short_and_interrupted_reads_go_on(void **state) {
    (void)state;
    for (int direct = 0; direct < 2; direct++) {
        for (size_t every = 1; every <= 3; every++) {
            fake_disk_init(&disk, content, SIZE);
            disk.direct_is_strict = true;
            open_disk(direct);
            assert_int_equal(file_is_direct(file), direct);
            disk.short_every = every;
            disk.interrupt_every = every + 2;
            for (int i = 0; i < 5; i++)
                assert_reads_all();
            assert_true(disk.reads > 5);
            close_disk();
        }
    }
}

static void endless_interruptions_end(void **state) {
    (void)state;
    size_t got;
    fake_disk_init(&disk, content, SIZE);
    open_disk(false);
    disk.interrupt_every = 1;
    assert_int_equal(file_read(file, memory.data, SIZE, 0, &got, &error), LOCUM_E_IO);
    assert_non_null(strstr(error.text, "Interrupted"));
    close_disk();
}

static void a_device_that_gives_broken_blocks_for_ever_ends(void **state) {
    (void)state;
    size_t got;
    fake_disk_init(&disk, content, SIZE);
    open_disk(true);
    disk.short_every = 1;
    disk.direct_is_strict = true;
    // 4096 bytes at a time, always cut: never one whole block.
    assert_int_equal(file_read(file, memory.data, FILE_BLOCK, 0, &got, &error), LOCUM_E_IO);
    assert_true(disk.reads < 10000);
    close_disk();
}

static void every_failing_read_names_file_and_offset(void **state) {
    (void)state;
    size_t got;
    for (size_t n = 1; n <= 4; n++) {
        fake_disk_init(&disk, content, SIZE);
        open_disk(false);
        disk.short_every = 2;
        disk.fail_at = n;
        locum_status status = file_read(file, memory.data, SIZE - 1000, 1000, &got, &error);
        if (atomic_load(&disk.reads) >= n) {
            assert_int_equal(status, LOCUM_E_IO);
            assert_string_equal(error.text,
                                "fake: reading 20714 bytes at offset 1000: Input/output error");
            assert_int_equal(got, 0);
        }
        disk.short_every = disk.fail_at = 0;
        assert_reads_all(); // the file is still usable
        close_disk();
    }
}

static void direct_faults_lead_to_buffered_reads_with_a_reason(void **state) {
    (void)state;
    static const struct {
        int open_number, read_number;
        bool lies;
        const char *reason;
    } rows[] = {
        {EINVAL, 0, false, "a direct open fails: Invalid argument"},
        {EOPNOTSUPP, 0, false, "a direct open fails: Operation not supported"},
        {0, EINVAL, false,
         "a direct read fails: Invalid argument"}, // exFAT, FUSE: only at the read
        {0, EIO, false, "a direct read fails: Input/output error"},
        {0, 0, true, "direct reads give other bytes than buffered ones"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake_disk_init(&disk, content, SIZE);
        disk.direct_open_number = rows[i].open_number;
        disk.direct_read_number = rows[i].read_number;
        disk.direct_lies = rows[i].lies;
        open_disk(true);
        assert_false(file_is_direct(file));
        assert_string_equal(file_buffered_reason(file), rows[i].reason);
        assert_reads_all();
        close_disk();
    }
}

// ---- paths --------------------------------------------------------------------------------------

static void looking_tells_files_from_folders(void **state) {
    (void)state;
    struct file_facts facts;
    scratch_clear();
    scratch_write("f", content, 1000);
    assert_int_equal(mkdir(scratch_path("d"), 0777), 0);
    assert_int_equal(symlink("f", scratch_path("l")), 0);
    assert_int_equal(file_look(scratch_path("f"), &facts, &error), LOCUM_OK);
    assert_true(facts.kind == FILE_REGULAR && facts.bytes == 1000);
    assert_true(facts.modified_ns > INT64_C(1600000000) * 1000000000);
    assert_int_equal(file_look(scratch_path("l"), &facts, &error), LOCUM_OK);
    assert_true(facts.kind == FILE_REGULAR && facts.bytes == 1000);
    assert_int_equal(file_look(scratch_path("d"), &facts, &error), LOCUM_OK);
    assert_int_equal(facts.kind, FILE_FOLDER);
    assert_int_equal(file_look("/dev/null", &facts, &error), LOCUM_OK);
    assert_int_equal(facts.kind, FILE_OTHER);
    assert_int_equal(file_look(scratch_path("gone"), &facts, &error), LOCUM_E_NOT_FOUND);
    assert_non_null(strstr(error.text, scratch_path("gone")));
}

static void a_folder_is_listed_in_order(void **state) {
    (void)state;
    struct arena arena;
    const char *const *names;
    size_t count;
    arena_init(&arena, 0);
    scratch_clear();
    assert_int_equal(file_list(scratch_path("."), &arena, &names, &count, &error), LOCUM_OK);
    assert_int_equal(count, 0);
    scratch_text("b.gguf", "");
    scratch_text("ä", "");
    scratch_text("a-00002-of-00010.gguf", "");
    scratch_text(".hidden", "");
    scratch_text("a-00001-of-00010.gguf", "");
    assert_int_equal(file_list(scratch_path("."), &arena, &names, &count, &error), LOCUM_OK);
    static const char *const sorted[] = {".hidden", "a-00001-of-00010.gguf",
                                         "a-00002-of-00010.gguf", "b.gguf", "ä"};
    assert_int_equal(count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(names[i], sorted[i]);
    assert_int_equal(file_list(scratch_path("gone"), &arena, &names, &count, &error),
                     LOCUM_E_NOT_FOUND);
    assert_int_equal(file_list(scratch_path("ä"), &arena, &names, &count, &error),
                     LOCUM_E_NOT_FOUND);
    arena_release(&arena);
    arena_init(&arena, 10); // no room for anything
    assert_int_equal(file_list(scratch_path("."), &arena, &names, &count, &error),
                     LOCUM_E_OUT_OF_MEMORY);
    arena_release(&arena);
}

static void a_small_file_is_read_whole(void **state) {
    (void)state;
    struct arena arena;
    struct slice text;
    arena_init(&arena, 0);
    scratch_text("small", "five!");
    assert_int_equal(file_read_whole(scratch_path("small"), 5, &arena, &text, &error), LOCUM_OK);
    assert_true(slice_is(text, "five!"));
    assert_int_equal(file_read_whole(scratch_path("small"), 4, &arena, &text, &error),
                     LOCUM_E_FORMAT);
    assert_non_null(strstr(error.text, "small has 5 bytes; the limit is 4"));
    assert_int_equal(text.size, 0);
    scratch_text("small", "");
    assert_int_equal(file_read_whole(scratch_path("small"), 0, &arena, &text, &error), LOCUM_OK);
    assert_int_equal(text.size, 0);
    assert_int_equal(file_read_whole(scratch_path("gone"), 5, &arena, &text, &error),
                     LOCUM_E_NOT_FOUND);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_gives_its_bytes),
        cmocka_unit_test(direct_reads_give_the_same_bytes),
        cmocka_unit_test(direct_reads_reach_the_device),
        cmocka_unit_test(files_in_memory_are_read_buffered),
        cmocka_unit_test(offsets_have_64_bits),
        cmocka_unit_test(awkward_names_are_only_names),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_file_without_permission_is_refused),
        cmocka_unit_test(a_file_that_shrinks_ends_early),
        cmocka_unit_test(short_and_interrupted_reads_go_on),
        cmocka_unit_test(endless_interruptions_end),
        cmocka_unit_test(a_device_that_gives_broken_blocks_for_ever_ends),
        cmocka_unit_test(every_failing_read_names_file_and_offset),
        cmocka_unit_test(direct_faults_lead_to_buffered_reads_with_a_reason),
        cmocka_unit_test(looking_tells_files_from_folders),
        cmocka_unit_test(a_folder_is_listed_in_order),
        cmocka_unit_test(a_small_file_is_read_whole),
    };
    return cmocka_run_group_tests(tests, group_start, group_end);
}
