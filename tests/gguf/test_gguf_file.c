// SPDX-License-Identifier: Apache-2.0
//
// Whole models on disk: single files, shards, folders (gguf_locate), lists beside them.
#include "gguf/gguf_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "tests/gguf/fixture.h"
#include "tests/platform/scratch.h"

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static int clear(void **state) {
    (void)state;
    scratch_clear();
    return 0;
}

// --- Shards to order ---------------------------------------------------------------------------

struct shard {
    uint32_t count, number; // split.count, split.no; count 0: no split keys
    int64_t total;          // split.tensors.count; -1: no such key
    const char *tensors[4]; // names; NULL ends
};

static struct buffer shard_bytes(const struct shard *shard) {
    struct buffer out = {0};
    struct gguf_writer *writer = gguf_writer_create(0);
    if (shard->number == 0) gguf_writer_add_text(writer, "general.architecture", "tiny");
    if (shard->count > 0) {
        gguf_writer_add_u16(writer, "split.no", (uint16_t)shard->number);
        gguf_writer_add_u16(writer, "split.count", (uint16_t)shard->count);
    }
    if (shard->total >= 0)
        gguf_writer_add_i32(writer, "split.tensors.count", (int32_t)shard->total);
    size_t count = 0;
    for (; count < 4 && shard->tensors[count] != NULL; count++)
        gguf_writer_add_tensor(writer, shard->tensors[count], DTYPE_F32, 1, (const uint64_t[]){10});
    assert_int_equal(gguf_writer_begin(writer, gguf_writer_to_buffer(&out), NULL), LOCUM_OK);
    static const char data[40];
    while (count-- > 0)
        assert_int_equal(gguf_writer_data(writer, data, sizeof data, NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_end(writer, NULL), LOCUM_OK);
    gguf_writer_close(writer);
    return out;
}

static void write_shard(const char *name, struct shard shard) {
    struct buffer bytes = shard_bytes(&shard);
    scratch_write(name, bytes.data, bytes.size);
    buffer_release(&bytes);
}

// m-0000N-of-00003.gguf: no tensor, two, one.
static void write_three(void) {
    write_shard("m-00001-of-00003.gguf", (struct shard){3, 0, 3, {NULL}});
    write_shard("m-00002-of-00003.gguf", (struct shard){3, 1, 3, {"a", "b", NULL}});
    write_shard("m-00003-of-00003.gguf", (struct shard){3, 2, 3, {"c", NULL}});
}

static void write_plain(const char *name) {
    struct buffer bytes = fixture_model();
    scratch_write(name, bytes.data, bytes.size);
    buffer_release(&bytes);
}

static struct gguf_file *open_path(const char *path) {
    struct gguf_file *file;
    locum_error error = {0};
    if (gguf_file_open(path, &file, &error) != LOCUM_OK) fail_msg("%s", error.text);
    return file;
}

// --- Single files ------------------------------------------------------------------------------

static void test_plain(void **state) {
    (void)state;
    write_plain("model.gguf");
    struct gguf_file *file = open_path(scratch_path("model.gguf"));
    assert_int_equal(gguf_file_shard_count(file), 1);
    assert_string_equal(gguf_file_shard(file, 0)->path, scratch_path("model.gguf"));
    assert_int_equal(gguf_file_shard(file, 0)->tensor_count, 2);
    assert_string_equal(gguf_file_meta(file)->architecture, "tiny");
    assert_int_equal(gguf_file_find(file, "b.weight")->shape[1], 2);
    assert_true(gguf_file_memory(file) > 1000 && gguf_file_memory(file) < 100000);
    gguf_file_close(file);
    gguf_file_close(NULL);
}

static void test_odd_paths(void **state) {
    (void)state;
    static const char *const names[] = {
        "\xd0\x97\xd0\xb0/\xe6\xa8\xa1\xe5\x9e\x8b \xe3\x80\x80x/\xc3\xbc '\".gguf",
        "-p.gguf",
        "no extension",
        "best-of-breed.gguf",
        "x-00001-of-00013.gguf", // the name alone makes no shard
        "x-00000-of-00003.gguf",
        "x-00005-of-00003.gguf",
        "y-00001-of-00013/model.gguf",
        "z-00001-of-00013.gguf/z-00002-of-00013.gguf",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        write_plain(names[i]);
        struct gguf_file *file = open_path(scratch_path("%s", names[i]));
        assert_int_equal(gguf_file_shard_count(file), 1);
        assert_string_equal(gguf_file_shard(file, 0)->path, scratch_path("%s", names[i]));
        gguf_file_close(file);
    }
    assert_int_equal(chdir(scratch_path("y-00001-of-00013")), 0);
    struct gguf_file *file = open_path("model.gguf"); // without any folder
    gguf_file_close(file);
    assert_int_equal(chdir(LOCUM_BINARY_DIR), 0);
}

static void test_not_there(void **state) {
    (void)state;
    expect_refused_path(scratch_path("none.gguf"), LOCUM_E_NOT_FOUND, "none.gguf", NULL);
    expect_refused_path("", LOCUM_E_NOT_FOUND, NULL);
    scratch_text("empty.gguf", "");
    expect_refused_path(scratch_path("empty.gguf"), LOCUM_E_FORMAT, "empty.gguf",
                        "ends after 0 bytes", NULL);
    const char *pipe = scratch_path("pipe.gguf");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    struct gguf_file *file;
    assert_int_not_equal(gguf_file_open(pipe, &file, NULL), LOCUM_OK); // and does not hang
}

// Cut at each place of a file on disk, read in pieces.
static void test_truncated(void **state) {
    (void)state;
    write_plain("model.gguf");
    const char *path = scratch_path("model.gguf");
    struct gguf_file *file = open_path(path);
    off_t end = (off_t)(gguf_file_find(file, "b.weight")->offset + 136);
    gguf_file_close(file);
    while (end > 0) {
        end = end > 400 ? end - 1 : end - 23;
        assert_int_equal(truncate(path, end > 0 ? end : 0), 0);
        expect_refused_path(path, LOCUM_E_FORMAT, path, NULL);
    }
}

// A header longer than the first piece that is read, so that it comes in several.
static void test_long_header(void **state) {
    (void)state;
    enum { N = 60000 };
    static struct slice texts[N];
    static char letters[64];
    memset(letters, 'x', sizeof letters);
    for (size_t i = 0; i < N; i++)
        texts[i] = slice_make(letters, i % 64);
    struct buffer bytes = {0};
    struct gguf_writer *writer = gguf_writer_create(0);
    gguf_writer_add_strings(writer, "words", texts, N);
    gguf_writer_add_tensor(writer, "t", DTYPE_F32, 1, (const uint64_t[]){1 << 20});
    assert_int_equal(gguf_writer_begin(writer, gguf_writer_to_buffer(&bytes), NULL), LOCUM_OK);
    gguf_writer_close(writer);
    assert_true(bytes.size > 2 << 20);
    const char *path = scratch_write("long.gguf", bytes.data, bytes.size);
    assert_int_equal(truncate(path, (off_t)bytes.size + (4 << 20)), 0);
    struct gguf_file *file = open_path(path);
    const struct gguf_value *words = gguf_meta_find(gguf_file_meta(file), "words");
    for (size_t i = 0; i < N; i += 777)
        assert_true(slice_equal(gguf_value_string(words, i), texts[i]));
    assert_true(gguf_file_memory(file) < bytes.size + (bytes.size >> 3)); // only the header is kept
    gguf_file_close(file);
    assert_int_equal(truncate(path, (off_t)(bytes.size / 2)), 0);
    expect_refused_path(path, LOCUM_E_FORMAT, "key 'words'", "incomplete", NULL);
    buffer_release(&bytes);
}

// Data at 3 GiB, 5 GiB and 2 TiB of a sparse file; offsets are not cut to 32 bits anywhere.
static void test_far_offsets(void **state) {
    (void)state;
    static const uint64_t starts[] = {UINT64_C(3) << 30, UINT64_C(5) << 30, UINT64_C(2) << 40};
    struct buffer bytes = {0};
    raw_start(&bytes, 3, 3, 0);
    for (uint32_t i = 0; i < 3; i++)
        raw_tensor(&bytes, (const char *[]){"a", "b", "c"}[i], 1, (const uint64_t[]){16}, DTYPE_F32,
                   starts[i]);
    raw_pad(&bytes, 32);
    const char *path = scratch_write("far.gguf", bytes.data, bytes.size);
    uint64_t size = bytes.size + starts[2] + 64;
    if (truncate(path, (off_t)size) != 0) {
        print_message("SKIP far offsets: this file system has no sparse files of 2 TiB\n");
        buffer_release(&bytes);
        skip();
    }
    struct gguf_file *file = open_path(path);
    assert_true(gguf_file_shard(file, 0)->size == size);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(gguf_file_tensor(file, i)->offset == bytes.size + starts[i]);
    gguf_file_close(file);
    assert_int_equal(truncate(path, (off_t)size - 1), 0);
    expect_refused_path(path, LOCUM_E_FORMAT, "tensor 'c' needs bytes 2,199,023,255,", NULL);
    buffer_release(&bytes);
}

// --- Shards ------------------------------------------------------------------------------------

static void test_any_shard_opens_the_model(void **state) {
    (void)state;
    write_three();
    for (int i = 1; i <= 3; i++) {
        struct gguf_file *file = open_path(scratch_path("m-0000%d-of-00003.gguf", i));
        assert_int_equal(gguf_file_shard_count(file), 3);
        for (uint32_t k = 0; k < 3; k++)
            assert_string_equal(gguf_file_shard(file, k)->path,
                                scratch_path("m-0000%u-of-00003.gguf", k + 1));
        assert_string_equal(gguf_file_meta(file)->architecture, "tiny");
        assert_string_equal(gguf_file_meta(file)->name, scratch_path("m-00001-of-00003.gguf"));
        assert_int_equal(gguf_file_tensor_count(file), 3);
        assert_string_equal(gguf_file_tensor(file, 0)->name, "a");
        assert_string_equal(gguf_file_tensor(file, 2)->name, "c");
        assert_int_equal(gguf_file_find(file, "b")->shard, 1);
        assert_int_equal(gguf_file_find(file, "c")->shard, 2);
        const struct gguf_tensor *b = gguf_file_find(file, "b");
        assert_true(b->offset + b->bytes <= gguf_file_shard(file, 1)->size);
        gguf_file_close(file);
    }
}

static void test_missing_shards(void **state) {
    (void)state;
    write_three();
    remove(scratch_path("m-00001-of-00003.gguf"));
    remove(scratch_path("m-00003-of-00003.gguf"));
    expect_refused_path(scratch_path("m-00002-of-00003.gguf"), LOCUM_E_NOT_FOUND,
                        "2 of 3 shards are missing", "m-00001-of-00003.gguf",
                        "m-00003-of-00003.gguf", NULL);
    // More than a message holds. The files that are there are not even looked into.
    write_shard("big-00007-of-10000.gguf", (struct shard){10000, 6, -1, {"a", NULL}});
    scratch_text("big-00008-of-10000.gguf", "nonsense");
    expect_refused_path(scratch_path("big-00007-of-10000.gguf"), LOCUM_E_NOT_FOUND,
                        "9998 of 10000 shards", "big-00001-of-10000.gguf", "and 9982 more", NULL);
}

static void test_joined_shards(void **state) {
    (void)state;
    struct buffer joined = shard_bytes(&(struct shard){2, 0, 2, {"a", NULL}});
    struct buffer second = shard_bytes(&(struct shard){2, 1, 2, {"b", NULL}});
    size_t unpadded = joined.size - 24; // 40 bytes of data, 24 of padding
    scratch_write("alone.gguf", joined.data, joined.size);
    buffer_append(&joined, second.data, second.size);
    scratch_write("joined.gguf", joined.data, joined.size);
    joined.size = unpadded; // a writer that does not pad the end
    buffer_append(&joined, second.data, second.size);
    scratch_write("unpadded.gguf", joined.data, joined.size);
    buffer_release(&joined);
    buffer_release(&second);
    expect_refused_path(scratch_path("joined.gguf"), LOCUM_E_FORMAT,
                        "one of the 2 shards of a split", "another GGUF file follows", "cat",
                        "NAME-00001-of-00002.gguf", NULL);
    expect_refused_path(scratch_path("unpadded.gguf"), LOCUM_E_FORMAT, "another GGUF file follows",
                        NULL);
    expect_refused_path(scratch_path("alone.gguf"), LOCUM_E_FORMAT, "its name does not lead",
                        "NAME-00001-of-00002.gguf", NULL);
}

static void test_pieces_of_a_cut_file(void **state) {
    (void)state;
    struct buffer bytes = fixture_model();
    scratch_write("m.gguf-split-a", bytes.data, 300);
    scratch_write("m.gguf-split-b", bytes.data + 300, bytes.size - 300);
    buffer_release(&bytes);
    expect_refused_path(scratch_path("m.gguf-split-a"), LOCUM_E_FORMAT, "piece of a cut file",
                        "cat", "m.gguf-split-a", NULL);
    expect_refused_path(scratch_path("m.gguf-split-b"), LOCUM_E_FORMAT, "piece of a cut file",
                        NULL);
}

static void test_shards_that_disagree(void **state) {
    (void)state;
    const char *first = "m-00001-of-00003.gguf", *second = "m-00002-of-00003.gguf";
    write_three();
    write_shard(second, (struct shard){3, 2, 3, {"a", "b", NULL}});
    expect_refused_path(scratch_path("%s", first), LOCUM_E_FORMAT, second,
                        "this is shard 3, but its name says 2", NULL);
    expect_refused_path(scratch_path("%s", second), LOCUM_E_FORMAT, second, "its name says 2",
                        NULL);
    write_shard(second, (struct shard){4, 1, 3, {"a", "b", NULL}});
    expect_refused_path(scratch_path("%s", first), LOCUM_E_FORMAT, second,
                        "split.count says 4 shards, but the others say 3", NULL);
    expect_refused_path(scratch_path("%s", second), LOCUM_E_FORMAT, "one of the 4 shards", NULL);
    write_shard(second, (struct shard){0, 1, -1, {"a", "b", NULL}});
    expect_refused_path(scratch_path("%s", first), LOCUM_E_FORMAT, second,
                        "key 'split.count' is missing", NULL);
    write_shard(second, (struct shard){3, 1, 3, {"a", NULL}});
    expect_refused_path(scratch_path("%s", first), LOCUM_E_FORMAT, first,
                        "split.tensors.count says 3 tensors, but the 3 shards hold 2", NULL);
    write_shard(second, (struct shard){3, 1, 3, {"a", "c", NULL}});
    expect_refused_path(scratch_path("%s", first), LOCUM_E_FORMAT, "tensor 'c' (number 1)",
                        "m-00003-of-00003.gguf", "m-00002-of-00003.gguf (number 2)", NULL);
    write_three();
    assert_int_equal(truncate(scratch_path("%s", second), 250), 0);
    expect_refused_path(scratch_path("%s", first), LOCUM_E_FORMAT, second, "incomplete", NULL);
    scratch_text(second, "nonsense, but long enough to hold a header");
    expect_refused_path(scratch_path("%s", first), LOCUM_E_FORMAT, second, "no GGUF file", NULL);
}

static void test_set_of_one(void **state) {
    (void)state;
    write_shard("one-00001-of-00001.gguf", (struct shard){1, 0, 1, {"a", NULL}});
    write_shard("renamed.gguf", (struct shard){1, 0, 1, {"a", NULL}});
    gguf_file_close(open_path(scratch_path("one-00001-of-00001.gguf")));
    gguf_file_close(open_path(scratch_path("renamed.gguf")));
}

// --- Folders -----------------------------------------------------------------------------------

static void expect_folder(const char *folder, const char *opened) {
    struct gguf_file *file = open_path(scratch_path("%s", folder));
    assert_string_equal(gguf_file_shard(file, 0)->path, scratch_path("%s", opened));
    gguf_file_close(file);
}

static void test_folders(void **state) {
    (void)state;
    assert_int_equal(mkdir(scratch_path("empty"), 0777), 0);
    expect_refused_path(scratch_path("empty"), LOCUM_E_NOT_FOUND, "empty holds no .gguf file",
                        NULL);
    write_plain("a/model.gguf");
    write_plain("a/mmproj-model.gguf");
    scratch_text("a/README.md", "x");
    expect_folder("a", "a/model.gguf");
    struct gguf_file *file = open_path(scratch_path("a///"));
    assert_string_equal(gguf_file_shard(file, 0)->path, scratch_path("a/model.gguf"));
    gguf_file_close(file);
    write_plain("a/other.gguf");
    expect_refused_path(scratch_path("a"), LOCUM_E_ARGUMENT, "several models", "model.gguf",
                        "other.gguf", NULL);
    write_plain("b-00001-of-00013/x-00001-of-00013.gguf");
    expect_folder("b-00001-of-00013", "b-00001-of-00013/x-00001-of-00013.gguf");
    write_plain("b-00001-of-00013/x-00002-of-00013.gguf"); // two plain files with names of shards
    expect_refused_path(scratch_path("b-00001-of-00013"), LOCUM_E_ARGUMENT, "several models", NULL);
    write_plain("c/1.gguf");
    for (int i = 2; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "c/%d.gguf", i);
        write_plain(name);
    }
    expect_refused_path(scratch_path("c"), LOCUM_E_ARGUMENT, "and 3 more", NULL);
}

