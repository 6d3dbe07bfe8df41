// SPDX-License-Identifier: Apache-2.0
//
// locum bench: speed, bytes and hit rate of prompts and answers, over several repetitions.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_commands.h"
#include "cli_interrupt.h"
#include "cli_json.h"
#include "cli_model.h"
#include "cli_number.h"
#include "cli_output.h"
#include "cli_progress.h"

enum {
    PROMPT_TOKENS = 256,
    ANSWER_TOKENS = 64,
    REPETITIONS = 3,
    // The library's own choice, or what the model was trained for if that is less.
    CONTEXT_USUAL = 4096,
    EMPTY_SHARE = 8 // slots count as full when at most 1/8 of what they may take is empty
};

// Numbers of the streams of random ids that are no repetition.
static const uint32_t CONTEXT_STREAM = UINT32_MAX, WARM_UP_STREAM = UINT32_MAX - 1;

struct bench {
    struct cli_model model;
    uint32_t depth, warm_up; // tokens that are computed and not measured
    uint32_t prompt, answer, repetitions, done;
    uint64_t seed;
    locum_token *ids;  // [depth + prompt], or [warm_up] if that is more
    locum_stats *runs; // [repetitions]
};

static uint32_t number_or(const struct cli_value *value, uint32_t otherwise) {
    return value->given ? (uint32_t)value->integer : otherwise;
}

// ---- measuring ---------------------------------------------------------------------------------
// splitmix64: position n of a stream without state.
static uint64_t mixed(uint64_t n) {
    uint64_t z = n * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void make_ids(const struct bench *b, uint32_t stream, locum_token *ids, uint32_t count) {
    uint64_t first = mixed(b->seed + 1) + ((uint64_t)stream << 32);
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = (locum_token)(mixed(first + i) % b->model.info.vocabulary);
    }
}

static bool on_event(void *user, const locum_event *event) {
    (void)user, (void)event;
    return cli_interrupt_seen();
}

// Computes the first `count` ids, as far as the session does not hold them yet, and `answer` more.
static int compute(const struct bench *b, locum_session *session, uint32_t count, uint32_t answer,
                   locum_stats *stats) {
    locum_request request;
    locum_request_init(&request);
    request.prompt = b->ids;
    request.prompt_count = count;
    request.predict = answer;
    request.ignore_end = true;
    locum_sampling sampling;
    locum_sampling_init(&sampling);
    sampling.temperature = 0;
    sampling.has_seed = true;
    sampling.seed = b->seed;
    request.sampling = &sampling;
    request.event = on_event;
    locum_error error;
    locum_status status = locum_generate(session, &request, NULL, stats, &error);
    if (cli_interrupt_seen()) return CLI_EXIT_INTERRUPTED;
    return status == LOCUM_OK ? CLI_EXIT_OK : cli_model_fail(status, &error, true);
}

static int warm_up(const struct bench *b, locum_session *session) {
    if (b->warm_up == 0) return CLI_EXIT_OK;
    cli_progress("warming up", 0, 0);
    make_ids(b, WARM_UP_STREAM, b->ids, b->warm_up);
    return compute(b, session, b->warm_up, 0, NULL);
}

// Leaves the session with the tokens before the prompt and no others. All repetitions begin with
// the same ones, so only the first has to compute them.
static int go_to_depth(const struct bench *b, locum_session *session) {
    if (b->depth > 0) return compute(b, session, b->depth, 0, NULL);
    locum_session_reset(session);
    return CLI_EXIT_OK;
}

static int measure_once(struct bench *b, locum_session *session, uint32_t repetition) {
    char what[64];
    snprintf(what, sizeof what, "repetition %u of %u", repetition + 1, b->repetitions);
    cli_progress(what, 0, 0);
    make_ids(b, repetition, b->ids + b->depth, b->prompt);
    int status = go_to_depth(b, session);
    if (status != CLI_EXIT_OK) return status;
    status = compute(b, session, b->depth + b->prompt, b->answer, &b->runs[repetition]);
    if (status == CLI_EXIT_OK) b->done++;
    return status;
}

static int measure(struct bench *b) {
    locum_error error;
    locum_session *session;
    locum_status opened = locum_session_open(b->model.model, &session, &error);
    if (opened != LOCUM_OK) return cli_model_fail(opened, &error, true);
    cli_interrupt_watch(session);
    int status = warm_up(b, session);
    make_ids(b, CONTEXT_STREAM, b->ids, b->depth);
    for (uint32_t i = 0; i < b->repetitions && status == CLI_EXIT_OK; i++) {
        status = measure_once(b, session, i);
    }
    cli_interrupt_watch(NULL);
    cli_progress_end();
    locum_session_close(session);
    return status;
}

