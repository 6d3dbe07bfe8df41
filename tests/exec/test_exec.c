// SPDX-License-Identifier: Apache-2.0
//
// Steps of toy models: the bits of the logits depend on nothing but tokens and weights.
#include "tests/exec/exec_rig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "exec/exec_state.h"
#include "tests/fixtures/toy_forward.h"

enum { TEXT = 140 }; // over two borders of pages

static struct rig rig;
static struct toy_model *toy;

static int tear_down(void **state) {
    (void)state;
    if (rig.exec) rig_close(&rig);
    if (toy) toy_release(toy);
    toy = NULL;
    return 0;
}

static void begin(const struct toy_spec *spec) {
    tear_down(NULL);
    toy = toy_create(spec);
}

static void begin_arch(const char *arch) {
    struct toy_spec spec = toy_spec_of(arch);
    begin(&spec);
}

// In a type whose rows are interleaved when they are first used.
static void begin_quantised(const char *arch) {
    struct toy_spec spec = toy_spec_of(arch);
    spec.type = DTYPE_Q8_0;
    begin(&spec);
}

// The toy with these options, opened anew.
static void open_with(struct rig_options options) {
    if (rig.exec) rig_close(&rig);
    rig_open(&rig, toy, &options);
}

static void run(uint32_t sequence, uint32_t seed, uint32_t count) {
    locum_token tokens[RIG_POSITIONS];
    rig_text(&rig, seed, tokens, count);
    if (rig_run(&rig, sequence, tokens, 0, count) != LOCUM_OK) fail_msg("%s", rig.error.text);
}

static uint64_t hash_with(struct rig_options options) {
    open_with(options);
    run(0, 1, TEXT);
    return rig_hash(&rig, 0, TEXT);
}

// ---- settings -----------------------------------------------------------------------------------
// One setting at a time against the plainest run: one token a step, one thread, everything in memory.
static const struct {
    const char *what;
    struct rig_options options;
} settings[] = {
    {"pool at its floor, chunk 64, 2 threads", {.threads = 2, .chunk = 64, .pool = RIG_FLOOR}},
    {"chunk 8: the last in order of arrival", {.chunk = 8}},
    {"chunk 9: the first in ascending order", {.chunk = 9}},
    {"7 threads, one row of logits at once", {.threads = 7, .chunk = 33, .logit_rows = 1}},
    // So far for every architecture.
    {"the kernels in C", {.chunk = 64, .ref = true}},
    {"2 threads", {.threads = 2, .chunk = 1}},
    {"7 threads", {.threads = 7, .chunk = 1}},
    {"16 threads", {.threads = 16, .chunk = 1}},
    {"chunk 7", {.chunk = 7}},
    {"chunk 64, 2 threads", {.threads = 2, .chunk = 64}},
    {"chunk 512, 7 threads", {.threads = 7, .chunk = 512}},
    {"pool at its floor", {.chunk = 1, .pool = RIG_FLOOR}},
    {"half a pool, chunk 8, 2 threads", {.threads = 2, .chunk = 8, .pool = RIG_HALF}},
    {"buffered", {.chunk = 64, .buffered = true, .pool = RIG_FLOOR}},
    {"more rows of logits than tokens", {.chunk = 3, .logit_rows = 9}},
};
enum { SETTINGS_FOR_EACH = 4, SETTINGS = sizeof settings / sizeof *settings };

static void settings_do_not_matter(const char *name, size_t count) {
    uint64_t base = hash_with((struct rig_options){.chunk = 1});
    for (size_t i = 0; i < count; i++) {
        if (hash_with(settings[i].options) != base)
            fail_msg("%s with %s: other logits", name, settings[i].what);
    }
}

static void settings_do_not_matter_to_any_architecture(void **state) {
    (void)state;
    for (uint32_t i = 0; model_arch_name(i); i++) {
        begin_arch(model_arch_name(i));
        settings_do_not_matter(model_arch_name(i), SETTINGS_FOR_EACH);
    }
}