static void test_folder_of_shards(void **state) {
    (void)state;
    write_three();
    char folder[1000], first[1024];
    snprintf(folder, sizeof folder, "%s", scratch_path("%s", ""));
    snprintf(first, sizeof first, "%sm-00001-of-00003.gguf", folder);
    struct gguf_file *file = open_path(folder);
    assert_int_equal(gguf_file_shard_count(file), 3);
    assert_string_equal(gguf_file_shard(file, 0)->path, first);
    gguf_file_close(file);
    remove(scratch_path("m-00001-of-00003.gguf"));
    expect_refused_path(scratch_path("%s", ""), LOCUM_E_NOT_FOUND, "1 of 3 shards are missing",
                        "m-00001-of-00003.gguf", NULL);
}

static void test_assets(void **state) {
    (void)state;
    char text[512];
    write_plain("a/model.gguf");
    write_plain("a/other.gguf");
    struct stat facts;
    assert_int_equal(stat(scratch_path("a/model.gguf"), &facts), 0);
    int size = (int)facts.st_size;
    scratch_text("a/extra.bin", "12345");
    snprintf(text, sizeof text, "extra.bin\t5\t" DIGEST "\nmodel.gguf\t%d\t" DIGEST "\n", size);
    scratch_text("a/assets.tsv", text);
    expect_folder("a", "a/model.gguf"); // the list says which of the two
    gguf_file_close(open_path(scratch_path("a/model.gguf")));
    scratch_text("a/extra.bin", "1234");
    expect_refused_path(scratch_path("a"), LOCUM_E_FORMAT, "extra.bin has 4 bytes", NULL);
    expect_refused_path(scratch_path("a/model.gguf"), LOCUM_E_FORMAT, "extra.bin has 4 bytes",
                        NULL);
    gguf_file_close(open_path(scratch_path("a/other.gguf"))); // the list does not speak of it
    snprintf(text, sizeof text, "model.gguf\t%d\t" DIGEST "\n", size + 1);
    scratch_text("a/assets.tsv", text);
    expect_refused_path(scratch_path("a"), LOCUM_E_FORMAT, "model.gguf has", "assets.tsv",
                        "incomplete", NULL);
    scratch_text("a/assets.tsv", "model.gguf,12\n");
    expect_refused_path(scratch_path("a"), LOCUM_E_FORMAT, "assets.tsv, line 1", NULL);
    scratch_text("a/assets.tsv", "extra.bin\t4\t" DIGEST "\n");
    expect_refused_path(scratch_path("a"), LOCUM_E_NOT_FOUND, "lists no .gguf file", NULL);
}

