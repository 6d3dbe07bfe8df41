// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_csv.h"

#include "platform/file_write.h"

locum_status engine_csv_open(struct engine_csv *csv, const char *path, const char *what,
                             size_t between, locum_error *error) {
    *csv = (struct engine_csv){.what = what};
    STATUS_TRY(file_write_open(path, &csv->file, error));
    buffer_reserve(&csv->rows, ENGINE_CSV_FLUSH + between * ENGINE_CSV_ROW);
    return LOCUM_OK;
}

static void write_rows(struct engine_csv *csv) {
    if (csv->rows.failed && csv->status == LOCUM_OK)
        csv->status =
            status_fail(&csv->error, LOCUM_E_OUT_OF_MEMORY, "no memory for %s", csv->what);
    if (csv->status == LOCUM_OK)
        csv->status = file_write_bytes(csv->file, csv->rows.data, csv->rows.size, &csv->error);
    csv->rows.size = 0;
}

void engine_csv_flush(struct engine_csv *csv) {
    if (csv->rows.size > ENGINE_CSV_FLUSH || csv->rows.failed) write_rows(csv);
}

void engine_csv_cancel(struct engine_csv *csv) {
    file_write_cancel(csv->file);
    buffer_release(&csv->rows);
    *csv = (struct engine_csv){0};
}

locum_status engine_csv_close(struct engine_csv *csv, locum_error *error) {
    if (!csv->file) return LOCUM_OK;
    write_rows(csv);
    locum_status status = csv->status;
    if (status == LOCUM_OK && csv->used) {
        status = file_write_commit(csv->file, error);
        csv->file = NULL;
    } else if (status != LOCUM_OK && error) {
        *error = csv->error;
    }
    engine_csv_cancel(csv);
    return status;
}
