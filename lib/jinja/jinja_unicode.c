// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_unicode.h"

#include "base/utf8.h"
#include "jinja/jinja_unicode_table.h"

static const uint32_t spaces[][2] = {
    {0x09, 0x0D},     {0x1C, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
    {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
};

static size_t in_ranges(struct slice text, const uint32_t (*ranges)[2], size_t count) {
    if (text.size == 0 || ((unsigned char)text.data[0] > ' ' && (unsigned char)text.data[0] < 0x80)) {
        return 0;
    }
    struct utf8_step step = utf8_next(text);
    for (size_t i = 0; i < count && step.kind == UTF8_CHARACTER; i++) {
        if (step.code >= ranges[i][0] && step.code <= ranges[i][1]) {
            return step.size;
        }
    }
    return 0;
}

size_t jinja_space_at(struct slice text) {
    return in_ranges(text, spaces, sizeof spaces / sizeof spaces[0]);
}

size_t jinja_line_break_at(struct slice text) {
    static const uint32_t breaks[][2] = {
        {0x0A, 0x0D}, {0x1C, 0x1E}, {0x85, 0x85}, {0x2028, 0x2029}};
    if (slice_starts(text, slice_text("\r\n"))) {
        return 2;
    }
    return in_ranges(text, breaks, sizeof breaks / sizeof breaks[0]);
}

// The last range that begins at or before `code`, by binary search over rows of `size` bytes that
// begin with their first code point.
static const void *row_at(const void *rows, uint32_t count, size_t size, uint32_t code) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, first;
        memcpy(&first, (const char *)rows + middle * size, sizeof first);
        if (first <= code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? (const char *)rows + (low - 1) * size : NULL;
}

unsigned jinja_change_case(uint32_t code, enum jinja_case to, uint32_t out[3]) {
    const struct jinja_case_table *table = &jinja_case_tables[to];
    const struct jinja_case_special *special =
        row_at(table->specials, table->special_count, sizeof *special, code);
    if (special && special->code == code) {
        unsigned count = 0;
        while (count < 3 && special->becomes[count] != 0) {
            out[count] = special->becomes[count];
            count++;
        }
        return count;
    }
    const struct jinja_case_range *range =
        row_at(table->ranges, table->range_count, sizeof *range, code);
    bool inside = range && code <= range->last && (code - range->first) % range->step == 0;
    out[0] = inside ? code + (uint32_t)range->delta : code;
    return 1;
}

bool jinja_is(uint32_t code, enum jinja_class kind) {
    const struct jinja_class_table *table = &jinja_class_tables[kind];
    const struct jinja_class_range *range =
        row_at(table->ranges, table->count, sizeof *range, code);
    return range && code <= range->last;
}
