// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_sampling.h"

#include "platform/random.h"
#include "sample/sample_stage.h"

#include <math.h>
#include <stdio.h>

// ---- the table ---------------------------------------------------------------------------------
// Fields have one name in locum_sampling and in sample_settings.
#define FIELD(member) \
#member, offsetof(locum_sampling, member), offsetof(struct sample_settings, member)

enum number_kind { REAL, WHOLE };

static const struct number {
    const char *setting; // for people, as the flag
    const char *key;     // behind "general.sampling."; NULL: files cannot say it
    enum number_kind kind;
    enum sample_stage stage; // that uses it; SAMPLE_STAGES: more than one
    double least, most, usual;
    const char *field;
    size_t given, settings;
} numbers[ENGINE_SAMPLING_NUMBERS] = {
    {"temp", "temp", REAL, SAMPLE_STAGES, 0, 1e6, 0.8, FIELD(temperature)},
    {"top-k", "top_k", WHOLE, SAMPLE_TOP_K, -1, INT32_MAX, 40, FIELD(top_k)},
    {"top-p", "top_p", REAL, SAMPLE_TOP_P, 0, 1, 0.95, FIELD(top_p)},
    {"min-p", "min_p", REAL, SAMPLE_MIN_P, 0, 1, 0.05, FIELD(min_p)},
    {"typical-p", NULL, REAL, SAMPLE_TYPICAL_P, 0, 1, 1, FIELD(typical_p)},
    {"top-n-sigma", NULL, REAL, SAMPLE_TOP_N_SIGMA, -1, 1e6, -1, FIELD(top_n_sigma)},
    {"xtc-probability", "xtc_probability", REAL, SAMPLE_XTC, 0, 1, 0, FIELD(xtc_probability)},
    {"xtc-threshold", "xtc_threshold", REAL, SAMPLE_XTC, 0, 1, 0.1, FIELD(xtc_threshold)},
    {"min-keep", NULL, WHOLE, SAMPLE_STAGES, 0, INT32_MAX, 0, FIELD(min_keep)},
    {"dynatemp-range", NULL, REAL, SAMPLE_TEMPERATURE, 0, 1e6, 0, FIELD(dynatemp_range)},
    {"dynatemp-exp", NULL, REAL, SAMPLE_TEMPERATURE, 0, 100, 1, FIELD(dynatemp_exponent)},
    {"repeat-last-n", "penalty_last_n", WHOLE, SAMPLE_PENALTIES, -1, INT32_MAX, 64,
     FIELD(penalty_last_n)},
    {"repeat-penalty", "penalty_repeat", REAL, SAMPLE_PENALTIES, 0.01, 100, 1,
     FIELD(repeat_penalty)},
    {"frequency-penalty", NULL, REAL, SAMPLE_PENALTIES, -100, 100, 0, FIELD(frequency_penalty)},
    {"presence-penalty", NULL, REAL, SAMPLE_PENALTIES, -100, 100, 0, FIELD(presence_penalty)},
    {"dry-multiplier", NULL, REAL, SAMPLE_DRY, 0, 1000, 0, FIELD(dry_multiplier)},
    {"dry-base", NULL, REAL, SAMPLE_DRY, 1, 1000, 1.75, FIELD(dry_base)},
    {"dry-allowed-length", NULL, WHOLE, SAMPLE_DRY, 0, INT32_MAX, 2, FIELD(dry_allowed_length)},
    {"dry-penalty-last-n", NULL, WHOLE, SAMPLE_DRY, -1, INT32_MAX, 64, FIELD(dry_penalty_last_n)},
    {"mirostat", "mirostat", WHOLE, SAMPLE_STAGES, 0, 2, 0, FIELD(mirostat)},
    {"mirostat-ent", "mirostat_tau", REAL, SAMPLE_STAGES, 0, 100, 5, FIELD(mirostat_tau)},
    {"mirostat-lr", "mirostat_eta", REAL, SAMPLE_STAGES, 0, 10, 0.1, FIELD(mirostat_eta)},
};

static const char key_prefix[] = "general.sampling.";

static bool is_given(const struct number *number, const locum_sampling *given, double *value) {
    const char *at = given ? (const char *)given + number->given : NULL;
    float real;
    int32_t whole;
    if (!at) return false;
    if (number->kind == REAL) {
        memcpy(&real, at, sizeof real);
        *value = (double)real;
        return !isnan(real);
    }
    memcpy(&whole, at, sizeof whole);
    *value = whole;
    return whole != LOCUM_NOT_GIVEN;
}