// Types that need columns of another form, experts of several sizes, caps, odd widths.
static void settings_do_not_matter_to_mixed_models(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen2moe");
    spec.type = DTYPE_Q8_0;
    begin(&spec);
    for (uint32_t i = 0; i < spec.layers; i += 2) { // other layers, other sizes and forms
        toy_tensor(toy, "blk.%u.ffn_gate_exps.weight", i)->type = DTYPE_F16;
        toy_tensor(toy, "blk.%u.attn_k.weight", i)->type = DTYPE_BF16;
        toy_tensor(toy, "blk.%u.ffn_up_shexp.weight", i)->type = DTYPE_F32;
    }
    toy_set_f32(toy, ".final_logit_softcapping", 3);
    toy_set_f32(toy, ".attn_logit_softcapping", 5);
    settings_do_not_matter("mixed qwen2moe", SETTINGS);
    spec = toy_spec_of("qwen3moe");
    spec.width = 40, spec.expert_ff = 24, spec.head_size = 8; // no multiples of a register
    begin(&spec);
    settings_do_not_matter("odd qwen3moe", SETTINGS_FOR_EACH);
    spec = toy_spec_of("gpt-oss");
    spec.width = 40, spec.expert_ff = 24, spec.head_size = 8;
    begin(&spec);
    settings_do_not_matter("odd gpt-oss", SETTINGS_FOR_EACH);
    begin_arch("qwen3moe"); // values wider than keys, half of a head rotated
    toy_set_u32(toy, ".attention.value_length", 24);
    toy_set_u32(toy, ".rope.dimension_count", 8);
    for (uint32_t i = 0; i < 3; i++) {
        char name[LIMIT_GGUF_NAME];
        const uint64_t v[] = {64, 2 * 24}, out[] = {4 * 24, 64};
        snprintf(name, sizeof name, "blk.%u.attn_v.weight", i);
        toy_remove(toy, name);
        toy_add(toy, 0.1, 2, v, "%s", name);
        snprintf(name, sizeof name, "blk.%u.attn_output.weight", i);
        toy_remove(toy, name);
        toy_add(toy, 0.2, 2, out, "%s", name);
    }
    settings_do_not_matter("qwen3moe with wide values", SETTINGS_FOR_EACH);
}

// A token sees more blocks than workers compute before they merge them, with and without a window.
static void workers_share_long_contexts(void **state) {
    (void)state;
    enum { LONG = 3200 }; // 50 blocks
    static const char *const names[] = {"llama", "gemma3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct toy_spec spec = toy_spec_of(names[i]);
        spec.layers = 1;
        spec.heads_kv = 1;
        if (spec.window) spec.window = 3110; // 49 or 50 blocks
        begin(&spec);
        static const struct rig_options same[] = {
            {.threads = 1, .chunk = 64},
            {.threads = 2, .chunk = 1}, // waves of 32 blocks
            {.threads = 3, .chunk = 1}, // of 48
            {.threads = 2, .chunk = 3}, // of 11; behind a border a token sees one more
        };
        uint64_t base = 0;
        for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
            open_with(same[k]);
            run(0, 1, LONG);
            if (k == 0) base = rig_hash(&rig, 0, LONG);
            if (rig_hash(&rig, 0, LONG) != base)
                fail_msg("%s, %u threads, chunk %u", names[i], same[k].threads, same[k].chunk);
        }
    }
}

// ---- numbers ------------------------------------------------------------------------------------
// The definition in double, and what is left of it in float32.
static void logits_are_those_of_the_definition(void **state) {
    (void)state;
    static double expected[TEXT][320];
    locum_token tokens[TEXT];
    for (uint32_t i = 0; model_arch_name(i); i++) {
        begin_arch(model_arch_name(i));
        open_with((struct rig_options){.kv_type = EXEC_KV_F32, .threads = 2, .pool = RIG_FLOOR});
        rig_text(&rig, 1, tokens, TEXT);
        toy_forward(toy, tokens, TEXT, &expected[0][0]);
        run(0, 1, TEXT);
        double worst = 0, largest = 0;
        for (uint32_t row = 0; row < TEXT; row++) {
            for (uint32_t k = 0; k < 320; k++) {
                worst = fmax(worst, fabs(expected[row][k] - (double)rig_row(&rig, row)[k]));
                largest = fmax(largest, fabs(expected[row][k]));
            }
        }
        if (!(worst < 2e-4 * largest))
            fail_msg("%s: off by %g of %g", model_arch_name(i), worst, largest);
    }
}

