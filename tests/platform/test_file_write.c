// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/file_write.h"
#include "tests/platform/scratch.h"

static struct file_write *writer;
static locum_error error;

static void assert_content(const char *path, const void *data, size_t bytes) {
    unsigned char *got = test_malloc(bytes + 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(got, 1, bytes + 1, file), bytes);
    fclose(file);
    assert_memory_equal(got, data, bytes);
    test_free(got);
}

static void assert_names(size_t expected) {
    struct arena arena;
    const char *const *names;
    size_t count;
    arena_init(&arena, 0);
    assert_int_equal(file_list(scratch_path("."), &arena, &names, &count, NULL), LOCUM_OK);
    assert_int_equal(count, expected);
    arena_release(&arena);
}

static void a_file_appears_whole(void **state) {
    (void)state;
    enum { SIZE = 300000 };
    unsigned char *data = test_malloc(SIZE);
    scratch_fill(data, SIZE, 5);
    scratch_clear();
    const char *path = scratch_path("new.gguf");
    assert_int_equal(file_write_open(path, &writer, &error), LOCUM_OK);
    size_t at = 0; // pieces below, at and above the size of the buffer
    static const size_t pieces[] = {1, 0, 1000, 65536, 65535, 100000, 3, 67925};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        assert_int_equal(file_write_bytes(writer, data + at, pieces[i], &error), LOCUM_OK);
        at += pieces[i];
        assert_int_equal(access(path, F_OK), -1);
    }
    assert_int_equal(at, SIZE);
    assert_int_equal(file_write_commit(writer, &error), LOCUM_OK);
    assert_content(path, data, SIZE);
    assert_names(1);
    test_free(data);
}

static void a_cancelled_file_leaves_nothing(void **state) {
    (void)state;
    scratch_clear();
    assert_int_equal(file_write_open(scratch_path("x"), &writer, &error), LOCUM_OK);
    assert_int_equal(file_write_bytes(writer, "abc", 3, &error), LOCUM_OK);
    assert_names(1); // the temporary one
    file_write_cancel(writer);
    assert_names(0);
    file_write_cancel(NULL);
}

static void an_old_file_is_replaced_at_once_and_keeps_its_mode(void **state) {
    (void)state;
    struct stat facts;
    scratch_clear();
    const char *path = scratch_text("old", "before");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(file_write_open(path, &writer, &error), LOCUM_OK);
    assert_int_equal(file_write_bytes(writer, "after", 5, &error), LOCUM_OK);
    assert_content(path, "before", 6);
    assert_int_equal(file_write_commit(writer, &error), LOCUM_OK);
    assert_content(path, "after", 5);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0640);
    assert_names(1);
}

static void an_empty_file_can_be_written(void **state) {
    (void)state;
    scratch_clear();
    assert_int_equal(file_write_open(scratch_path("empty"), &writer, &error), LOCUM_OK);
    assert_int_equal(file_write_commit(writer, &error), LOCUM_OK);
    assert_content(scratch_path("empty"), "", 0);
}

