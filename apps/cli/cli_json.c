// SPDX-License-Identifier: Apache-2.0
#include "cli_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_output.h"

// Replaces each byte that jansson refuses to take in place.
static json_t *repaired(const char *bytes, size_t size) {
    static const char replacement[] = "\xef\xbf\xbd";
    char *text = malloc(3 * size + 1);
    if (!text) return NULL;
    size_t used = 0;
    for (size_t i = 0; i < size;) {
        size_t length = 1;
        json_t *whole = NULL;
        while (length <= 4 && i + length <= size && !(whole = json_stringn(bytes + i, length))) {
            length++;
        }
        const char *from = whole ? bytes + i : replacement;
        size_t step = whole ? length : 3;
        memcpy(text + used, from, step);
        used += step;
        i += whole ? length : 1;
        json_decref(whole);
    }
    json_t *value = json_stringn(text, used);
    free(text);
    return value;
}

json_t *cli_json_bytes(const char *bytes, size_t size) {
    json_t *value = json_stringn(size ? bytes : "", size);
    return value ? value : repaired(bytes, size);
}

json_t *cli_json_text(const char *text) {
    return text ? cli_json_bytes(text, strlen(text)) : json_null();
}

json_t *cli_json_count(uint64_t count) {
    // JSON's integers here are signed: what is beyond is nobody's count of bytes or tokens.
    return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

json_t *cli_json_known(uint64_t count) {
    return count ? cli_json_count(count) : json_null();
}

json_t *cli_json_seed(uint64_t seed) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, seed);
    return json_string(text);
}

json_t *cli_json_real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

char *cli_json_dump(json_t *value) {
    char *text = value ? json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(value);
    if (!text) cli_output_error("no memory for the JSON");
    return text;
}

int cli_json_print(json_t *value) {
    char *text = cli_json_dump(value);
    if (!text) return CLI_EXIT_MEMORY;
    cli_output_write(text, strlen(text));
    cli_output_write("\n", 1);
    free(text);
    return CLI_EXIT_OK;
}