void engine_sampling_clear(locum_sampling *sampling) {
    const float real = NAN;
    const int32_t whole = LOCUM_NOT_GIVEN;
    for (size_t i = 0; i < ENGINE_SAMPLING_NUMBERS; i++) {
        char *at = (char *)sampling + numbers[i].given;
        if (numbers[i].kind == REAL)
            memcpy(at, &real, sizeof real);
        else
            memcpy(at, &whole, sizeof whole);
    }
}

static void put(const struct number *number, double value, struct sample_settings *out) {
    char *at = (char *)out + number->settings;
    float real = (float)value;
    int32_t whole = number->kind == WHOLE ? (int32_t)value : 0;
    if (number->kind == REAL)
        memcpy(at, &real, sizeof real);
    else
        memcpy(at, &whole, sizeof whole);
}

// ---- what the model brings along -----------------------------------------------------------------
static locum_status read_number(const struct gguf_meta *meta, const struct number *number,
                                struct engine_sampling *out, locum_error *error) {
    char key[64];
    float real;
    int64_t whole;
    size_t i = (size_t)(number - numbers);
    snprintf(key, sizeof key, "%s%s", key_prefix, number->key);
    out->in_file[i] = gguf_meta_find(meta, key) != NULL;
    if (!out->in_file[i]) return LOCUM_OK;
    if (number->kind == REAL) {
        STATUS_TRY(
            gguf_meta_f32(meta, key, (float)number->least, (float)number->most, &real, error));
        out->file[i] = (double)real;
        return LOCUM_OK;
    }
    STATUS_TRY(
        gguf_meta_i64(meta, key, (int64_t)number->least, (int64_t)number->most, &whole, error));
    out->file[i] = (double)whole;
    return LOCUM_OK;
}

// An order that names a stage of later days must not make the file useless.
static locum_status read_chain(const struct gguf_meta *meta, struct engine_sampling *out,
                               locum_error *error) {
    struct slice text;
    char terminated[256];
    locum_error why;
    STATUS_TRY(
        gguf_meta_string_or(meta, "general.sampling.sequence", slice_text(""), &text, error));
    if (text.size == 0) return LOCUM_OK;
    if (text.size >= sizeof terminated || memchr(text.data, 0, text.size)) {
        snprintf(out->unknown_chain, sizeof out->unknown_chain, "it is no list of stages");
        return LOCUM_OK;
    }
    memcpy(terminated, text.data, text.size);
    terminated[text.size] = 0;
    out->chain_in_file = sample_chain_parse(terminated, &out->chain, &why) == LOCUM_OK;
    if (!out->chain_in_file)
        snprintf(out->unknown_chain, sizeof out->unknown_chain, "%.150s", why.text);
    return LOCUM_OK;
}

locum_status engine_sampling_read(const struct gguf_meta *meta, struct engine_sampling *out,
                                  locum_error *error) {
    *out = (struct engine_sampling){0};
    for (size_t i = 0; i < ENGINE_SAMPLING_NUMBERS; i++) {
        if (numbers[i].key) STATUS_TRY(read_number(meta, &numbers[i], out, error));
    }
    STATUS_TRY(read_chain(meta, out, error));
    return gguf_meta_string_or(meta, "general.name", slice_text(""), &out->name, error);
}

// ---- one value -----------------------------------------------------------------------------------
static double value_of(const struct number *number, const struct engine_sampling *model,
                       const struct engine_card *card, const locum_sampling *given,
                       enum engine_source *source) {
    double value;
    size_t i = (size_t)(number - numbers);
    *source = ENGINE_FROM_CALLER;
    if (is_given(number, given, &value)) return value;
    *source = ENGINE_FROM_FILE;
    if (model->in_file[i]) return model->file[i];
    *source = ENGINE_FROM_CARD;
    for (size_t j = 0; card && j < ENGINE_CARD_VALUES && card->values[j].setting; j++) {
        if (strcmp(card->values[j].setting, number->setting) == 0)
            return (double)card->values[j].value;
    }
    *source = ENGINE_FROM_DEFAULT;
    return number->usual;
}

static locum_status check_biases(const locum_sampling *given, uint32_t vocabulary,
                                 locum_error *error) {
    for (size_t i = 0; given && i < given->bias_count; i++) {
        const locum_logit_bias *bias = &given->biases[i];
        if (bias->token < 0 || (uint32_t)bias->token >= vocabulary)
            return status_fail(error, LOCUM_E_ARGUMENT, "biases: token %d; ids are 0 to %u",
                               bias->token, vocabulary - 1);
        if (isfinite(bias->bias) || bias->bias == -INFINITY) continue;
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "biases: token %d has %g; a number or -infinity is possible",
                           bias->token, (double)bias->bias);
    }
    return LOCUM_OK;
}

