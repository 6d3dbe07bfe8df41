// SPDX-License-Identifier: Apache-2.0
//
// Owns:      numbers as people write and read them: strict parsing, sizes, counts, durations.
// Called by: cli_flags.c (parsing), every command (printing).
// Threads:   pure.
// Errors:    enum cli_number_result.
// Not here:  which range a flag allows.
#ifndef CLI_CLI_NUMBER_H
#define CLI_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum cli_number_result { CLI_NUMBER_OK, CLI_NUMBER_NONE, CLI_NUMBER_OUTSIDE };

// The whole text must be the number: no blanks, signs or rest. Digits only.
enum cli_number_result cli_number_integer(const char *text, uint64_t *out);
// Decimal, with a sign, point and exponent if wanted; no infinity, no hexadecimal.
enum cli_number_result cli_number_real(const char *text, double *out);
// "1073741824", "6G", "6GiB", "1.5g", "512MiB": powers of 1024; "6GB": powers of 1000.
enum cli_number_result cli_number_size(const char *text, uint64_t *out);
// Whether the text is that word (in lower case) however its letters are written: "all", "ALL".
bool cli_number_is_word(const char *text, const char *word);

enum { CLI_NUMBER_TEXT = 40 };
// Each returns its text, which lies in `text`.
const char *cli_number_bound(double value, char text[CLI_NUMBER_TEXT]);     // "0", "1e+06"
const char *cli_number_bytes(uint64_t bytes, char text[CLI_NUMBER_TEXT]);   // "1.21 GiB"
const char *cli_number_peak(uint64_t bytes, char text[CLI_NUMBER_TEXT]);    // 0: "unknown"
const char *cli_number_count(uint64_t count, char text[CLI_NUMBER_TEXT]);   // "12,345"
const char *cli_number_short(uint64_t count, char text[CLI_NUMBER_TEXT]);   // "30.5 billion"
const char *cli_number_rate(double rate, char text[CLI_NUMBER_TEXT]);       // "12.3"
const char *cli_number_seconds(double seconds, char text[CLI_NUMBER_TEXT]); // "850 ms", "12.3 s"
const char *cli_number_percent(uint64_t part, uint64_t rest, char text[CLI_NUMBER_TEXT]);

#endif