// Columns are made once for several matrices, and again whenever their source has changed.
static void columns_are_never_stale(void) {
    const struct plan *plan = &rig.model.plan;
    uint32_t version[64] = {0}, held[EXEC_ACTS], held_version[EXEC_ACTS] = {0}, made = 0, uses = 0;
    assert_true(plan->n_buffers <= 64);
    for (int a = 0; a < EXEC_ACTS; a++)
        held[a] = PLAN_NONE;
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];
        uint32_t types[2] = {PLAN_NONE, PLAN_NONE};
        if (op->kind == PLAN_MATMUL) types[0] = plan->weights[op->weight].dtype;
        if (op->kind == PLAN_EXPERTS) {
            types[0] = plan->experts[op->u.experts.set].matrix[PLAN_GATE].dtype;
            types[1] = plan->experts[op->u.experts.set].matrix[PLAN_UP].dtype;
        }
        for (int a = 0; a < EXEC_ACTS; a++) {
            if (!rig.exec->ops[i].quantise[a]) continue;
            held[a] = op->in, held_version[a] = version[op->in];
            made++;
        }
        for (int t = 0; t < 2 && types[t] != PLAN_NONE; t++) {
            enum kernels_act act = kernels_act_of(types[t]);
            assert_int_equal(held[act], op->in);
            assert_int_equal(held_version[act], version[op->in]);
            uses++;
        }
        if (op->kind != PLAN_KV_WRITE && op->kind != PLAN_ROUTER) version[op->out]++;
    }
    assert_true(made < uses); // some are shared
}

static void columns_of_mixed_types(void **state) {
    (void)state;
    static const char *const roles[] = {"attn_q",   "attn_v",        "attn_output",
                                        "ffn_gate", "ffn_gate_exps", "ffn_up_exps"};
    for (uint32_t i = 0; model_arch_name(i); i++) {
        for (uint32_t mask = 0; mask < 64; mask += 9) { // which of them are Q8_0
            begin_arch(model_arch_name(i));
            for (uint32_t t = 0; t < toy->tensor_count; t++) {
                for (uint32_t r = 0; r < 6; r++) {
                    char part[32];
                    snprintf(part, sizeof part, ".%s.weight", roles[r]);
                    if ((mask >> r & 1) && strstr(toy->tensors[t].name, part))
                        toy->tensors[t].type = DTYPE_Q8_0;
                }
            }
            open_with((struct rig_options){.chunk = 8});
            columns_are_never_stale();
        }
    }
}

// A fixture whose experts are hardly used, or whose tokens do not matter, would prove nothing.
static void toy_models_are_lively(void **state) {
    (void)state;
    enum { LIVELY = 300 };
    for (uint32_t i = 0; model_arch_name(i); i++) {
        begin_arch(model_arch_name(i));
        open_with((struct rig_options){.pool = RIG_FULL});
        run(0, 1, LIVELY);
        bool best[4096] = {false};
        uint32_t words = rig.model.plan.vocabulary, distinct = 0;
        for (uint32_t row = 0; row < LIVELY; row++) {
            size_t top;
            assert_true(rig.kernels.argmax(rig_row(&rig, row), words, &top));
            distinct += !best[top];
            best[top] = true;
        }
        if (distinct < 50) fail_msg("%s: %u distinct tokens", model_arch_name(i), distinct);
        if (!rig.store) continue;
        struct store_stats stats;
        store_get_stats(rig.store, &stats);
        uint32_t experts = toy->spec.experts * toy->spec.layers;
        assert_true(stats.misses[STORE_PREFILL] * 10 >= experts * 9);
    }
}

static void floor_works_in_rounds_and_full_reads_once(void **state) {
    (void)state;
    begin_arch("qwen3moe");
    struct store_stats stats;
    open_with((struct rig_options){.pool = RIG_FLOOR});
    run(0, 1, TEXT);
    store_get_stats(rig.store, &stats);
    assert_true(stats.evictions > 0);
    assert_true(stats.misses[STORE_PREFILL] > 3u * 8u); // every chunk reads its experts
    open_with((struct rig_options){.pool = RIG_FULL});
    run(0, 1, TEXT);
    run(1, 2, TEXT);
    store_get_stats(rig.store, &stats);
    assert_int_equal(stats.evictions, 0);
    assert_true(stats.misses[STORE_PREFILL] <= 3u * 8u);
}

static void forms_are_one_model(const char *arch) {
    struct toy_spec spec = toy_spec_of(arch);
    spec.type = DTYPE_Q8_0;
    begin(&spec);
    uint64_t base = hash_with((struct rig_options){.pool = RIG_FLOOR});
    spec.form = TOY_EACH;
    begin(&spec);
    assert_int_equal(hash_with((struct rig_options){.pool = RIG_FLOOR}), base);
    spec.form = TOY_FUSED;
    begin(&spec);
    assert_int_equal(hash_with((struct rig_options){.pool = RIG_FLOOR}), base);
    assert_int_equal(hash_with((struct rig_options){.chunk = 1, .threads = 3}), base);
}

static void forms_of_experts_are_one_model(void **state) {
    (void)state;
    forms_are_one_model("llama");
    forms_are_one_model("gpt-oss"); // with biases
}

