// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec_load.h"
#include "gguf/gguf_file.h"
#include "kernels/kernels_rows.h"
#include "model/model.h"
#include "platform/cpu.h"
#include "tests/fixtures/toy_model.h"
#include "tests/platform/fake_disk.h"

static struct {
    struct toy_model *toy;
    struct buffer bytes;
    struct gguf_file *gguf;
    struct arena arena;
    struct model model;
    struct fake_disk disk;
    struct platform_file *files[1];
    struct exec_weights weights;
    struct kernels_table kernels;
    locum_error error;
} w;

static int tear_down(void **state) {
    (void)state;
    exec_weights_release(&w.weights);
    file_close(w.files[0]);
    gguf_file_close(w.gguf);
    buffer_release(&w.bytes);
    arena_release(&w.arena);
    if (w.toy) toy_release(w.toy);
    memset(&w, 0, sizeof w);
    return 0;
}

// The best kernels of this machine, which may want rows interleaved, or the reference.
static void choose_kernels(bool best) {
    struct cpu_features features;
    cpu_features_detect(&features);
    struct kernels_cpu cpu = {features.avx2, features.avxvnni, features.avx512,
                              features.avx512vnni};
    assert_true(kernels_init(&w.kernels, best ? kernels_best(&cpu) : KERNELS_TIER_REF, &cpu));
}

static void begin(const struct toy_spec *spec, bool direct) {
    tear_down(NULL);
    choose_kernels(true);
    w.toy = toy_create(spec);
    w.bytes = toy_encode(w.toy);
    arena_init(&w.arena, 0);
    fake_disk_init(&w.disk, w.bytes.data, w.bytes.size);
    w.disk.direct_is_strict = true;
    const struct file_methods *methods = &w.disk.methods;
    if (gguf_file_open_bytes(buffer_slice(&w.bytes), "toy.gguf", &w.gguf, &w.error) ||
        model_build(w.gguf, &w.arena, &w.model, &w.error) ||
        exec_weights_plan(&w.model.plan, &w.arena, &w.weights, &w.error) ||
        file_open("toy.gguf", direct, methods, &w.files[0], &w.error)) {
        fail_msg("%s", w.error.text);
    }
}

static locum_status load(bool (*progress)(void *, uint64_t, uint64_t), void *user) {
    return exec_load_weights(&w.weights, &w.model.plan, &w.kernels, w.files, false, NULL,
                             progress, user, &w.error);
}

static void every_weight_has_its_bytes(void) {
    const struct plan *plan = &w.model.plan;
    if (load(NULL, NULL) != LOCUM_OK) fail_msg("%s", w.error.text);
    for (uint32_t i = 0; i < plan->n_weights; i++) {
        const struct plan_weight *weight = &plan->weights[i];
        const uint8_t *data = exec_weights_data(&w.weights, i);
        const uint8_t *expected = (const uint8_t *)w.bytes.data + weight->offset;
        if (!w.weights.multiplied[i]) {
            assert_memory_equal(data, expected, weight->bytes);
        } else {
            for (size_t r = 0; r < weight->rows; r++) {
                uint8_t row[16384];
                assert_true(weight->row_bytes <= sizeof row);
                kernels_rows_copy(&w.kernels, weight->dtype, data, weight->row_bytes, weight->rows,
                                  r, row);
                assert_memory_equal(row, expected + r * weight->row_bytes, weight->row_bytes);
            }
        }
        assert_int_equal((uintptr_t)data % FILE_BLOCK, weight->offset % FILE_BLOCK);
        assert_true(data + weight->bytes <= w.weights.region.data + w.weights.bytes);
    }
}

static void weights_are_read_where_they_lie(void **state) {
    (void)state;
    for (uint32_t i = 0; model_arch_name(i); i++) {
        struct toy_spec spec = toy_spec_of(model_arch_name(i));
        spec.type = i % 2 ? DTYPE_Q8_0 : DTYPE_F32;
        begin(&spec, true);
        assert_true(file_is_direct(w.files[0]));
        every_weight_has_its_bytes();
        begin(&spec, false);
        every_weight_has_its_bytes();
        begin(&spec, false);
        choose_kernels(false);
        every_weight_has_its_bytes();
    }
}

