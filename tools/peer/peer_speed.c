// SPDX-License-Identifier: Apache-2.0
//
// Times prompts and answers through a peer's library and prints one line of JSON, with the keys
// that `locum bench --json` has too. One source for two peers: upstream llama.cpp, and with
// -DPEER_IK ik_llama.cpp, whose library has the same names and other signatures.
//
//   peer_speed MODEL [options]
//
// --threads, --prompt-tokens, --predict, --depth, --repeat, --warm-up, --seed N
//                     as in `locum bench`: both sides compute the same tokens
// --backend PATH      upstream: a libggml-cpu-*.so, or their folder, for the one that fits best
// --micro-batch N     tokens computed together (512)
// --read, --repack    no mmap; and weights in an order of the peer's own
// --no-flash          no flash attention
// --no-fuse           ik_llama.cpp: gate and up apart
#define _GNU_SOURCE
#include "peer_library.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST = 1 << 20, BATCH = 2048 };
// Numbers of the streams of ids that are no repetition.
static const uint32_t CONTEXT_STREAM = UINT32_MAX, WARM_UP_STREAM = UINT32_MAX - 1;

struct options {
    const char *model, *backend;
    int threads, prompt, predict, depth, repeat, warm_up, seed, micro_batch;
    enum peer_load load;
    bool no_flash, no_fuse;
};

struct peer {
    struct options o;
    struct llama_model *model;
    struct llama_context *context;
    int vocabulary;
    double load_s;
};

struct run {
    double prefill_s, decode_s;
    long long prefill_bytes, decode_bytes; // read from storage
};

static void fail(const char *what, const char *which) {
    fprintf(stderr, "peer_speed: %s%s%s\n", what, which ? ": " : "", which ? which : "");
    exit(1);
}

static void log_errors(enum ggml_log_level level, const char *text, void *user) {
    (void)user;
    if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

// ---- options -----------------------------------------------------------------------------------
static int number(const char *text) {
    char *end;
    long value = text ? strtol(text, &end, 10) : -1;
    if (value < 0 || value > MOST || end == text || *end) fail("no number that is possible", text);
    return (int)value;
}

static struct options parse_options(int argc, char **argv) {
    struct options o = {.threads = 2, .prompt = 256, .predict = 64, .repeat = 3, .seed = 1,
                        .micro_batch = 512};
    struct { const char *name; int *value; } numbers[] = {
        {"--threads", &o.threads}, {"--prompt-tokens", &o.prompt}, {"--predict", &o.predict},
        {"--depth", &o.depth},     {"--repeat", &o.repeat},        {"--warm-up", &o.warm_up},
        {"--seed", &o.seed},       {"--micro-batch", &o.micro_batch}};
    struct { const char *name; bool *value; } switches[] = {
        {"--no-flash", &o.no_flash}, {"--no-fuse", &o.no_fuse}};
    for (int i = 1; i < argc; i++) {
        bool known = false;
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers && !known; j++) {
            known = !strcmp(argv[i], numbers[j].name);
            if (known) *numbers[j].value = number(argv[++i]);
        }
        for (size_t j = 0; j < sizeof switches / sizeof *switches && !known; j++) {
            known = !strcmp(argv[i], switches[j].name);
            if (known) *switches[j].value = true;
        }
        if (known) continue;
        if (!strcmp(argv[i], "--read")) o.load = PEER_READ;
        else if (!strcmp(argv[i], "--repack")) o.load = PEER_REPACKED;
        else if (!strcmp(argv[i], "--backend") && i + 1 < argc) o.backend = argv[++i];
        else if (argv[i][0] != '-' && !o.model) o.model = argv[i];
        else fail("unknown option", argv[i]);
    }
    if (!o.model) fail("MODEL is missing", NULL);
    if (!o.threads || !o.prompt || !o.repeat || !o.micro_batch) fail("0 is not possible", NULL);
    return o;
}

// ---- what the two peers do in different words --------------------------------------------------
#ifdef PEER_IK
static void set_context(struct llama_context_params *p, const struct options *o) {
    peer_set_context(p, !o->no_flash);
    p->fused_moe_up_gate = !o->no_fuse;
}

// Threads are OpenMP's: GOMP_CPU_AFFINITY pins them.
static void pin_threads(struct peer *peer) {
    (void)peer;
}

// Keeps the first `tokens` of the context.
static void cut_back(struct peer *peer, int tokens) {
    if (tokens == 0) llama_kv_cache_clear(peer->context);
    else llama_kv_cache_seq_rm(peer->context, 0, tokens, -1);
}
#else
static void set_context(struct llama_context_params *p, const struct options *o) {
    peer_set_context(p, !o->no_flash);
}

// One thread on each of the first processors that this process may use.
static void pin_threads(struct peer *peer) {
    ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    struct ggml_threadpool *(*create)(struct ggml_threadpool_params *);
    *(void **)&create = ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(cpu),
                                                          "ggml_threadpool_new");
    if (!create) fail("its threads cannot be pinned", NULL);
    struct ggml_threadpool_params p = ggml_threadpool_params_default(peer->o.threads);
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) fail("the processors are unknown", NULL);
    for (int i = 0, left = peer->o.threads; i < GGML_MAX_N_THREADS && left > 0; i++) {
        p.cpumask[i] = CPU_ISSET(i, &allowed);
        left -= p.cpumask[i];
    }
    p.strict_cpu = true;
    llama_attach_threadpool(peer->context, create(&p), NULL);
}

