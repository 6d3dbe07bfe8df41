// SPDX-License-Identifier: Apache-2.0
#include "token/scan_runs.h"

#include "base/check.h"

static bool in_set(const struct scan_set *set, struct scan_character c) {
    if (!c.bits) {
        return false; // the end of the piece
    }
    bool found = (c.bits & set->bits) || scan_in_ranges(c.code, set->ranges, set->range_count);
    return found != set->inverted;
}

// End of the run that begins exactly at `position`, or `position`.
static size_t match_run(const struct scan_runs *runs, struct scan *scan, size_t position) {
    size_t end = position;
    uint32_t count = 0;
    for (; count < runs->max; count++) {
        struct scan_character c = scan_at(scan, end);
        if (!in_set(&runs->set, c)) {
            break;
        }
        end = c.next;
    }
    return count >= runs->min ? end : position;
}

static bool may_lead(enum scan_lead lead, struct scan_character c) {
    return (lead == SCAN_LEAD_SPACE && c.code == ' ') ||
           (lead == SCAN_LEAD_BLANK && (c.bits & UNICODE_SPACE));
}

static size_t match(const struct scan_runs *runs, struct scan *scan, size_t position) {
    struct scan_character c = scan_at(scan, position);
    if (may_lead(runs->lead, c)) {
        size_t end = match_run(runs, scan, c.next);
        if (end > c.next) {
            return end;
        }
    }
    return match_run(runs, scan, position);
}

size_t scan_runs_next(const struct scan_runs *runs, struct scan *scan, size_t position) {
    LOCUM_ASSERT(position < scan->limit);
    size_t end = match(runs, scan, position);
    if (end > position) {
        return end;
    }
    do {
        position = scan_at(scan, position).next;
    } while (position < scan->limit && match(runs, scan, position) == position);
    return position;
}

// \w, as the expression engine of the published tokenizers has it: every kind of number too.
enum { WORD = UNICODE_L | UNICODE_M | UNICODE_N | UNICODE_PC };

// Digits of the run at `position` and its end.
static size_t digits_at(const struct scan_triples *triples, struct scan *scan, size_t position,
                        size_t *count) {
    *count = 0;
    for (struct scan_character c = scan_at(scan, position); c.bits & triples->bits;
         c = scan_at(scan, position)) {
        position = c.next;
        ++*count;
    }
    return position;
}

size_t scan_triples_next(const struct scan_triples *triples, struct scan *scan, size_t position) {
    LOCUM_ASSERT(position < scan->limit);
    if (position < scan->triples) { // inside a run whose rest is a multiple of three
        return scan_run_of(scan, position, triples->bits, 3);
    }
    size_t begin = position;
    while (position < scan->limit) {
        size_t count;
        size_t end = digits_at(triples, scan, position, &count);
        if (count == 0) {
            position = scan_at(scan, position).next;
            continue;
        }
        if (triples->whole && (scan_at(scan, end).bits & WORD)) {
            position = end;
            continue;
        }
        if (position > begin) {
            return position; // what lies before the run
        }
        scan->triples = end;
        return scan_run_of(scan, position, triples->bits, count % 3 ? (uint32_t)(count % 3) : 3);
    }
    return scan->limit;
}

size_t scan_blank_end_next(struct scan *scan, size_t position) {
    LOCUM_ASSERT(position < scan->limit);
    size_t begin = position;
    while (position < scan->limit) {
        size_t end = scan_run_of(scan, position, UNICODE_SPACE, UINT32_MAX);
        if (end == scan->limit) {
            return position > begin ? position : end;
        }
        position = scan_at(scan, end).next;
    }
    return scan->limit;
}

size_t scan_lines_next(struct scan *scan, size_t position) {
    LOCUM_ASSERT(position < scan->limit);
    bool newlines = scan->text[position] == '\n';
    while (position < scan->limit && (scan->text[position] == '\n') == newlines) {
        scan->examined++;
        position++;
    }
    return position;
}
