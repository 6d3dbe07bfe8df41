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

// Both ways round.
static void assert_replaces(bool expected, const char *a, const char *b) {
    if (file_write_replaces(a, b) != expected || file_write_replaces(b, a) != expected)
        fail_msg("'%s' and '%s': %s is wrong", a, b, expected ? "no" : "yes");
}

static void one_file_is_known_by_all_its_names(void **state) {
    (void)state;
    scratch_clear();
    const char *file = scratch_text("deep/file", "x"), *other = scratch_text("deep/other", "x");
    const char *dotted = scratch_path("deep/../deep/./file"), *link = scratch_path("link");
    assert_int_equal(symlink("deep/file", link), 0);
    assert_replaces(true, file, file);
    assert_replaces(true, file, dotted);
    assert_replaces(true, dotted, link);
    assert_replaces(false, file, other); // the same bytes
    assert_replaces(false, link, other);
    assert_replaces(false, scratch_path("deep"), scratch_path("deep/.")); // folders: not written
}

static void a_new_file_is_known_by_its_place(void **state) {
    (void)state;
    char before[4096], new[4096]; // a copy: outlives what scratch_path keeps
    scratch_clear();
    scratch_text("deep/file", "x");
    assert_int_equal(symlink("deep", scratch_path("folder")), 0);
    snprintf(new, sizeof new, "%s", scratch_path("deep/new"));
    assert_replaces(true, new, scratch_path("folder/new"));
    assert_replaces(true, new, scratch_path("deep/../folder/./new"));
    assert_replaces(false, new, scratch_path("deep/newer"));
    assert_replaces(false, new, scratch_path("new"));
    assert_replaces(false, new, scratch_path("deep/file")); // that one exists
    assert_replaces(false, new, scratch_path("gone/new"));
    assert_replaces(false, scratch_path("gone/new"), scratch_path("gone/./new")); // no such folder
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(scratch_path("deep")), 0);
    assert_replaces(true, "new", "./new");
    assert_replaces(true, "new", "../folder/new");
    assert_replaces(true, "file", "../deep/file");
    assert_replaces(false, "new", "../new");
    assert_int_equal(chdir(before), 0);
    assert_int_equal(access(new, F_OK), -1); // asking makes nothing
}

static void pipes_and_devices_are_replaced_by_nothing(void **state) {
    (void)state;
    scratch_clear();
    const char *pipe = scratch_path("pipe"), *link = scratch_path("link");
    assert_int_equal(mkfifo(pipe, 0666), 0);
    assert_int_equal(symlink("pipe", link), 0);
    assert_replaces(false, pipe, link);
    assert_replaces(true, pipe, pipe);
    assert_replaces(false, "/dev/null", "/dev/../dev/null");
    assert_replaces(false, pipe, scratch_text("file", "x"));
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
        cmocka_unit_test(one_file_is_known_by_all_its_names),
        cmocka_unit_test(a_new_file_is_known_by_its_place),
        cmocka_unit_test(pipes_and_devices_are_replaced_by_nothing),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
