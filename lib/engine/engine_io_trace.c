// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_io_trace.h"

locum_status engine_io_trace_open(struct engine_io_trace *trace, const char *path,
                                  const char *model, locum_error *error) {
    STATUS_TRY(engine_csv_open(&trace->csv, path, "the trace of reads", 1, error));
    buffer_format(&trace->csv.rows, "# io_trace v1\n# model=%s\n", model);
    buffer_append_text(&trace->csv.rows, "turn,phase,step,layer,expert,proj,spec,shard,offset,"
                                         "req_bytes,read_bytes,latency_ns\n");
    return LOCUM_OK;
}

void engine_io_trace_step(struct engine_io_trace *trace, uint32_t turn, enum store_phase phase,
                          uint32_t first_position) {
    trace->csv.used = true;
    trace->turn = turn;
    trace->phase = phase;
    trace->position = first_position;
}

void engine_io_trace_write(void *user, const struct store_io *io) {
    struct engine_io_trace *trace = user;
    buffer_format(&trace->csv.rows, "%u,%d,%u,%u,%u,%u,%d,%u,%llu,%llu,%llu,%llu\n", trace->turn,
                  trace->phase == STORE_DECODE, trace->position, io->layer, io->expert,
                  io->segment, io->hinted, io->file, (unsigned long long)io->offset,
                  (unsigned long long)io->bytes_wanted, (unsigned long long)io->bytes,
                  (unsigned long long)io->latency_ns);
    engine_csv_flush(&trace->csv);
}