static void cache_types(void **state) {
    (void)state;
    begin_arch("qwen3moe");
    uint64_t half = hash_with((struct rig_options){.chunk = 1});
    float row[4096];
    size_t words = rig.model.plan.vocabulary;
    memcpy(row, rig_row(&rig, TEXT - 1), words * sizeof *row);
    uint64_t single = hash_with((struct rig_options){.chunk = 1, .kv_type = EXEC_KV_F32});
    assert_true(single != half);
    assert_int_equal(
        hash_with((struct rig_options){
            .threads = 2, .kv_type = EXEC_KV_F32, .pool = RIG_FLOOR}),
        single);
    for (size_t i = 0; i < words; i++) // rounded keys and values, not others
        assert_true(fabsf(row[i] - rig_row(&rig, TEXT - 1)[i]) < 0.5f);
}

// Rounded to 8 bits: another answer than float16's, near it, and the same one in every setting.
static void cache_of_8_bits(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.head_size = 32;
    begin(&spec);
    static const struct rig_options options[] = {
        {.chunk = 1, .kv_type = EXEC_KV_Q8_0},
        {.threads = 2, .chunk = 7, .kv_type = EXEC_KV_Q8_0, .pool = RIG_FLOOR},
        {.threads = 7, .chunk = 1, .kv_type = EXEC_KV_Q8_0},
        {.chunk = 64, .ref = true, .kv_type = EXEC_KV_Q8_0},
    };
    uint64_t half = hash_with((struct rig_options){.chunk = 1});
    float row[4096];
    size_t words = rig.model.plan.vocabulary;
    memcpy(row, rig_row(&rig, TEXT - 1), words * sizeof *row);
    uint64_t base = hash_with(options[0]);
    assert_true(base != half);
    for (size_t i = 0; i < words; i++)
        assert_true(fabsf(row[i] - rig_row(&rig, TEXT - 1)[i]) < 0.5f);
    for (size_t i = 1; i < sizeof options / sizeof *options; i++)
        assert_int_equal(hash_with(options[i]), base);
}

// ---- batches ------------------------------------------------------------------------------------
// Tokens of several sequences in one step: each has the logits that it has alone.
struct mix {
    locum_token tokens[RIG_SEQUENCES][RIG_POSITIONS];
    uint32_t count[RIG_SEQUENCES];
    uint64_t alone[RIG_SEQUENCES];
};

static void mix_run(const struct mix *mix, uint32_t each, struct rig_options options) {
    uint64_t hash[RIG_SEQUENCES];
    uint32_t done[RIG_SEQUENCES] = {0}, positions[LIMIT_CHUNK], sequence[LIMIT_CHUNK], n;
    locum_token tokens[LIMIT_CHUNK];
    bool wants[LIMIT_CHUNK];
    open_with(options);
    for (uint32_t s = 0; s < RIG_SEQUENCES; s++)
        hash[s] = UINT64_C(0xcbf29ce484222325);
    do {
        n = 0;
        for (uint32_t round = 0; round < each; round++) { // taking turns: s0 s1 s2 s3 s0 s1 ...
            for (uint32_t s = 0; s < RIG_SEQUENCES; s++) {
                if (done[s] == mix->count[s]) continue;
                tokens[n] = mix->tokens[s][done[s]];
                positions[n] = done[s]++;
                sequence[n] = s;
                wants[n++] = true;
            }
        }
        struct exec_batch batch = {n, tokens, positions, sequence, rig.sequences, wants, 0};
        if (n && rig_step(&rig, &batch, NULL) != LOCUM_OK) fail_msg("%s", rig.error.text);
        for (uint32_t i = 0; i < n; i++) { // the rows of a sequence, in order
            for (uint32_t k = 0; k < rig.model.plan.vocabulary; k++) {
                uint32_t bits;
                memcpy(&bits, &rig_row(&rig, i)[k], sizeof bits);
                hash[sequence[i]] = (hash[sequence[i]] ^ bits) * UINT64_C(0x100000001b3);
            }
        }
    } while (n > 0);
    for (uint32_t s = 0; s < RIG_SEQUENCES; s++)
        assert_int_equal(hash[s], mix->alone[s]);
}

