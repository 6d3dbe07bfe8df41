// SPDX-License-Identifier: Apache-2.0
//
// locum_logits MODEL IDS OUT [options]: raw float32 logits at every position of a list of token ids, for
// comparison with other engines. IDS: a text file of ids separated by blanks. OUT: positions * vocabulary
// floats, little-endian, in order. Prints one JSON line with counts and the hash of all rows.
#include <locum/locum.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct output {
    FILE *file;
    uint64_t rows;
    bool failed;
};

static bool on_event(void *user, const locum_event *event) {
    struct output *out = user;
    if (event->kind != LOCUM_EVENT_LOGITS) return false;
    out->rows++;
    if (out->file &&
        fwrite(event->logits, sizeof(float), event->vocabulary, out->file) != event->vocabulary) {
        out->failed = true;
    }
    return out->failed;
}

static int fail(const char *text) {
    fprintf(stderr, "locum_logits: %s\n", text);
    return 1;
}

static locum_token *read_ids(const char *path, size_t *count) {
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    size_t room = 0;
    locum_token *ids = NULL;
    int id;
    *count = 0;
    while (fscanf(file, "%d", &id) == 1) {
        if (*count == room) {
            room = room ? room * 2 : 1024;
            locum_token *larger = realloc(ids, room * sizeof *ids);
            if (!larger) break;
            ids = larger;
        }
        ids[(*count)++] = id;
    }
    fclose(file);
    return ids;
}

// "64M", "1G", bytes, "all", "auto"
static uint64_t memory_of(const char *text) {
    if (strcmp(text, "all") == 0) return LOCUM_MEMORY_ALL;
    if (strcmp(text, "auto") == 0) return LOCUM_MEMORY_AUTO;
    char *end;
    double value = strtod(text, &end);
    double unit = *end == 'G' ? 1073741824.0 : *end == 'M' ? 1048576.0 : *end == 'K' ? 1024.0 : 1.0;
    return (uint64_t)(value * unit);
}

static bool parse(int count, char **arguments, locum_options *options) {
    for (int i = 4; i < count; i += 2) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (!value) return false;
        if (strcmp(name, "--memory") == 0) {
            options->memory = memory_of(value);
        } else if (strcmp(name, "--ctx") == 0) {
            options->context = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(name, "--threads") == 0) {
            options->threads = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(name, "--chunk") == 0) {
            options->chunk = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(name, "--cpu") == 0) {
            options->cpu = value;
        } else if (strcmp(name, "--io") == 0) {
            options->io = strcmp(value, "direct") == 0     ? LOCUM_IO_DIRECT
                          : strcmp(value, "buffered") == 0 ? LOCUM_IO_BUFFERED
                                                           : LOCUM_IO_AUTO;
        } else if (strcmp(name, "--kv-type") == 0) {
            options->kv_type = strcmp(value, "f32") == 0 ? LOCUM_KV_F32 : LOCUM_KV_F16;
        } else {
            return false;
        }
    }
    return true;
}

static int evaluate(locum_model *model, const locum_token *ids, size_t count, struct output *out) {
    locum_error error;
    locum_session *session;
    if (locum_session_open(model, &session, &error)) return fail(error.text);
    locum_request request;
    locum_request_init(&request);
    request.prompt = ids;
    request.prompt_count = count;
    request.predict = 0;
    request.logits = LOCUM_LOGITS_ALL;
    request.event = on_event;
    request.user = out;
    locum_stats stats;
    locum_finish finish;
    locum_status status = locum_generate(session, &request, &finish, &stats, &error);
    locum_session_close(session);
    if (status) return fail(error.text);
    if (out->failed) return fail("writing the logits failed");
    printf("{\"positions\": %llu, \"logits_hash\": \"%016llx\", \"prefill_s\": %.3f, \"peak_rss\": "
           "%llu}\n",
           (unsigned long long)out->rows, (unsigned long long)stats.logits_hash, stats.prefill_s,
           (unsigned long long)stats.peak_rss);
    return 0;
}

int main(int argument_count, char **arguments) {
    locum_options options;
    locum_options_init(&options);
    options.memory = LOCUM_MEMORY_ALL;
    if (argument_count < 4 || !parse(argument_count, arguments, &options)) {
        fprintf(
            stderr,
            "usage: locum_logits MODEL IDS OUT|- [--memory SIZE|all|auto] [--ctx N] [--threads N] "
            "[--chunk N]\n"
            "                    [--cpu TIER] [--io auto|direct|buffered] [--kv-type f16|f32]\n");
        return 2;
    }
    size_t count;
    locum_token *ids = read_ids(arguments[2], &count);
    if (!ids) return fail(errno ? strerror(errno) : "no ids");
    if (!options.context) options.context = (uint32_t)count;
    locum_error error;
    locum_file *file;
    locum_model *model;
    if (locum_file_open(arguments[1], &file, &error)) return fail(error.text);
    locum_status status = locum_model_open(file, &options, &model, &error);
    locum_file_close(file);
    if (status) return fail(error.text);
    struct output out = {0};
    if (strcmp(arguments[3], "-") != 0) {
        out.file = fopen(arguments[3], "wb");
        if (!out.file) return fail(strerror(errno));
    }
    int result = evaluate(model, ids, count, &out);
    if (out.file && fclose(out.file) != 0) result = fail("writing the logits failed");
    locum_model_close(model);
    free(ids);
    return result;
}
