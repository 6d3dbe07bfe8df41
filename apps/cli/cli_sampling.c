// SPDX-License-Identifier: Apache-2.0
#include "cli_sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli_json.h"
#include "cli_number.h"
#include "cli_output.h"

static const struct {
    enum cli_flag_id flag;
    size_t field; // in locum_sampling: a float for CLI_REAL, else an int32_t
} numbers[] = {
    {CLI_TEMP, offsetof(locum_sampling, temperature)},
    {CLI_DYNATEMP_RANGE, offsetof(locum_sampling, dynatemp_range)},
    {CLI_DYNATEMP_EXP, offsetof(locum_sampling, dynatemp_exponent)},
    {CLI_TOP_K, offsetof(locum_sampling, top_k)},
    {CLI_TOP_P, offsetof(locum_sampling, top_p)},
    {CLI_MIN_P, offsetof(locum_sampling, min_p)},
    {CLI_TYPICAL_P, offsetof(locum_sampling, typical_p)},
    {CLI_TOP_N_SIGMA, offsetof(locum_sampling, top_n_sigma)},
    {CLI_XTC_PROBABILITY, offsetof(locum_sampling, xtc_probability)},
    {CLI_XTC_THRESHOLD, offsetof(locum_sampling, xtc_threshold)},
    {CLI_MIN_KEEP, offsetof(locum_sampling, min_keep)},
    {CLI_REPEAT_LAST_N, offsetof(locum_sampling, penalty_last_n)},
    {CLI_REPEAT_PENALTY, offsetof(locum_sampling, repeat_penalty)},
    {CLI_FREQUENCY_PENALTY, offsetof(locum_sampling, frequency_penalty)},
    {CLI_PRESENCE_PENALTY, offsetof(locum_sampling, presence_penalty)},
    {CLI_DRY_MULTIPLIER, offsetof(locum_sampling, dry_multiplier)},
    {CLI_DRY_BASE, offsetof(locum_sampling, dry_base)},
    {CLI_DRY_ALLOWED_LENGTH, offsetof(locum_sampling, dry_allowed_length)},
    {CLI_DRY_PENALTY_LAST_N, offsetof(locum_sampling, dry_penalty_last_n)},
    {CLI_MIROSTAT, offsetof(locum_sampling, mirostat)},
    {CLI_MIROSTAT_ENT, offsetof(locum_sampling, mirostat_tau)},
    {CLI_MIROSTAT_LR, offsetof(locum_sampling, mirostat_eta)},
};

static void read_numbers(const struct cli_value *flags, locum_sampling *out) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct cli_value *value = &flags[numbers[i].flag];
        float real = (float)value->real;
        int32_t whole = (int32_t)value->integer;
        bool is_real = cli_flag_table[numbers[i].flag].kind == CLI_REAL;
        if (!value->given) continue;
        memcpy((char *)out + numbers[i].field, is_real ? (void *)&real : (void *)&whole,
               sizeof real);
    }
}

// ---- biases ------------------------------------------------------------------------------------
// One "15043+1.5" or "15043-inf" of `size` characters.
static bool read_bias(const char *text, size_t size, locum_logit_bias *out) {
    char copy[64];
    uint64_t token;
    double bias = 0;
    if (size >= sizeof copy) return false;
    memcpy(copy, text, size);
    copy[size] = 0;
    size_t digits = strspn(copy, "0123456789");
    char sign = copy[digits];
    if (digits == 0 || (sign != '+' && sign != '-')) return false;
    copy[digits] = 0;
    const char *number = copy + digits + 1;
    bool never = sign == '-' && cli_number_is_word(number, "inf");
    if (cli_number_integer(copy, &token) != CLI_NUMBER_OK || token > INT32_MAX) return false;
    if (*number == '-' || *number == '+') return false;
    if (!never && cli_number_real(number, &bias) != CLI_NUMBER_OK) return false;
    if (bias > 1e30) return false;
    *out = (locum_logit_bias){(locum_token)token,
                              never ? -INFINITY : (float)(sign == '-' ? -bias : bias)};
    return true;
}