static void neighbours_do_not_matter(void **state) {
    (void)state;
    static const char *const archs[] = {"qwen3moe", "gemma3", "qwen35moe"};
    static struct mix mix;
    for (size_t a = 0; a < 3; a++) {
        begin_arch(archs[a]);
        for (uint32_t s = 0; s < RIG_SEQUENCES; s++) {
            mix.count[s] = 30 + 20 * s; // the last ones end in another page
            open_with((struct rig_options){.chunk = 16});
            rig_text(&rig, 10 + s, mix.tokens[s], mix.count[s]);
            assert_int_equal(rig_run(&rig, 0, mix.tokens[s], 0, mix.count[s]), LOCUM_OK);
            mix.alone[s] = rig_hash(&rig, 0, mix.count[s]);
        }
        mix_run(&mix, 1, (struct rig_options){.threads = 2});
        mix_run(&mix, 2, (struct rig_options){.pool = RIG_FLOOR}); // 8 tokens: order of arrival
        mix_run(&mix, 13, (struct rig_options){.threads = 3, .pool = RIG_FLOOR});
    }
}

// What recurrent layers hold before a position in the middle of a step goes to the checkpoint, and from
// there the text can be continued.
static void checkpoints_hold_what_was_before(void **state) {
    (void)state;
    enum { LONG = 90, AT = 77 };
    locum_token tokens[LONG];
    begin_arch("qwen35moe");
    static const struct rig_options same[] = {
        {.threads = 2, .chunk = 16}, {.chunk = 1}, {.chunk = 77}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        open_with(same[i]);
        rig_text(&rig, 1, tokens, LONG);
        struct exec_sequence *first = &rig.sequences[0], *second = &rig.sequences[1];
        size_t bytes = (size_t)plan_state_bytes(&rig.model.plan);
        first->checkpoint_at = AT;
        assert_int_equal(rig_run(&rig, 0, tokens, 0, LONG), LOCUM_OK);
        uint64_t tail = rig_hash(&rig, AT, LONG - AT);
        assert_int_equal(rig_run(&rig, 1, tokens, 0, AT), LOCUM_OK);
        assert_memory_equal(first->checkpoint, second->state, bytes);
        assert_memory_not_equal(first->state, second->state, bytes);
        memcpy(first->state, first->checkpoint, bytes);
        first->checkpoint_at = EXEC_NO_CHECKPOINT;
        assert_int_equal(rig_run(&rig, 0, tokens + AT, AT, LONG - AT), LOCUM_OK);
        assert_int_equal(rig_hash(&rig, 0, LONG - AT), tail);
    }
}

static void only_wanted_rows_come(void **state) {
    (void)state;
    begin_arch("qwen3moe");
    uint64_t all = hash_with((struct rig_options){.chunk = 64, .logit_rows = 3});
    float expected[64][320];
    for (uint32_t i = 0; i < 64; i++)
        memcpy(expected[i], rig_row(&rig, i), sizeof expected[i]);
    assert_true(all != 0);
    locum_token tokens[64];
    uint32_t positions[64];
    bool wants[64];
    rig_text(&rig, 1, tokens, 64);
    for (uint32_t i = 0; i < 64; i++)
        positions[i] = i, wants[i] = i % 5 == 2; // 13 rows: four full runs of the head, one of 1
    struct exec_batch batch = {64, tokens, positions, NULL, rig.sequences, wants, 0};
    assert_int_equal(rig_step(&rig, &batch, NULL), LOCUM_OK);
    assert_int_equal(rig.rows, 13);
    for (uint32_t i = 0; i < 13; i++) {
        assert_int_equal(rig.row_of[i], 5 * i + 2);
        assert_memory_equal(rig_row(&rig, 5 * i + 2), expected[5 * i + 2], sizeof expected[0]);
    }
    batch.wants_logits = NULL; // the last alone
    assert_int_equal(rig_step(&rig, &batch, NULL), LOCUM_OK);
    assert_int_equal(rig.rows, 1);
    assert_int_equal(rig.row_of[0], 63);
    assert_memory_equal(rig_row(&rig, 63), expected[63], sizeof expected[0]);
    memset(wants, 0, sizeof wants); // none: the head does not run
    batch.wants_logits = wants;
    assert_int_equal(rig_step(&rig, &batch, NULL), LOCUM_OK);
    assert_int_equal(rig.rows, 0);
}

