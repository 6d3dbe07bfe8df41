// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the simple rules that cut a text: runs of one set of characters, digits in threes,
//            blanks at the end, lines.
// Called by: pretokenize.
// Threads:   pure.
// Errors:    none.
// Not here:  which model uses which rule (pretokenize.c).
//
// Each function gives the end of the piece that begins at `position`, below scan->limit: a match,
// or what lies before the next one.
#ifndef TOKEN_SCAN_RUNS_H
#define TOKEN_SCAN_RUNS_H

#include "token/scan.h"

struct scan_set {
    uint32_t bits;                   // categories
    const struct scan_range *ranges; // and code points, sorted
    size_t range_count;
    bool inverted;
};

enum scan_lead { SCAN_LEAD_NONE, SCAN_LEAD_SPACE, SCAN_LEAD_BLANK };

// At most one leading character, then min to max characters of the set.
struct scan_runs {
    struct scan_set set;
    enum scan_lead lead;
    uint32_t min, max;
};
size_t scan_runs_next(const struct scan_runs *runs, struct scan *scan, size_t position);

// Runs of digits cut in threes from the right: 1 234 567.
struct scan_triples {
    uint32_t bits; // what a digit is
    bool whole;    // only runs with no letter behind them; others stay uncut
};
size_t scan_triples_next(const struct scan_triples *triples, struct scan *scan, size_t position);

// Blanks at the end of the piece, apart from the rest.
size_t scan_blank_end_next(struct scan *scan, size_t position);

// Runs of newlines, and what lies between them.
size_t scan_lines_next(struct scan *scan, size_t position);

#endif
