// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a table that grows while a model answers: rows are collected and written now and then, the
//            file appears whole when it is closed.
// Called by: engine_trace, engine_metrics, engine_io_trace.
// Threads:   one thread.
// Errors:    sticky, told by engine_csv_close: no memory for rows, or the file cannot be written.
// Not here:  what the rows say.
#ifndef ENGINE_ENGINE_CSV_H
#define ENGINE_ENGINE_CSV_H

#include "base/buffer.h"
#include "base/status.h"

enum {
    ENGINE_CSV_FLUSH = 16 << 10, // rows are written when there are more bytes of them
    ENGINE_CSV_ROW = 512         // bytes of a row, at most
};

struct engine_csv {
    struct file_write *file;
    const char *what;   // for messages: "the routing trace"
    struct buffer rows; // append whole rows here
    bool used;          // there is something to tell; without it no file appears
    locum_status status;
    locum_error error;
};

// between: rows that are appended between two calls of engine_csv_flush, at most; room for them is kept,
// so that answering asks for no memory.
locum_status engine_csv_open(struct engine_csv *csv, const char *path, const char *what,
                             size_t between, locum_error *error);
void engine_csv_flush(struct engine_csv *csv); // writes if there is much to write
locum_status engine_csv_close(struct engine_csv *csv, locum_error *error);
void engine_csv_cancel(struct engine_csv *csv); // no file; also one that was not opened

#endif