static void cut_back(struct peer *peer, int tokens) {
    llama_memory_t memory = llama_get_memory(peer->context);
    if (tokens == 0) llama_memory_clear(memory, false);
    else llama_memory_seq_rm(memory, 0, tokens, -1);
}
#endif

// ---- measuring ---------------------------------------------------------------------------------
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long long storage_bytes(void) {
    FILE *f = fopen("/proc/self/io", "r");
    char line[128];
    long long bytes = 0;
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "read_bytes: %lld", &bytes);
    if (f) fclose(f);
    return bytes;
}

static void open_peer(struct peer *peer) {
    const struct options *o = &peer->o;
    if (!peer_load_backend(o->backend)) fail("no backend", o->backend);
    llama_backend_init();
    double start = now();
    struct llama_model_params m = llama_model_default_params();
    m.n_gpu_layers = 0;
    peer_set_model(&m, o->load, !o->no_flash);
    peer->model = llama_model_load_from_file(o->model, m);
    if (!peer->model) fail("cannot load", o->model);
    int used = o->depth + o->prompt + o->predict;
    struct llama_context_params c = llama_context_default_params();
    c.n_ctx = (uint32_t)((used > o->warm_up ? used : o->warm_up) + 255) / 256 * 256;
    c.n_batch = BATCH;
    c.n_ubatch = (uint32_t)o->micro_batch;
    c.n_threads = c.n_threads_batch = o->threads;
    set_context(&c, o);
    peer->context = llama_init_from_model(peer->model, c);
    if (!peer->context) fail("no context for", o->model);
    pin_threads(peer);
    peer->vocabulary = peer_vocabulary(peer->model);
    peer->load_s = now() - start;
}

// splitmix64: position n of a stream without state.
static uint64_t mixed(uint64_t n) {
    uint64_t z = n * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static llama_token likeliest(const struct peer *peer, const float *logits) {
    llama_token best = 0;
    for (llama_token i = 0; i < peer->vocabulary; i++) {
        if (logits[i] != logits[i]) fail("it computed a value that is not a number", NULL);
        if (logits[i] > logits[best]) best = i;
    }
    return best;
}

// Computes ids from `position` on; returns what follows the last one.
static llama_token compute(struct peer *peer, const llama_token *ids, int count, int position) {
    struct llama_batch batch = llama_batch_init(count < BATCH ? count : BATCH, 0, 1);
    for (int start = 0; start < count; start += batch.n_tokens) {
        batch.n_tokens = count - start < BATCH ? count - start : BATCH;
        for (int i = 0; i < batch.n_tokens; i++) {
            batch.token[i] = ids[start + i];
            batch.pos[i] = position + start + i;
            batch.n_seq_id[i] = 1;
            batch.seq_id[i][0] = 0;
            batch.logits[i] = start + i == count - 1;
        }
        if (llama_decode(peer->context, batch)) fail("llama_decode failed", NULL);
    }
    llama_token next = likeliest(peer, llama_get_logits_ith(peer->context, batch.n_tokens - 1));
    llama_batch_free(batch);
    return next;
}

// Computes `count` tokens of a stream of random ids.
static llama_token compute_stream(struct peer *peer, uint32_t stream, int count, int position) {
    llama_token *ids = malloc((size_t)count * sizeof *ids);
    if (!ids) fail("out of memory", NULL);
    uint64_t first = mixed((uint64_t)peer->o.seed + 1) + ((uint64_t)stream << 32);
    for (int i = 0; i < count; i++)
        ids[i] = (llama_token)(mixed(first + (uint64_t)i) % (uint64_t)peer->vocabulary);
    llama_token next = compute(peer, ids, count, position);
    free(ids);
    return next;
}

static struct run measure(struct peer *peer, int repetition) {
    const struct options *o = &peer->o;
    cut_back(peer, o->depth);
    struct run run = {0};
    long long bytes = storage_bytes();
    double start = now();
    llama_token next = compute_stream(peer, (uint32_t)repetition, o->prompt, o->depth);
    run.prefill_s = now() - start;
    run.prefill_bytes = storage_bytes() - bytes;
    bytes = storage_bytes();
    start = now();
    // The first token of the answer came from the prompt.
    for (int i = 1; i < o->predict; i++)
        next = compute(peer, &next, 1, o->depth + o->prompt + i - 1);
    run.decode_s = now() - start;
    run.decode_bytes = storage_bytes() - bytes;
    return run;
}

int main(int argc, char **argv) {
    struct peer peer = {.o = parse_options(argc, argv)};
    llama_log_set(log_errors, NULL);
    open_peer(&peer);
    if (peer.o.warm_up) compute_stream(&peer, WARM_UP_STREAM, peer.o.warm_up, 0);
    cut_back(&peer, 0);
    if (peer.o.depth) compute_stream(&peer, CONTEXT_STREAM, peer.o.depth, 0);
    printf("{\"threads\": %d, \"load_s\": %.4f, \"runs\": [", peer.o.threads, peer.load_s);
    for (int i = 0; i < peer.o.repeat; i++) {
        struct run run = measure(&peer, i);
        printf("%s{\"prefill_s\": %.6f, \"decode_s\": %.6f, \"bytes_read_prefill\": %lld, "
               "\"bytes_read_decode\": %lld}", i ? ", " : "", run.prefill_s, run.decode_s,
               run.prefill_bytes, run.decode_bytes);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("], \"memory\": {\"peak_rss\": %lld}}\n", (long long)usage.ru_maxrss * 1024);
    llama_free(peer.context);
    return 0;
}
