// SPDX-License-Identifier: Apache-2.0
//
// Asks a peer's library for what the tests compare with ours: upstream llama.cpp, or with -DPEER_IK
// ik_llama.cpp, of which only logits are wanted.
//
//   peer_logits logits   MODEL IDS OUT [options]   every position's logits, raw float32
//   peer_logits greedy   MODEL IDS N   [options]   N ids that follow, always the likeliest
//   peer_logits tokenize MODEL TEXTS   [options]   ids of each text, a line per text
//   peer_logits tier     DIR                       the CPU library of DIR that fits here best
//
// IDS is a text file of decimal ids. TEXTS holds texts that each end with a zero byte.
// Options: --backend FILE (a libggml-cpu-*.so; the tier decides the arithmetic), --batch N,
// --threads N, --f32-kv (float32 keys and values, flash attention off), --read, --repack (no mmap; and
// weights in an order of the peer's own), --no-bos, --special (texts may hold special tokens).
// tools/peer/setup.sh and setup_ik.sh build it outside the tree.
#include "peer_library.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *backend;
    int batch;
    int threads;
    enum peer_load load;
    bool f32_kv;
    bool bos;
    bool special;
};

struct ids {
    llama_token *at;
    int count;
};

static void fail(const char *what, const char *which) {
    fprintf(stderr, "peer_logits: %s%s%s\n", what, which ? ": " : "", which ? which : "");
    exit(1);
}

static void *allocate(size_t size) {
    void *p = malloc(size ? size : 1);
    if (!p) fail("out of memory", NULL);
    return p;
}

static void log_errors(enum ggml_log_level level, const char *text, void *user) {
    (void)user;
    if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

static int positive(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 1 || value > 1000000) fail("no number from 1", text);
    return (int)value;
}

static char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) fail("cannot read", path);
    *size = (size_t)ftell(f);
    rewind(f);
    char *data = allocate(*size + 1);
    if (fread(data, 1, *size, f) != *size) fail("cannot read", path);
    fclose(f);
    data[*size] = 0;
    return data;
}

static struct ids read_ids(const char *path, int room) {
    size_t size;
    char *text = read_file(path, &size);
    struct ids out = {allocate((size / 2 + 1 + (size_t)room) * sizeof(llama_token)), 0};
    char *end;
    for (char *p = text;; p = end) {
        long id = strtol(p, &end, 10);
        if (end == p) break;
        out.at[out.count++] = (llama_token)id;
    }
    free(text);
    if (!out.count) fail("no ids in", path);
    return out;
}

static struct options parse_options(int argc, char **argv) {
    struct options o = {.batch = 512, .threads = 2, .bos = true};
    for (int i = 0; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--f32-kv")) o.f32_kv = true;
        else if (!strcmp(argv[i], "--read")) o.load = PEER_READ;
        else if (!strcmp(argv[i], "--repack")) o.load = PEER_REPACKED;
        else if (!strcmp(argv[i], "--no-bos")) o.bos = false;
        else if (!strcmp(argv[i], "--special")) o.special = true;
        else if (!strcmp(argv[i], "--backend")) o.backend = value, i++;
        else if (!strcmp(argv[i], "--batch")) o.batch = positive(value), i++;
        else if (!strcmp(argv[i], "--threads")) o.threads = positive(value), i++;
        else fail("unknown option", argv[i]);
    }
    return o;
}

static struct llama_model *load(const char *path, const struct options *o, bool vocabulary_only) {
    struct llama_model_params p = llama_model_default_params();
    p.n_gpu_layers = 0;
    if (o->load != PEER_MAPPED) peer_set_model(&p, o->load, !o->f32_kv);
    p.vocab_only = vocabulary_only;
    struct llama_model *model = llama_model_load_from_file(path, p);
    if (!model) fail("cannot load", path);
    return model;
}

static struct llama_context *open_context(struct llama_model *model, const struct options *o,
                                          int positions) {
    struct llama_context_params p = llama_context_default_params();
    p.n_ctx = (uint32_t)positions;
    p.n_batch = p.n_ubatch = (uint32_t)o->batch;
#ifndef PEER_IK
    p.n_outputs_max_per_seq = 0;              // logits wanted at every position
#endif
    p.n_threads = p.n_threads_batch = o->threads;
    if (o->f32_kv) {
        // With flash attention a float32 cache would be cast to float16 without a word.
        p.type_k = p.type_v = GGML_TYPE_F32;
        peer_set_context(&p, false);
    }
    struct llama_context *context = llama_init_from_model(model, p);
    if (!context) fail("cannot make a context", NULL);
    return context;
}