// ---- the sliding window -------------------------------------------------------------------------
// In a model of one layer a position depends on exactly the last `window` tokens.
static void depends_on_its_window_alone(const char *arch, uint32_t window) {
    static const uint32_t places[] = {62, 63, 64, 65, 127, 128, 129, 191, 192, 200};
    struct toy_spec spec = toy_spec_of(arch);
    spec.layers = 1;
    spec.window = window;
    begin(&spec);
    open_with((struct rig_options){.chunk = 16});
    enum { COUNT = 201 };
    locum_token tokens[COUNT];
    float before[320];
    rig_text(&rig, 1, tokens, COUNT);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        uint32_t p = places[i];
        if (p < window) continue;
        assert_int_equal(rig_run(&rig, 0, tokens, 0, p + 1), LOCUM_OK);
        memcpy(before, rig_row(&rig, p), sizeof before);
        for (uint32_t inside = 0; inside < 2; inside++) {
            uint32_t other = p - window + inside; // the last one outside, the first one inside
            tokens[other] ^= 1;
            assert_int_equal(rig_run(&rig, 0, tokens + other, other, p + 1 - other), LOCUM_OK);
            tokens[other] ^= 1;
            bool same = memcmp(before, rig_row(&rig, p - other), sizeof before) == 0;
            if (same == (inside == 1)) fail_msg("%s, window %u, position %u", arch, window, p);
        }
    }
}

static void window_at_the_borders_of_pages(void **state) {
    (void)state;
    static const uint32_t windows[] = {1, 2, 48, 63, 64, 65, 128};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        depends_on_its_window_alone("gemma3", windows[i]);
    depends_on_its_window_alone("gpt-oss", 65); // with sinks
}

// ---- failures -----------------------------------------------------------------------------------
static const float *nan_of(void) {
    static const uint32_t bits = 0x7fc00000;
    static float value;
    memcpy(&value, &bits, sizeof value);
    return &value;
}

// A NaN in the row that token 7 alone reads: steps with it fail, others are as they were.
static void numeric_failure_leaves_the_rest(void **state) {
    (void)state;
    begin_arch("qwen3moe");
    uint64_t base = hash_with((struct rig_options){.threads = 2});
    locum_token tokens[TEXT];
    rig_text(&rig, 1, tokens, TEXT);
    for (uint32_t i = 0; i < TEXT; i++)
        assert_int_not_equal(tokens[i], 7);
    struct toy_tensor *embedding = toy_tensor(toy, "token_embd.weight");
    embedding->values[7 * embedding->shape[0] + 5] = *nan_of();
    open_with((struct rig_options){.threads = 2});
    locum_token other[100];
    rig_text(&rig, 3, other, 100);
    other[70] = 7;
    assert_int_equal(rig_run(&rig, 1, other, 0, 100), LOCUM_E_NUMERIC);
    assert_int_equal(rig.error.status, LOCUM_E_NUMERIC);
    assert_non_null(strstr(rig.error.text, "layer 0"));
    assert_non_null(strstr(rig.error.text, "'norm'"));
    assert_int_equal(rig.rows, 64); // the first chunk was done
    run(0, 1, TEXT);
    assert_int_equal(rig_hash(&rig, 0, TEXT), base);
}

// Where the NaN comes from, and the first operation that meets it.
static void numeric_failures_name_the_place(void **state) {
    (void)state;
    static const struct {
        const char *arch, *tensor, *words;
    } cases[] = {
        {"qwen3moe", "blk.1.attn_q.weight", "layer 1: operation 'norm'"},
        {"qwen3moe", "blk.1.attn_v.weight", "layer 1: operation 'matmul'"},
        {"llama", "blk.2.attn_k.weight", "layer 2: operation 'matmul'"},
        {"llama", "blk.0.attn_output.weight", "layer 0: operation 'norm'"},
        {"qwen3moe", "blk.2.ffn_gate_inp.weight", "layer 2: operation 'router'"},
        {"qwen2moe", "blk.1.ffn_down_shexp.weight", "layer 2: operation 'norm'"},
        {"qwen2moe", "blk.1.ffn_up_shexp.weight", "layer 1: operation 'matmul'"}, // experts have begun
        {"qwen3", "blk.1.ffn_up.weight", "layer 1: operation 'matmul'"},
        {"qwen3", "output_norm.weight", "operation 'matmul'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_arch(cases[i].arch);
        toy_tensor(toy, "%s", cases[i].tensor)->values[0] = *nan_of();
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            open_with((struct rig_options){.threads = threads});
            locum_token tokens[20];
            rig_text(&rig, 1, tokens, 20);
            for (int again = 0; again < 2; again++) { // nothing of the first is left
                assert_int_equal(rig_run(&rig, 0, tokens, 0, 20), LOCUM_E_NUMERIC);
                if (!strstr(rig.error.text, cases[i].words))
                    fail_msg("%s: %s", cases[i].tensor, rig.error.text);
            }
        }
    }
}

