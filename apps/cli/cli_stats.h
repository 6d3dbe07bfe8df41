// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the JSON of --stats: its keys, described in docs/statistics.md, and writing it whole or not
//            at all.
// Called by: cli_run.c.
// Threads:   one.
// Errors:    told on standard error; the exit status is returned.
// Not here:  measuring (the library).
#ifndef CLI_CLI_STATS_H
#define CLI_CLI_STATS_H

#include <jansson.h>
#include <locum/locum.h>
#include <stddef.h>

#include "cli_model.h"
#include "platform/file_write.h"

struct cli_stats_run {
    const struct cli_model *model;
    const locum_stats *stats;
    const locum_token *ids; // generated
    size_t id_count;
    const char *text; // the answer
    size_t text_size;
    json_t *logprobs; // a list, stays the caller's; NULL: not asked for
};

// Before the run, so that a path that cannot be written is found out first. Without a path *out is
// NULL.
int cli_stats_open(const char *path, struct file_write **out);
int cli_stats_write(struct file_write *writer, const struct cli_stats_run *run); // ends the writer

#endif