static bool in_chain(const struct sample_chain *chain, enum sample_stage stage) {
    for (uint32_t i = 0; i < chain->count; i++) {
        if (chain->stages[i] == stage) return true;
    }
    return false;
}

// Nothing that was asked for is left out in silence.
static void tell_unused(const struct sample_settings *s, const locum_sampling *given,
                        const struct log_sink *log) {
    double value;
    for (size_t i = 0; i < ENGINE_SAMPLING_NUMBERS; i++) {
        const struct number *number = &numbers[i];
        enum sample_stage stage = i == 0 ? SAMPLE_TEMPERATURE : number->stage; // row 0: temperature
        if (!is_given(number, given, &value) || stage == SAMPLE_STAGES) continue;
        if (s->mirostat && stage != SAMPLE_TEMPERATURE)
            log_write(log, LOCUM_LOG_NOTICE, "%s has no effect: mirostat takes the place of %s",
                      number->setting, sample_stage_name(stage));
        else if (!s->mirostat && !in_chain(&s->chain, stage))
            log_write(log, LOCUM_LOG_NOTICE, "%s has no effect: the stages do not include %s",
                      number->setting, sample_stage_name(stage));
    }
}

static locum_status resolve_chain(const struct engine_sampling *model, const locum_sampling *given,
                                  const struct log_sink *log, struct sample_chain *out,
                                  locum_error *error) {
    if (given && given->stages) {
        locum_status status = sample_chain_parse(given->stages, out, error);
        return status == LOCUM_OK ? status : status_prefix(error, status, "stages");
    }
    if (model->unknown_chain[0])
        log_write(log, LOCUM_LOG_NOTICE, "the file's order of stages is not used: %s",
                  model->unknown_chain);
    *out = model->chain_in_file ? model->chain : sample_chain_usual();
    return LOCUM_OK;
}

locum_status engine_sampling_resolve(const struct engine_sampling *model,
                                     const locum_sampling *given, uint32_t vocabulary,
                                     const struct log_sink *log, struct sample_settings *out,
                                     locum_error *error) {
    enum engine_source source;
    locum_thinking thinking = given ? given->thinking : LOCUM_THINKING_UNKNOWN;
    const struct engine_card *card = engine_card_find(model->name, thinking);
    *out = sample_settings_off();
    for (size_t i = 0; i < ENGINE_SAMPLING_NUMBERS; i++) {
        const struct number *number = &numbers[i];
        double value = value_of(number, model, card, given, &source);
        // as the float that it is: 0.01f is a little below 0.01
        if (value < (double)(float)number->least || value > number->most)
            return status_fail(error, LOCUM_E_ARGUMENT, "%s is %g; %g to %g is possible",
                               number->field, value, number->least, number->most);
        put(number, value, out);
    }
    STATUS_TRY(resolve_chain(model, given, log, &out->chain, error));
    STATUS_TRY(check_biases(given, vocabulary, error));
    if (given) {
        out->biases = given->biases;
        out->bias_count = given->bias_count;
        out->seed = given->seed;
    }
    tell_unused(out, given, log);
    return given && given->has_seed ? LOCUM_OK : random_u64(&out->seed, error);
}

// ---- for people ------------------------------------------------------------------------------------
static void chain_text(const struct sample_chain *chain, char *text, size_t room) {
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < chain->count; i++) {
        int length = snprintf(text + used, room - used, "%s%s", i ? ";" : "",
                              sample_stage_name((enum sample_stage)chain->stages[i]));
        if (length < 0 || (size_t)length >= room - used) return;
        used += (size_t)length;
    }
}

bool engine_sampling_setting(const struct engine_sampling *model, uint32_t index,
                             char text[ENGINE_SAMPLING_TEXT], locum_setting *out) {
    const struct engine_card *card = engine_card_find(model->name, LOCUM_THINKING_UNKNOWN);
    enum engine_source source = model->chain_in_file ? ENGINE_FROM_FILE : ENGINE_FROM_DEFAULT;
    if (index > ENGINE_SAMPLING_NUMBERS) return false;
    if (index == ENGINE_SAMPLING_NUMBERS) {
        struct sample_chain chain = model->chain_in_file ? model->chain : sample_chain_usual();
        chain_text(&chain, text, ENGINE_SAMPLING_TEXT);
        *out = (locum_setting){"samplers", text, engine_source_name(source)};
        return true;
    }
    const struct number *number = &numbers[index];
    snprintf(text, ENGINE_SAMPLING_TEXT, "%g", value_of(number, model, card, NULL, &source));
    *out = (locum_setting){number->setting, text, engine_source_name(source)};
    return true;
}