static int read_biases(const struct cli_value *flag, const char *command,
                       struct cli_sampling *out) {
    size_t room = 1, count = 0;
    if (!flag->given) return CLI_EXIT_OK;
    for (const char *at = flag->text; *at; at++)
        room += *at == ',';
    out->biases = malloc(room * sizeof *out->biases);
    if (!out->biases) {
        cli_output_error("no memory for the biases");
        return CLI_EXIT_MEMORY;
    }
    for (const char *at = flag->text;; at++) {
        size_t size = strcspn(at, ",");
        if (!read_bias(at, size, &out->biases[count++]))
            return cli_output_usage(command,
                                    "--logit-bias '%.*s': a token's id and what is added to its "
                                    "logit, as 15043+1.5, 15043-2 or 15043-inf",
                                    size < 60 ? (int)size : 60, at);
        at += size;
        if (!*at) break;
    }
    out->sampling.biases = out->biases;
    out->sampling.bias_count = count;
    return CLI_EXIT_OK;
}

// ---- sequence breakers ---------------------------------------------------------------------------
static int read_breakers(const struct cli_value *flag, const char *command,
                         struct cli_sampling *out) {
    static const char *const none[] = {NULL};
    if (!flag->given) return CLI_EXIT_OK;
    out->breakers = json_loads(flag->text, 0, NULL);
    size_t count = json_array_size(out->breakers); // 0 for what is no array
    bool fine = json_is_array(out->breakers);
    out->texts = count ? calloc(count, sizeof *out->texts) : NULL;
    for (size_t i = 0; out->texts && i < count; i++) {
        out->texts[i] = json_string_value(json_array_get(out->breakers, i));
        fine = fine && out->texts[i];
    }
    if (!fine || (count && !out->texts))
        return cli_output_usage(command,
                                "--dry-sequence-breaker '%s': a JSON list of texts is needed, as "
                                "[\"\\n\", \":\"]",
                                flag->text);
    out->sampling.dry_breakers = count ? out->texts : none;
    out->sampling.dry_breaker_count = count;
    return CLI_EXIT_OK;
}

int cli_sampling_read(const struct cli_arguments *arguments, struct cli_sampling *out) {
    const struct cli_value *flags = arguments->flags;
    const char *command = cli_command_table[arguments->command].name;
    *out = (struct cli_sampling){0};
    locum_sampling_init(&out->sampling);
    read_numbers(flags, &out->sampling);
    out->sampling.has_seed = flags[CLI_SEED].given;
    out->sampling.seed = flags[CLI_SEED].integer;
    out->sampling.stages = flags[CLI_SAMPLERS].text;
    int status = read_biases(&flags[CLI_LOGIT_BIAS], command, out);
    if (status != CLI_EXIT_OK) return status;
    return read_breakers(&flags[CLI_DRY_SEQUENCE_BREAKER], command, out);
}

void cli_sampling_release(struct cli_sampling *sampling) {
    free(sampling->biases);
    free(sampling->texts);
    json_decref(sampling->breakers);
    *sampling = (struct cli_sampling){0};
}

// ---- what applies --------------------------------------------------------------------------------
// CLI_FLAGS: the setting is none of sampling.
static int flag_of(const char *setting) {
    int id = CLI_TEMP;
    while (id <= CLI_SAMPLERS && strcmp(cli_flag_table[id].name, setting) != 0)
        id++;
    return id <= CLI_SAMPLERS ? id : CLI_FLAGS;
}

locum_setting cli_sampling_applies(const struct cli_arguments *arguments,
                                   const locum_setting *setting) {
    int id = flag_of(setting->name);
    if (id == CLI_FLAGS || !arguments->flags[id].given) return *setting;
    return (locum_setting){setting->name, arguments->flags[id].text, "given"};
}

json_t *cli_sampling_json(const struct cli_arguments *arguments, const locum_model *model) {
    json_t *out = json_object();
    locum_setting setting;
    for (uint32_t i = 0; locum_model_get_setting(model, i, &setting); i++) {
        double number;
        int id = flag_of(setting.name);
        if (id == CLI_FLAGS) continue;
        locum_setting applies = cli_sampling_applies(arguments, &setting);
        bool is_number = cli_number_real(applies.value, &number) == CLI_NUMBER_OK;
        json_object_set_new(
            out, setting.name,
            json_pack("{s:o, s:s}", "value",
                      is_number ? cli_json_real(number) : cli_json_text(applies.value), "source",
                      applies.source));
    }
    return out;
}