// ---- results -----------------------------------------------------------------------------------
// Of one phase, over all repetitions.
struct phase {
    const char *name;
    uint64_t tokens, hits, misses, bytes;
    double seconds, io_wait;
    double median, least, most; // tokens/s; 0: nothing was computed
};

static int by_size(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void add_run(struct phase *phase, bool answer, const locum_stats *s) {
    phase->tokens += answer ? s->decode_steps : s->computed_tokens;
    phase->hits += answer ? s->hits_decode : s->hits_prefill;
    phase->misses += answer ? s->misses_decode : s->misses_prefill;
    phase->bytes += answer ? s->bytes_read_decode : s->bytes_read_prefill;
    phase->seconds += answer ? s->decode_s : s->prefill_s;
    phase->io_wait += answer ? s->io_wait_decode_s : s->io_wait_prefill_s;
}

// rates: room for one number per repetition.
static struct phase summarise(const struct bench *b, bool answer, double *rates) {
    struct phase phase = {.name = answer ? "answer" : "prompt"};
    for (uint32_t i = 0; i < b->done; i++) {
        struct phase one = {0};
        add_run(&one, answer, &b->runs[i]);
        add_run(&phase, answer, &b->runs[i]);
        rates[i] = one.seconds > 0 ? (double)one.tokens / one.seconds : 0;
    }
    qsort(rates, b->done, sizeof *rates, by_size);
    phase.least = rates[0];
    phase.most = rates[b->done - 1];
    phase.median = (rates[b->done / 2] + rates[(b->done - 1) / 2]) / 2;
    return phase;
}

static double sample_seconds(const struct bench *b) {
    double sum = 0;
    for (uint32_t i = 0; i < b->done; i++)
        sum += b->runs[i].sample_s;
    return sum;
}

static const locum_stats *last_run(const struct bench *b) {
    return &b->runs[b->done - 1];
}

// ---- is the budget used? -----------------------------------------------------------------------
enum slots_use {
    SLOTS_NONE,       // no experts
    SLOTS_FULL,       // but for a rest
    SLOTS_ALL_FIT,    // every expert that was called is there, all others could be
    SLOTS_NOT_CALLED, // there is room, and nothing gave way: the work did not call for more
    SLOTS_UNUSED,     // there is room, and yet experts gave way to others
};
static const struct {
    const char *name, *why;
} slots_uses[] = {
    [SLOTS_FULL] = {"full", ""},
    [SLOTS_ALL_FIT] = {"all_fit", ": those that were called; all fit"},
    [SLOTS_NOT_CALLED] = {"not_called", ": none gave way; longer work or --warm-up fills more"},
    [SLOTS_UNUSED] = {"unused", ", although experts gave way to others"},
};

struct slots {
    uint64_t room;      // what the budget leaves for experts
    uint64_t filled;    // bytes of slots with an expert in them, after the last repetition
    uint64_t evictions; // in all repetitions
    enum slots_use use;
};

static struct slots slots_after(const struct bench *b) {
    locum_memory_plan plan;
    locum_model_get_plan(b->model.model, &plan);
    struct slots s = {.filled = last_run(b)->resident_slots};
    uint64_t others = plan.dense + plan.kv + plan.recurrent + plan.scratch + plan.fixed;
    s.room = plan.streaming ? plan.budget - others : plan.slots;
    // The pool has given way where memory was short.
    if (last_run(b)->slots_bytes < s.room / 4 * 3) s.room = last_run(b)->slots_bytes;
    for (uint32_t i = 0; i < b->done; i++)
        s.evictions += b->runs[i].evictions;
    uint64_t empty = s.room > s.filled ? s.room - s.filled : 0;
    s.use = plan.slots == 0                 ? SLOTS_NONE
            : !plan.streaming               ? SLOTS_ALL_FIT
            : empty <= s.room / EMPTY_SHARE ? SLOTS_FULL
            : s.evictions == 0              ? SLOTS_NOT_CALLED
                                            : SLOTS_UNUSED;
    return s;
}

static void warn_unused(const struct slots *s) {
    char empty[CLI_NUMBER_TEXT], room[CLI_NUMBER_TEXT], gone[CLI_NUMBER_TEXT];
    if (s->use != SLOTS_UNUSED) return;
    cli_output_warn("the memory budget is not used: of %s for experts %s stayed empty, although "
                    "experts gave way to others %s times",
                    cli_number_bytes(s->room, room), cli_number_bytes(s->room - s->filled, empty),
                    cli_number_count(s->evictions, gone));
}

static void print_slots(const struct slots *s) {
    char filled[CLI_NUMBER_TEXT], room[CLI_NUMBER_TEXT];
    if (s->use == SLOTS_NONE) return;
    cli_output_print("  slots hold %s of experts, of %s%s\n", cli_number_bytes(s->filled, filled),
                     cli_number_bytes(s->room, room), slots_uses[s->use].why);
}

// ---- printing ----------------------------------------------------------------------------------
// Of all repetitions.
struct reads {
    uint64_t count, bytes;
    double seconds; // at least one was in flight
    uint32_t at_once;
    uint64_t ahead, ahead_used, ahead_wasted; // experts
};

static struct reads sum_reads(const struct bench *b) {
    struct reads sum = {.at_once = last_run(b)->reads_at_once};
    for (uint32_t i = 0; i < b->done; i++) {
        sum.count += b->runs[i].reads;
        sum.bytes += b->runs[i].bytes_read;
        sum.seconds += b->runs[i].reading_s;
        sum.ahead += b->runs[i].read_ahead;
        sum.ahead_used += b->runs[i].read_ahead_used;
        sum.ahead_wasted += b->runs[i].read_ahead_wasted;
    }
    return sum;
}

static void print_reads(const struct bench *b) {
    char bytes[CLI_NUMBER_TEXT], count[CLI_NUMBER_TEXT], rate[CLI_NUMBER_TEXT];
    struct reads reads = sum_reads(b);
    cli_output_print("  read %s", cli_number_bytes(reads.bytes, bytes));
    if (reads.count == 0 || reads.seconds <= 0) return;
    cli_output_print(" in %s reads, up to %u at once, %s/s while any was out",
                     cli_number_count(reads.count, count), reads.at_once,
                     cli_number_bytes((uint64_t)((double)reads.bytes / reads.seconds), rate));
}

static void print_ahead(const struct bench *b) {
    char read[CLI_NUMBER_TEXT], used[CLI_NUMBER_TEXT], wasted[CLI_NUMBER_TEXT];
    struct reads reads = sum_reads(b);
    if (reads.ahead == 0) return;
    cli_output_print("  read ahead %s experts: %s were used, %s were not\n",
                     cli_number_count(reads.ahead, read), cli_number_count(reads.ahead_used, used),
                     cli_number_count(reads.ahead_wasted, wasted));
}

static void print_phase(const struct phase *p) {
    char median[CLI_NUMBER_TEXT], least[CLI_NUMBER_TEXT], most[CLI_NUMBER_TEXT];
    char hits[CLI_NUMBER_TEXT] = "-", bytes[CLI_NUMBER_TEXT], wait[CLI_NUMBER_TEXT];
    if (p->tokens == 0) return;
    if (p->hits + p->misses > 0) cli_number_percent(p->hits, p->misses, hits);
    snprintf(wait, sizeof wait, "%.0f %%", 100 * p->io_wait / p->seconds);
    cli_output_print("  %-8s %9s %9s %9s %11s %14s %10s\n", p->name,
                     cli_number_rate(p->median, median), cli_number_rate(p->least, least),
                     cli_number_rate(p->most, most), hits,
                     cli_number_bytes(p->bytes / p->tokens, bytes), wait);
}

static void print_text(const struct bench *b, const struct phase *prompt,
                       const struct phase *answer, const struct slots *slots) {
    char text[CLI_NUMBER_TEXT];
    cli_output_print("%u repetition%s of %u prompt and %u answer token%s at a depth of %u, seed "
                     "%llu, %s threads, %s, %s I/O\n\n",
                     b->done, b->done == 1 ? "" : "s", b->prompt, b->answer,
                     b->answer == 1 ? "" : "s", b->depth, (unsigned long long)b->seed,
                     cli_model_setting(&b->model, "threads"), cli_model_setting(&b->model, "cpu"),
                     cli_model_setting(&b->model, "io"));
    cli_output_print("  %-8s %9s %9s %9s %11s %14s %10s\n", "tokens/s", "median", "min", "max",
                     "hit rate", "read a token", "I/O wait");
    print_phase(prompt);
    print_phase(answer);
    double wait = prompt->io_wait + answer->io_wait, sample = sample_seconds(b);
    double compute = prompt->seconds + answer->seconds - wait - sample;
    cli_output_print("\n  loading %s", cli_number_seconds(b->runs[0].load_s, text));
    cli_output_print(", computing %s", cli_number_seconds(compute > 0 ? compute : 0, text));
    cli_output_print(", waiting for storage %s", cli_number_seconds(wait, text));
    cli_output_print(", sampling %s\n", cli_number_seconds(sample, text));
    print_reads(b);
    cli_output_print(", peak memory %s\n", cli_number_peak(last_run(b)->peak_rss, text));
    print_ahead(b);
    print_slots(slots);
}

static json_t *phase_json(const struct phase *p) {
    uint64_t lookups = p->hits + p->misses;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "tokens", cli_json_count(p->tokens),
        "seconds", cli_json_real(p->seconds), "tok_s_median", cli_json_real(p->median), "tok_s_min",
        cli_json_real(p->least), "tok_s_max", cli_json_real(p->most), "hits",
        cli_json_count(p->hits), "misses", cli_json_count(p->misses), "hit_rate",
        lookups ? cli_json_real((double)p->hits / (double)lookups) : json_null(), "bytes_read",
        cli_json_count(p->bytes), "io_wait_s", cli_json_real(p->io_wait));
}