// Computes `count` tokens from position `start` on; every one of them has logits afterwards.
static void decode(struct llama_context *context, const llama_token *tokens, int start, int count) {
    struct llama_batch b = llama_batch_init(count, 0, 1);
    for (int i = 0; i < count; i++) {
        b.token[i] = tokens[i];
        b.pos[i] = start + i;
        b.n_seq_id[i] = 1;
        b.seq_id[i][0] = 0;
        b.logits[i] = true;
    }
    b.n_tokens = count;
    if (llama_decode(context, b)) fail("decoding failed", NULL);
    llama_batch_free(b);
}

static int smaller(int a, int b) { return a < b ? a : b; }

static void run_logits(const char *path, const char *ids_path, const char *out_path,
                       const struct options *o) {
    struct ids ids = read_ids(ids_path, 0);
    struct llama_model *model = load(path, o, false);
    struct llama_context *context = open_context(model, o, ids.count);
    size_t vocabulary = (size_t)peer_vocabulary(model);
    FILE *out = fopen(out_path, "wb");
    if (!out) fail("cannot write", out_path);
    for (int done = 0; done < ids.count; done += o->batch) {
        int count = smaller(o->batch, ids.count - done);
        decode(context, ids.at + done, done, count);
        for (int i = 0; i < count; i++) {
            const float *row = llama_get_logits_ith(context, i);
            if (fwrite(row, sizeof(float), vocabulary, out) != vocabulary) {
                fail("cannot write", out_path);
            }
        }
    }
    if (fclose(out)) fail("cannot write", out_path);
    free(ids.at);
    llama_free(context);
}

#ifndef PEER_IK
static llama_token likeliest(const float *logits, int count) {
    int best = 0;
    for (int i = 1; i < count; i++) {
        if (logits[i] > logits[best]) best = i;
    }
    return best;
}

static void run_greedy(const char *path, const char *ids_path, int wanted,
                       const struct options *o) {
    struct ids ids = read_ids(ids_path, wanted);
    struct llama_model *model = load(path, o, false);
    struct llama_context *context = open_context(model, o, ids.count + wanted);
    int vocabulary = peer_vocabulary(model);
    int last = 0;
    for (int done = 0; done < ids.count; done += o->batch) {
        int count = smaller(o->batch, ids.count - done);
        decode(context, ids.at + done, done, count);
        last = count - 1;
    }
    for (int i = 0; i < wanted; i++) {
        llama_token next = likeliest(llama_get_logits_ith(context, last), vocabulary);
        printf("%s%d", i ? " " : "", next);
        decode(context, &next, ids.count + i, 1);
        last = 0;
    }
    printf("\n");
    free(ids.at);
    llama_free(context);
    llama_model_free(model);
}

static void run_tokenize(const char *path, const char *texts_path, const struct options *o) {
    size_t size;
    char *texts = read_file(texts_path, &size);
    struct llama_model *model = load(path, o, true);
    const struct llama_vocab *vocabulary = llama_model_get_vocab(model);
    llama_token *ids = allocate((size + 8) * sizeof(llama_token));
    for (char *text = texts; text < texts + size; text += strlen(text) + 1) {
        int count = llama_tokenize(vocabulary, text, (int32_t)strlen(text), ids,
                                   (int32_t)size + 8, o->bos, o->special);
        if (count < 0) fail("cannot tokenize", text);
        for (int i = 0; i < count; i++) printf("%s%d", i ? " " : "", ids[i]);
        printf("\n");
    }
    free(ids);
    free(texts);
    llama_model_free(model);
}

// The library scores its CPU files and loads the best; which one, only the process's map tells.
static void run_tier(const char *directory) {
    ggml_backend_load_all_from_path(directory);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    while (maps && fgets(line, sizeof line, maps)) {
        char *name = strstr(line, "libggml-cpu-");
        if (!name) continue;
        name[strcspn(name, "\n")] = 0;
        printf("%s\n", name);
        fclose(maps);
        return;
    }
    fail("no CPU library was loaded from", directory);
}
#endif

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    llama_log_set(log_errors, NULL);
#ifndef PEER_IK
    if (!strcmp(mode, "tier") && argc == 3) {
        run_tier(argv[2]);
        return 0;
    }
#endif
    bool tokenize = !strcmp(mode, "tokenize");
    int fixed = tokenize ? 4 : 5;
    if (argc < fixed) fail("usage: see the head of peer_logits.c", NULL);
    struct options o = parse_options(argc - fixed, argv + fixed);
    if (!peer_load_backend(o.backend)) fail("no backend", o.backend);
    llama_backend_init();
    if (!strcmp(mode, "logits")) run_logits(argv[2], argv[3], argv[4], &o);
#ifndef PEER_IK
    else if (tokenize) run_tokenize(argv[2], argv[3], &o);
    else if (!strcmp(mode, "greedy")) run_greedy(argv[2], argv[3], positive(argv[4]), &o);
#endif
    else fail("unknown mode", mode);
    llama_backend_free();
    return 0;
}