// What is multiplied is interleaved, once, where the kernels want it; embeddings alone are not.
static void multiplied_weights_are_interleaved(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.type = DTYPE_Q8_0;
    begin(&spec, true);
    if (w.kernels.lanes == 1) {
        print_message("SKIP interleaving: the kernels of this processor want no rows interleaved\n");
        skip();
    }
    assert_int_equal(load(NULL, NULL), LOCUM_OK);
    uint32_t moved = 0, kept = 0;
    for (uint32_t i = 0; i < w.model.plan.n_weights; i++) {
        const struct plan_weight *weight = &w.model.plan.weights[i];
        if (weight->dtype != DTYPE_Q8_0) continue;
        bool same = memcmp(exec_weights_data(&w.weights, i), w.bytes.data + weight->offset,
                           weight->bytes) == 0;
        assert_int_equal(same, !w.weights.multiplied[i]);
        moved += !same;
        kept += same;
    }
    assert_true(moved > 0 && kept > 0);
}

// Experts lie between the dense tensors of two layers: they are not read with them.
static void experts_are_left_out(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.expert_ff = 128; // well above the gap that is read through
    begin(&spec, true);
    uint64_t dense = 0;
    for (uint32_t i = 0; i < w.model.plan.n_weights; i++)
        dense += w.model.plan.weights[i].bytes;
    assert_int_equal(w.weights.n_ranges, spec.layers + 1);
    assert_true(w.weights.bytes >= dense);
    assert_true(w.weights.bytes <= dense + w.weights.n_ranges * 2 * FILE_BLOCK + 4096);
    size_t before = atomic_load(&w.disk.reads);
    assert_int_equal(load(NULL, NULL), LOCUM_OK);
    assert_int_equal(atomic_load(&w.disk.reads) - before, w.weights.n_ranges);
}

static void tied_weight_is_held_once(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("llama");
    spec.experts = 0;
    begin(&spec, true);
    uint64_t two = w.weights.bytes;
    spec.tied = true;
    begin(&spec, true);
    uint64_t matrix = (uint64_t)spec.width * spec.vocabulary * 4;
    assert_true(two - w.weights.bytes >= matrix - FILE_BLOCK);
    every_weight_has_its_bytes();
}

// Matrices of several pieces and bites, one of whose last rows are no whole group.
static void large_matrices_arrive_in_pieces(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("llama");
    spec.experts = 0;
    spec.layers = 1;
    spec.width = 1024;
    spec.ff = 8032;
    spec.vocabulary = 317;
    spec.type = DTYPE_Q8_0;
    begin(&spec, true);
    assert_true(w.weights.bytes > 24u << 20);
    every_weight_has_its_bytes();
}

struct watch {
    uint64_t done, total, calls, stop_after;
};

static bool on_progress(void *user, uint64_t done, uint64_t total) {
    struct watch *watch = user;
    assert_true(done > watch->done && done <= total);
    watch->done = done;
    watch->total = total;
    return ++watch->calls == watch->stop_after;
}

static void progress_is_told_and_may_cancel(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.expert_ff = 128;
    begin(&spec, true);
    struct watch watch = {0};
    assert_int_equal(load(on_progress, &watch), LOCUM_OK);
    assert_int_equal(watch.done, watch.total);
    assert_int_equal(watch.total, w.weights.bytes);
    exec_weights_release(&w.weights);
    watch = (struct watch){.stop_after = 2};
    assert_int_equal(load(on_progress, &watch), LOCUM_E_CANCELLED);
    assert_int_equal(watch.calls, 2);
    assert_null(w.weights.region.data); // nothing is left behind
    every_weight_has_its_bytes();       // and it can be tried again
}

static void faults_of_the_disk(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    begin(&spec, true);
    w.disk.short_every = 2;
    w.disk.interrupt_every = 3;
    every_weight_has_its_bytes();
    exec_weights_release(&w.weights);
    w.disk.short_every = w.disk.interrupt_every = 0;
    w.disk.fail_from = 1;
    w.disk.fail_number = EIO;
    assert_int_equal(load(NULL, NULL), LOCUM_E_IO);
    assert_non_null(strstr(w.error.text, "toy.gguf"));
    assert_null(w.weights.region.data);
    begin(&spec, false);
    w.disk.bytes -= 2 * FILE_BLOCK; // somebody cuts the file while we have it open
    assert_int_equal(load(NULL, NULL), LOCUM_E_IO);
    if (!strstr(w.error.text, "shrunk")) fail_msg("%s", w.error.text);
    assert_null(w.weights.region.data);
}

int main(void) {
#define TEST(function) cmocka_unit_test_teardown(function, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(weights_are_read_where_they_lie),
        TEST(multiplied_weights_are_interleaved),
        TEST(experts_are_left_out),
        TEST(tied_weight_is_held_once),
        TEST(large_matrices_arrive_in_pieces),
        TEST(progress_is_told_and_may_cancel),
        TEST(faults_of_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