static json_t *runs_json(const struct bench *b) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < b->done; i++) {
        const locum_stats *s = &b->runs[i];
        char hash[20];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)s->logits_hash);
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o, s:s}", "prefill_s", cli_json_real(s->prefill_s),
                            "decode_s", cli_json_real(s->decode_s), "bytes_read_prefill",
                            cli_json_count(s->bytes_read_prefill), "bytes_read_decode",
                            cli_json_count(s->bytes_read_decode), "logits_hash", hash));
    }
    return list;
}

static json_t *memory_json(const struct bench *b, const locum_memory_plan *plan,
                           const struct slots *slots) {
    const locum_stats *last = last_run(b);
    const char *use = slots_uses[slots->use].name;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s?}", "budget", cli_json_count(plan->budget),
        "slots", cli_json_count(plan->slots), "peak_rss", cli_json_known(last->peak_rss),
        "resident_dense", cli_json_count(last->resident_dense), "resident_kv",
        cli_json_count(last->resident_kv), "resident_slots", cli_json_count(slots->filled),
        "slots_room", cli_json_count(slots->room), "slots_use", use);
}

static json_t *reads_json(const struct bench *b) {
    struct reads reads = sum_reads(b);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count", cli_json_count(reads.count),
                     "bytes", cli_json_count(reads.bytes), "seconds", cli_json_real(reads.seconds),
                     "at_once", cli_json_count(reads.at_once), "ahead", cli_json_count(reads.ahead),
                     "ahead_used", cli_json_count(reads.ahead_used), "ahead_wasted",
                     cli_json_count(reads.ahead_wasted));
}

