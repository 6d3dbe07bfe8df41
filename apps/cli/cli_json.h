// SPDX-License-Identifier: Apache-2.0
//
// Owns:      JSON values from what the library gives, and printing them.
// Called by: the commands that have --json, and --stats.
// Threads:   one.
// Errors:    jansson's: a value is NULL without memory, and so is everything that holds it.
// Not here:  which keys there are.
#ifndef CLI_CLI_JSON_H
#define CLI_CLI_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// Any bytes; what is not UTF-8 becomes U+FFFD.
json_t *cli_json_bytes(const char *bytes, size_t size);
json_t *cli_json_text(const char *text); // NULL gives null
json_t *cli_json_count(uint64_t count);
json_t *cli_json_known(uint64_t count); // null for 0, which says that it could not be measured
json_t *cli_json_seed(uint64_t seed); // as text: readers of JSON lose digits of large numbers
json_t *cli_json_real(double value);  // null if it is not finite

// Both release the value. dump: free() the text; NULL was told. print: the command's exit status.
char *cli_json_dump(json_t *value);
int cli_json_print(json_t *value);

#endif