// One expert is broken. Who is not routed to it has the right answer, whoever was there before.
// When it is met, its gate is interleaved already and its down matrix is not.
static void broken_expert_breaks_its_tokens_only(void **state) {
    (void)state;
    begin_quantised("qwen3moe");
    toy_tensor(toy, "blk.1.ffn_up_exps.weight")->type = DTYPE_F32; // which can hold a NaN
    open_with((struct rig_options){.chunk = 1});
    run(0, 1, TEXT);
    static float good[TEXT][320];
    for (uint32_t i = 0; i < TEXT; i++)
        memcpy(good[i], rig_row(&rig, i), sizeof good[i]);
    struct toy_tensor *up = toy_tensor(toy, "blk.1.ffn_up_exps.weight");
    up->values[3 * up->shape[0] * up->shape[1]] = *nan_of(); // expert 3
    open_with((struct rig_options){.chunk = 1, .threads = 2, .pool = RIG_FLOOR});
    locum_token tokens[TEXT];
    rig_text(&rig, 1, tokens, TEXT);
    uint32_t failed = 0;
    for (uint32_t i = 0; i < TEXT; i++) { // every token alone, at position 0
        locum_status status = rig_run(&rig, 0, &tokens[i], 0, 1);
        failed += status != LOCUM_OK;
        if (status == LOCUM_OK) continue;
        assert_int_equal(status, LOCUM_E_NUMERIC);
        assert_non_null(strstr(rig.error.text, "layer 1: operation 'experts'"));
    }
    assert_true(failed > 0 && failed < TEXT);
    locum_status status = LOCUM_OK; // the text itself, up to the first token that fails
    uint32_t at = 0;
    for (; at < TEXT && status == LOCUM_OK; at++) {
        status = rig_run(&rig, 0, &tokens[at], at, 1);
        if (status == LOCUM_OK) assert_memory_equal(rig_row(&rig, 0), good[at], sizeof good[0]);
    }
    assert_int_equal(status, LOCUM_E_NUMERIC);
}

// ---- cancelling ---------------------------------------------------------------------------------
struct cancelling {
    atomic_bool flag;
    uint32_t at, layers; // cancel in this layer; layers traced so far
};

static void cancel_at(void *user, uint32_t layer, uint32_t token, uint32_t used,
                      const uint32_t *ids, const float *weights, const uint32_t *rank,
                      const enum exec_residency *residency) {
    (void)used, (void)ids, (void)weights, (void)rank, (void)residency;
    struct cancelling *c = user;
    if (token > 0) return;
    c->layers++;
    if (layer == c->at) atomic_store(&c->flag, true);
}

static void cancelled_between_operations(void **state) {
    (void)state;
    begin_quantised("qwen3moe");
    uint64_t base = hash_with((struct rig_options){.chunk = 64});
    struct cancelling c = {.at = 1};
    open_with((struct rig_options){
        .threads = 3, .pool = RIG_FLOOR, .trace = cancel_at, .trace_user = &c});
    locum_token tokens[50];
    uint32_t positions[50];
    rig_text(&rig, 5, tokens, 50);
    for (uint32_t i = 0; i < 50; i++)
        positions[i] = i;
    struct exec_batch batch = {50, tokens, positions, NULL, rig.sequences, NULL, 0};
    for (int again = 0; again < 3; again++) {
        atomic_store(&c.flag, false);
        c.layers = 0;
        assert_int_equal(rig_step(&rig, &batch, &c.flag), LOCUM_E_CANCELLED);
        assert_int_equal(rig.error.status, LOCUM_E_CANCELLED);
        assert_int_equal(c.layers, 2); // layers 0 and 1, not 2
        assert_int_equal(rig.rows, 0);
    }
    atomic_store(&c.flag, true); // already set: nothing is computed
    c.layers = 0;
    assert_int_equal(rig_step(&rig, &batch, &c.flag), LOCUM_E_CANCELLED);
    assert_int_equal(c.layers, 0);
    locum_error error;
    assert_true(store_check(rig.store, &error));
    run(0, 1, TEXT); // without a flag
    assert_int_equal(rig_hash(&rig, 0, TEXT), base);
}

// ---- a disk that fails --------------------------------------------------------------------------
static void slow_disk_does_not_matter(void **state) {
    (void)state;
    begin_arch("qwen3moe");
    uint64_t base = hash_with((struct rig_options){.chunk = 16});
    open_with((struct rig_options){.chunk = 16, .threads = 2, .pool = RIG_FLOOR});
    rig.disk.short_every = 3;
    rig.disk.interrupt_every = 5;
    rig.disk.delay_ns_max = 200000;
    run(0, 1, TEXT);
    assert_int_equal(rig_hash(&rig, 0, TEXT), base);
}

