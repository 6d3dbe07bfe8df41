// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_metrics.h"

#include "platform/clock.h"

static const double mib = 1 << 20;

locum_status engine_metrics_open(struct engine_metrics *metrics, const char *path, const char *head,
                                 locum_error *error) {
    STATUS_TRY(engine_csv_open(&metrics->csv, path, "the metrics", 1, error));
    buffer_append_text(&metrics->csv.rows, "# locum_metrics v1\n");
    buffer_append_text(&metrics->csv.rows, head);
    buffer_append_text(&metrics->csv.rows,
                       "turn,phase,step,tokens,wall_ms,compute_ms,stall_ms,sample_ms,read_bytes,"
                       "hits,misses,cache_hit_pct,ahead,ahead_used,ahead_wasted,evictions,majflt,"
                       "rss_mib,cache_budget_mib,cache_mib\n");
    return LOCUM_OK;
}

static struct engine_metrics_mark mark_now(const struct store *store, double sample_s) {
    struct engine_metrics_mark mark = {.sample_s = sample_s};
    if (store) store_get_stats(store, &mark.store);
    memory_process_read(&mark.process, NULL); // zeros where the system does not say
    mark.ns = clock_now_ns();
    return mark;
}

void engine_metrics_begin(struct engine_metrics *metrics, const struct store *store,
                          double sample_s) {
    metrics->before = mark_now(store, sample_s);
}

void engine_metrics_end(struct engine_metrics *metrics, const struct store *store, double sample_s,
                        const struct engine_metrics_step *step) {
    uint64_t end_ns = clock_now_ns(); // before the marks, which take time themselves
    struct engine_metrics_mark now = mark_now(store, sample_s);
    const struct store_stats *a = &metrics->before.store, *b = &now.store;
    double wall = (double)(end_ns - metrics->before.ns) * 1e-6;
    double stall = (double)(b->wait_ns - a->wait_ns) * 1e-6;
    double sample = (sample_s - metrics->before.sample_s) * 1e3;
    double compute = wall - stall - sample;
    uint64_t hits = b->hits[step->phase] - a->hits[step->phase];
    uint64_t misses = b->misses[step->phase] - a->misses[step->phase];
    buffer_format(&metrics->csv.rows, "%u,%d,%u,%u,%.3f,%.3f,%.3f,%.3f,%llu,%llu,%llu,%.2f,",
                  step->turn, step->phase == STORE_DECODE, step->position, step->tokens, wall,
                  compute > 0 ? compute : 0, stall, sample,
                  (unsigned long long)(b->bytes_read - a->bytes_read), (unsigned long long)hits,
                  (unsigned long long)misses,
                  hits + misses == 0 ? 0 : 100 * (double)hits / (double)(hits + misses));
    buffer_format(&metrics->csv.rows, "%llu,%llu,%llu,%llu,%llu,%.1f,%.1f,%.1f\n",
                  (unsigned long long)(b->hinted - a->hinted),
                  (unsigned long long)(b->hinted_used - a->hinted_used),
                  (unsigned long long)(b->hinted_wasted - a->hinted_wasted),
                  (unsigned long long)(b->evictions - a->evictions),
                  (unsigned long long)(now.process.major_faults -
                                       metrics->before.process.major_faults),
                  (double)now.process.resident / mib, (double)b->pool_bytes / mib,
                  (double)b->resident_bytes / mib);
    metrics->csv.used = true;
    engine_csv_flush(&metrics->csv);
}