static int print_json(const struct bench *b, const struct phase *prompt, const struct phase *answer,
                      const struct slots *slots) {
    locum_memory_plan plan;
    locum_model_get_plan(b->model.model, &plan);
    double wait = prompt->io_wait + answer->io_wait, sample = sample_seconds(b);
    double compute = prompt->seconds + answer->seconds - wait - sample;
    json_t *time =
        json_pack("{s:o, s:o, s:o}", "compute_s", cli_json_real(compute > 0 ? compute : 0),
                  "io_wait_s", cli_json_real(wait), "sample_s", cli_json_real(sample));
    json_t *out = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "model", cli_json_text(b->model.info.path), "arch",
        cli_json_text(b->model.info.architecture), "prompt_tokens", cli_json_count(b->prompt),
        "answer_tokens", cli_json_count(b->answer), "repetitions", cli_json_count(b->done), "seed",
        cli_json_seed(b->seed), "streaming", plan.streaming);
    json_object_set_new(out, "depth", cli_json_count(b->depth));
    json_object_set_new(out, "warm_up_tokens", cli_json_count(b->warm_up));
    json_object_set_new(out, "chunk", cli_json_count(plan.chunk));
    json_object_set_new(out, "threads", cli_json_count(plan.threads));
    json_object_set_new(out, "cpu", cli_json_text(cli_model_setting(&b->model, "cpu")));
    json_object_set_new(out, "io", cli_json_text(cli_model_setting(&b->model, "io")));
    json_object_set_new(out, "load_s", cli_json_real(b->runs[0].load_s));
    json_object_set_new(out, "prompt", phase_json(prompt));
    json_object_set_new(out, "answer", phase_json(answer));
    json_object_set_new(out, "time", time);
    json_object_set_new(out, "reads", reads_json(b));
    json_object_set_new(out, "evictions", cli_json_count(slots->evictions));
    json_object_set_new(out, "memory", memory_json(b, &plan, slots));
    json_object_set_new(out, "runs", runs_json(b));
    return cli_json_print(out);
}