static void failed_read_ends_its_step_only(void **state) {
    (void)state;
    begin_quantised("qwen3moe");
    uint64_t base = hash_with((struct rig_options){.chunk = 16});
    for (uint32_t chunk = 1; chunk <= 16; chunk += 15) { // both orders
        open_with((struct rig_options){.chunk = chunk, .threads = 2, .pool = RIG_FLOOR});
        locum_token tokens[TEXT];
        rig_text(&rig, 1, tokens, TEXT);
        rig.disk.fail_from = atomic_load(&rig.disk.reads) + 20;
        assert_int_equal(rig_run(&rig, 0, tokens, 0, TEXT), LOCUM_E_IO);
        assert_non_null(strstr(rig.error.text, "toy.gguf"));
        if (!strstr(rig.error.text, "byte")) fail_msg("%s", rig.error.text);
        rig.disk.fail_from = 0;
        locum_error error;
        assert_true(store_check(rig.store, &error));
        run(0, 1, TEXT);
        assert_int_equal(rig_hash(&rig, 0, TEXT), base);
    }
}

// ---- sizes --------------------------------------------------------------------------------------
// The largest numbers that the binder lets through must not wrap on their way into a size.
static void workspace_of_the_largest_model(void **state) {
    (void)state;
    struct arena arena;
    struct plan_builder b;
    struct plan plan;
    locum_error error;
    arena_init(&arena, 0);
    plan_builder_init(&b, &arena, &error);
    b.plan.vocabulary = LIMIT_VOCABULARY;
    const uint64_t width = (uint64_t)LIMIT_HEADS * LIMIT_HEAD_SIZE;
    struct plan_weight embedding = {.name = "e", .cols = width, .rows = LIMIT_VOCABULARY};
    uint32_t weight = plan_add_weight(&b, &embedding);
    uint32_t x = plan_add_buffer(&b, "x", width, false);
    uint32_t h = plan_add_buffer(&b, "h", width, true);
    uint32_t logits = plan_add_buffer(&b, "logits", LIMIT_VOCABULARY, true);
    struct plan_experts set = {.experts = LIMIT_EXPERTS,
                               .used = LIMIT_EXPERTS_USED,
                               .inputs = width,
                               .width = LIMIT_EMBEDDING};
    struct plan_op op = plan_op_make(PLAN_EMBED, PLAN_NONE);
    plan_add_experts(&b, &set);
    op.out = x, op.weight = weight;
    plan_add_op(&b, op);
    plan_begin_head(&b);
    op = plan_op_make(PLAN_GATHER, PLAN_NONE);
    op.in = x, op.out = h;
    plan_add_op(&b, op);
    op = plan_op_make(PLAN_MATMUL, PLAN_NONE);
    op.in = h, op.out = logits, op.weight = weight;
    plan_add_op(&b, op);
    assert_int_equal(plan_finish(&b, logits, &plan), LOCUM_OK);
    struct exec_kv_layout kv = {.type = EXEC_KV_F16};
    uint64_t bytes = exec_workspace_bytes(&plan, &kv, LIMIT_CHUNK, 4, LIMIT_THREADS);
    uint64_t rows = LIMIT_CHUNK * width * 4; // x; as many for columns and for y
    uint64_t hidden = LIMIT_CHUNK * 2ull * LIMIT_EMBEDDING * 4;
    assert_true(bytes >= 3 * rows + hidden + 4ull * LIMIT_VOCABULARY * 4);
    assert_true(bytes < 2 * (3 * rows + hidden + 4ull * LIMIT_VOCABULARY * 4));
    arena_release(&arena);
}

int main(void) {
#define TEST(function) cmocka_unit_test_teardown(function, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(logits_are_those_of_the_definition),
        TEST(columns_of_mixed_types),
        TEST(toy_models_are_lively),
        TEST(settings_do_not_matter_to_any_architecture),
        TEST(settings_do_not_matter_to_mixed_models),
        TEST(workers_share_long_contexts),
        TEST(floor_works_in_rounds_and_full_reads_once),
        TEST(forms_of_experts_are_one_model),
        TEST(cache_types),
        TEST(cache_of_8_bits),
        TEST(neighbours_do_not_matter),
        TEST(checkpoints_hold_what_was_before),
        TEST(only_wanted_rows_come),
        TEST(window_at_the_borders_of_pages),
        TEST(numeric_failure_leaves_the_rest),
        TEST(numeric_failures_name_the_place),
        TEST(broken_expert_breaks_its_tokens_only),
        TEST(cancelled_between_operations),
        TEST(slow_disk_does_not_matter),
        TEST(failed_read_ends_its_step_only),
        TEST(workspace_of_the_largest_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