static void a_symbolic_link_stays_one(void **state) {
    (void)state;
    struct stat facts;
    scratch_clear();
    scratch_text("deep/target", "before");
    assert_int_equal(symlink("deep/target", scratch_path("link")), 0);
    assert_int_equal(file_write_open(scratch_path("link"), &writer, &error), LOCUM_OK);
    assert_int_equal(file_write_bytes(writer, "after", 5, &error), LOCUM_OK);
    assert_int_equal(file_write_commit(writer, &error), LOCUM_OK);
    assert_int_equal(lstat(scratch_path("link"), &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    assert_content(scratch_path("deep/target"), "after", 5);
}

static void names_without_a_folder_go_to_the_current_one(void **state) {
    (void)state;
    char before[4096];
    scratch_clear();
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(scratch_path(".")), 0);
    assert_int_equal(file_write_open("plain", &writer, &error), LOCUM_OK);
    assert_int_equal(file_write_bytes(writer, "x", 1, &error), LOCUM_OK);
    assert_int_equal(file_write_commit(writer, &error), LOCUM_OK);
    assert_int_equal(chdir(before), 0);
    assert_content(scratch_path("plain"), "x", 1);
}

static void impossible_targets_are_refused_at_once(void **state) {
    (void)state;
    static char longest[6000];
    memset(longest, 'a', sizeof longest - 1);
    scratch_clear();
    assert_int_equal(file_write_open(scratch_path("gone/x"), &writer, &error), LOCUM_E_IO);
    assert_non_null(strstr(error.text, "gone/x"));
    assert_null(writer);
    assert_int_equal(file_write_open(scratch_path("."), &writer, &error), LOCUM_E_IO);
    assert_non_null(strstr(error.text, "directory"));
    assert_int_equal(file_write_open(longest, &writer, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(file_write_open("", &writer, &error), LOCUM_E_ARGUMENT);
    assert_names(0);
}

static void devices_and_pipes_are_written_in_place(void **state) {
    (void)state;
    char got[10] = "";
    scratch_clear();
    const char *path = scratch_path("pipe");
    assert_int_equal(mkfifo(path, 0666), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(file_write_open(path, &writer, &error), LOCUM_OK);
    assert_int_equal(file_write_bytes(writer, "stats", 5, &error), LOCUM_OK);
    assert_int_equal(file_write_commit(writer, &error), LOCUM_OK);
    assert_int_equal(read(reader, got, sizeof got), 5);
    assert_string_equal(got, "stats");
    close(reader);
    assert_names(1);
    assert_int_equal(file_write_open("/dev/full", &writer, &error), LOCUM_OK);
    assert_int_equal(file_write_bytes(writer, "x", 1, &error), LOCUM_OK); // still in our buffer
    assert_int_equal(file_write_commit(writer, &error), LOCUM_E_IO);
    assert_non_null(strstr(error.text, "/dev/full"));
    assert_non_null(strstr(error.text, "No space left"));
}

static void a_full_disk_keeps_the_old_file(void **state) {
    (void)state;
    enum { ROOM = 100000 };
    static unsigned char data[3 * ROOM];
    struct rlimit old, small;
    scratch_clear();
    const char *path = scratch_text("precious", "before");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = ROOM;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(file_write_open(path, &writer, &error), LOCUM_OK);
    locum_status first = file_write_bytes(writer, data, sizeof data, &error);
    locum_status second = file_write_bytes(writer, "x", 1, NULL);
    locum_status last = file_write_commit(writer, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(first, LOCUM_E_IO);
    assert_non_null(strstr(error.text, "precious"));
    assert_int_equal(second, LOCUM_E_IO);
    assert_int_equal(last, LOCUM_E_IO);
    assert_content(path, "before", 6);
    assert_names(1);
}

static void two_writers_of_one_file_do_not_meet(void **state) {
    (void)state;
    struct file_write *other;
    scratch_clear();
    const char *path = scratch_path("both");
    assert_int_equal(file_write_open(path, &writer, &error), LOCUM_OK);
    assert_int_equal(file_write_open(path, &other, &error), LOCUM_OK);
    assert_int_equal(file_write_bytes(writer, "one", 3, &error), LOCUM_OK);
    assert_int_equal(file_write_bytes(other, "second", 6, &error), LOCUM_OK);
    assert_int_equal(file_write_commit(other, &error), LOCUM_OK);
    assert_content(path, "second", 6);
    assert_int_equal(file_write_commit(writer, &error), LOCUM_OK);
    assert_content(path, "one", 3);
    assert_names(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_whole),
        cmocka_unit_test(a_cancelled_file_leaves_nothing),
        cmocka_unit_test(an_old_file_is_replaced_at_once_and_keeps_its_mode),
        cmocka_unit_test(an_empty_file_can_be_written),
        cmocka_unit_test(a_symbolic_link_stays_one),
        cmocka_unit_test(names_without_a_folder_go_to_the_current_one),
        cmocka_unit_test(impossible_targets_are_refused_at_once),
        cmocka_unit_test(devices_and_pipes_are_written_in_place),
        cmocka_unit_test(a_full_disk_keeps_the_old_file),
        cmocka_unit_test(two_writers_of_one_file_do_not_meet),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
