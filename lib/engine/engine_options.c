// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_options.h"

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

locum_status engine_options_of(const locum_options *given, locum_options *out, locum_error *error) {
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
    static const char *const names[] = {"default", "card", "file", "given"};
    return names[source];
}