static int report(const struct bench *b) {
    double *rates = malloc(b->done * sizeof *rates);
    if (!rates) {
        cli_output_error("no memory for the results");
        return CLI_EXIT_MEMORY;
    }
    struct phase prompt = summarise(b, false, rates), answer = summarise(b, true, rates);
    free(rates);
    struct slots slots = slots_after(b);
    warn_unused(&slots);
    if (b->model.arguments->flags[CLI_JSON].given) return print_json(b, &prompt, &answer, &slots);
    print_text(b, &prompt, &answer, &slots);
    return CLI_EXIT_OK;
}

// ---- the command -------------------------------------------------------------------------------
// Everything that was asked for is computed: the context must hold it. Without -c it grows as far as the
// model was trained for.
static int choose_context(struct bench *b) {
    // The last token of the answer is chosen and not computed.
    uint64_t steps = b->answer > 0 ? b->answer - 1 : 0;
    uint64_t measured = (uint64_t)b->depth + b->prompt + steps;
    uint64_t needed = measured > b->warm_up ? measured : b->warm_up;
    uint32_t trained = b->model.info.context_trained;
    locum_options *options = &b->model.options;
    bool given = options->context > 0;
    if (given ? needed <= options->context : trained == 0) return CLI_EXIT_OK;
    if (!given && needed <= trained) {
        if (needed > CONTEXT_USUAL) options->context = (uint32_t)needed;
        return CLI_EXIT_OK;
    }
    char what[160], count[CLI_NUMBER_TEXT], room[CLI_NUMBER_TEXT];
    snprintf(what, sizeof what, "--depth %u, --prompt-tokens %u and -n %u together need", b->depth,
             b->prompt, b->answer);
    if (measured < needed) snprintf(what, sizeof what, "--warm-up %u needs", b->warm_up);
    return cli_output_usage("bench", "%s a context of %s tokens, %s %s", what,
                            cli_number_count(needed, count),
                            given ? "-c gives" : "without -c there are",
                            cli_number_count(given ? options->context : trained, room));
}

static int prepare(struct bench *b) {
    const struct cli_value *flags = b->model.arguments->flags;
    b->depth = number_or(&flags[CLI_DEPTH], 0);
    b->warm_up = number_or(&flags[CLI_WARM_UP], 0);
    b->prompt = number_or(&flags[CLI_PROMPT_TOKENS], PROMPT_TOKENS);
    b->answer = number_or(&flags[CLI_PREDICT], ANSWER_TOKENS);
    b->repetitions = number_or(&flags[CLI_REPEAT], REPETITIONS);
    b->seed = flags[CLI_SEED].given ? flags[CLI_SEED].integer : 1;
    int status = choose_context(b);
    if (status != CLI_EXIT_OK) return status;
    if (b->model.info.vocabulary == 0) {
        cli_output_error("%s: the size of the vocabulary is unknown", b->model.info.path);
        return CLI_EXIT_FILE;
    }
    size_t longest = b->depth + b->prompt > b->warm_up ? b->depth + b->prompt : b->warm_up;
    b->ids = malloc(longest * sizeof *b->ids);
    b->runs = calloc(b->repetitions, sizeof *b->runs);
    if (b->ids && b->runs) return CLI_EXIT_OK;
    cli_output_error("no memory for the prompt");
    return CLI_EXIT_MEMORY;
}

int cli_bench(const struct cli_arguments *arguments) {
    struct bench b = {0};
    int status = cli_model_check_outputs(arguments, "bench");
    if (status != CLI_EXIT_OK) return status;
    status = cli_model_open(arguments, &b.model);
    if (status == CLI_EXIT_OK) status = prepare(&b);
    if (status == CLI_EXIT_OK) status = cli_model_plan(&b.model, b.depth + b.prompt);
    if (status == CLI_EXIT_OK) status = cli_model_load(&b.model);
    if (status == CLI_EXIT_OK) status = measure(&b);
    if (b.done > 0) {
        int reported = report(&b);
        if (status == CLI_EXIT_OK) status = reported;
    }
    free(b.ids);
    free(b.runs);
    return cli_model_close(&b.model, status);
}
