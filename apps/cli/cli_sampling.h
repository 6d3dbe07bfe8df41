// SPDX-License-Identifier: Apache-2.0
//
// Owns:      from flags to the sampling of a request, and what of it applies, for --verbose and --stats.
// Called by: commands that generate, cli_model, cli_stats.
// Threads:   one.
// Errors:    wrong usage is told; the exit status is returned.
// Not here:  ranges of numbers (cli_table.c), what a model brings along (the library).
#ifndef CLI_CLI_SAMPLING_H
#define CLI_CLI_SAMPLING_H

#include <jansson.h>
#include <locum/locum.h>

#include "cli_flags.h"

// All zero: nothing is held. The sampling points into it.
struct cli_sampling {
    locum_sampling sampling;
    locum_logit_bias *biases;
    json_t *breakers;   // the list of texts
    const char **texts; // of it
};
int cli_sampling_read(const struct cli_arguments *arguments, struct cli_sampling *out);
void cli_sampling_release(struct cli_sampling *sampling);

// What one of the model's settings is for this command line: a flag of the same name comes first. Other
// settings stay as they are.
locum_setting cli_sampling_applies(const struct cli_arguments *arguments,
                                   const locum_setting *setting);
// All settings of sampling, by name: value and source.
json_t *cli_sampling_json(const struct cli_arguments *arguments, const locum_model *model);

#endif
