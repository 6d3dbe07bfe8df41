// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_options.h"

#include "platform/random.h"

#include <math.h>
#include <string.h>

// No later version has a structure as large as this: what claims more was never initialised, and is not
// read to find out.
enum { SIZE_MOST = 4096 };

locum_status engine_options_read(void *ours, uint32_t bytes, const void *theirs, const char *name,
                                 locum_error *error) {
    uint32_t size;
    memcpy(&size, theirs, sizeof size);
    if (size < sizeof size || size > SIZE_MOST) {
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "%s: struct_size is %u: it was not set; call %s_init first", name, size,
                           name);
    }
    const uint8_t *raw = theirs;
    for (uint32_t i = bytes; i < size; i++) {
        if (raw[i] == 0) continue;
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "%s: byte %u is set, but this version knows only %u bytes", name, i,
                           bytes);
    }
    memcpy(ours, theirs, size < bytes ? size : bytes);
    memcpy(ours, &bytes, sizeof bytes);
    return LOCUM_OK;
}

locum_status engine_options_of(const locum_options *given, locum_options *out,
                               locum_error *error) {
    locum_options_init(out);
    if (given) STATUS_TRY(engine_options_read(out, sizeof *out, given, "locum_options", error));
    if (out->io > LOCUM_IO_BUFFERED)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_options: io is %d", out->io);
    if (out->kv_type > LOCUM_KV_Q8_0) {
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_options: kv_type is %d", out->kv_type);
    }
    return LOCUM_OK;
}

const char *engine_source_name(enum engine_source source) {
    static const char *const names[] = {"default", "file", "given"};
    return names[source];
}

static enum engine_source source_of(const struct gguf_meta *meta, const char *key) {
    return gguf_meta_find(meta, key) ? ENGINE_FROM_FILE : ENGINE_FROM_DEFAULT;
}

locum_status engine_sampling_read(const struct gguf_meta *meta, struct engine_sampling *out,
                                  locum_error *error) {
    int64_t top_k;
    STATUS_TRY(
        gguf_meta_f32_or(meta, "general.sampling.temp", 0.8f, 0, 1e6f, &out->temperature, error));
    STATUS_TRY(gguf_meta_i64_or(meta, "general.sampling.top_k", 40, -1, INT32_MAX, &top_k, error));
    STATUS_TRY(gguf_meta_f32_or(meta, "general.sampling.top_p", 0.95f, 0, 1, &out->top_p, error));
    STATUS_TRY(gguf_meta_f32_or(meta, "general.sampling.min_p", 0.05f, 0, 1, &out->min_p, error));
    out->top_k = top_k < 0 ? 0 : (int32_t)top_k;
    out->temperature_source = source_of(meta, "general.sampling.temp");
    out->top_k_source = source_of(meta, "general.sampling.top_k");
    out->top_p_source = source_of(meta, "general.sampling.top_p");
    out->min_p_source = source_of(meta, "general.sampling.min_p");
    return LOCUM_OK;
}

static locum_status check_range(float value, float most, const char *field, locum_error *error) {
    if (value <= most && !isnan(value)) return LOCUM_OK; // negative: not given
    return status_fail(error, LOCUM_E_ARGUMENT, "%s is %g; 0 to %g is possible", field,
                       (double)value, (double)most);
}

locum_status engine_sampling_resolve(const struct engine_sampling *defaults,
                                     const locum_sampling *given, struct sample_settings *out,
                                     locum_error *error) {
    STATUS_TRY(check_range(given->temperature, 1e6f, "temperature", error));
    STATUS_TRY(check_range(given->top_p, 1, "top_p", error));
    STATUS_TRY(check_range(given->min_p, 1, "min_p", error));
    *out = (struct sample_settings){
        .temperature = given->temperature < 0 ? defaults->temperature : given->temperature,
        .top_k = given->top_k < 0 ? defaults->top_k : given->top_k,
        .top_p = given->top_p < 0 ? defaults->top_p : given->top_p,
        .min_p = given->min_p < 0 ? defaults->min_p : given->min_p,
        .seed = given->seed,
    };
    return given->has_seed ? LOCUM_OK : random_u64(&out->seed, error);
}