// --- The seeds of the fuzz target --------------------------------------------------------------

// Their names say whether they are sound.
static void test_corpus(void **state) {
    (void)state;
    static const char folder[] = LOCUM_SOURCE_DIR "/fuzz/corpus/gguf";
    struct arena arena;
    const char *const *names;
    size_t count, good = 0, bad = 0;
    arena_init(&arena, 0);
    assert_int_equal(file_list(folder, &arena, &names, &count, NULL), LOCUM_OK);
    for (size_t i = 0; i < count; i++) {
        bool expected = strncmp(names[i], "good-", 5) == 0;
        if (!expected && strncmp(names[i], "bad-", 4) != 0) continue;
        struct gguf_file *file;
        locum_error error = {0};
        locum_status status =
            gguf_file_open(arena_format(&arena, "%s/%s", folder, names[i]), &file, &error);
        if ((status == LOCUM_OK) != expected) fail_msg("%s: %s", names[i], error.text);
        good += expected;
        bad += !expected;
        gguf_file_close(file);
    }
    assert_true(good > 5 && bad > 20);
    arena_release(&arena);
}

#define TEST(name) cmocka_unit_test_teardown(name, clear)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_plain),
        TEST(test_odd_paths),
        TEST(test_not_there),
        TEST(test_truncated),
        TEST(test_long_header),
        TEST(test_far_offsets),
        TEST(test_any_shard_opens_the_model),
        TEST(test_missing_shards),
        TEST(test_joined_shards),
        TEST(test_pieces_of_a_cut_file),
        TEST(test_shards_that_disagree),
        TEST(test_set_of_one),
        TEST(test_folders),
        TEST(test_folder_of_shards),
        TEST(test_assets),
        TEST(test_corpus),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
