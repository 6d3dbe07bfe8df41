// SPDX-License-Identifier: Apache-2.0
#include "sample/sample_settings.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define SAMPLE_STAGE_TEXT(name, text) [SAMPLE_##name] = text,
    SAMPLE_STAGE_LIST(SAMPLE_STAGE_TEXT)
#undef SAMPLE_STAGE_TEXT
};

const char *sample_stage_name(enum sample_stage stage) {
    return names[stage];
}

// What else people call them.
static const struct {
    const char *name;
    enum sample_stage stage;
} spellings[] = {
    {"typical", SAMPLE_TYPICAL_P}, {"typical_p", SAMPLE_TYPICAL_P}, {"temp", SAMPLE_TEMPERATURE}};

static bool is_name(const char *text, size_t size, const char *name) {
    if (strlen(name) != size) return false;
    for (size_t i = 0; i < size; i++) {
        if ((text[i] == '-' ? '_' : text[i]) != name[i]) return false;
    }
    return true;
}

static enum sample_stage find(const char *text, size_t size) {
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        if (is_name(text, size, spellings[i].name)) return spellings[i].stage;
    }
    int stage = 0;
    while (stage < SAMPLE_STAGES && !is_name(text, size, names[stage]))
        stage++;
    return (enum sample_stage)stage;
}

static locum_status unknown(const char *name, size_t size, locum_error *error) {
    char list[160];
    size_t used = 0;
    for (int i = 0; i < SAMPLE_STAGES; i++) {
        int length = snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
        if (length > 0 && (size_t)length < sizeof list - used) used += (size_t)length;
    }
    return status_fail(error, LOCUM_E_ARGUMENT,
                       "no stage of sampling is called '%.*s'; there are %s",
                       size < 64 ? (int)size : 64, name, list);
}

locum_status sample_chain_parse(const char *text, struct sample_chain *out, locum_error *error) {
    *out = (struct sample_chain){0};
    while (*text) {
        size_t size = strcspn(text, ";,");
        enum sample_stage stage = find(text, size);
        if (stage == SAMPLE_STAGES) return unknown(text, size, error);
        if (out->count == SAMPLE_CHAIN_MAX)
            return status_fail(error, LOCUM_E_ARGUMENT, "more than %d stages of sampling",
                               SAMPLE_CHAIN_MAX);
        out->stages[out->count++] = (uint8_t)stage;
        text += size;
        if (*text) text++;
    }
    return LOCUM_OK;
}

struct sample_chain sample_chain_usual(void) {
    struct sample_chain chain = {.count = SAMPLE_STAGES};
    for (int i = 0; i < SAMPLE_STAGES; i++)
        chain.stages[i] = (uint8_t)i;
    return chain;
}

struct sample_settings sample_settings_off(void) {
    return (struct sample_settings){.temperature = 1,
                                    .dynatemp_exponent = 1,
                                    .top_p = 1,
                                    .typical_p = 1,
                                    .top_n_sigma = -1,
                                    .xtc_threshold = 0.1f,
                                    .repeat_penalty = 1,
                                    .dry_base = 1.75f,
                                    .dry_allowed_length = 2,
                                    .mirostat_tau = 5,
                                    .mirostat_eta = 0.1f,
                                    .chain = sample_chain_usual()};
}
