// SPDX-License-Identifier: Apache-2.0
#include "token/scan_words.h"

#include "base/check.h"

// Letters of both cases count as either, so that upper* lower+ can end in them.
enum {
    UPPER = UNICODE_LU | UNICODE_LT | UNICODE_LM | UNICODE_LO | UNICODE_M,
    LOWER = UNICODE_LL | UNICODE_LM | UNICODE_LO | UNICODE_M
};

// Script=Han of Unicode 15.1 (Scripts.txt).
static const struct scan_range han_ranges[] = {
    {0x2E80, 0x2E99},   {0x2E9B, 0x2EF3},   {0x2F00, 0x2FD5},   {0x3005, 0x3005},
    {0x3007, 0x3007},   {0x3021, 0x3029},   {0x3038, 0x303B},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xF900, 0xFA6D},   {0xFA70, 0xFAD9},   {0x16FE2, 0x16FE3},
    {0x16FF0, 0x16FF1}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B739}, {0x2B740, 0x2B81D},
    {0x2B820, 0x2CEA1}, {0x2CEB0, 0x2EBE0}, {0x2EBF0, 0x2EE5D}, {0x2F800, 0x2FA1D},
    {0x30000, 0x3134A}, {0x31350, 0x323AF},
};

static bool is_han(uint32_t code) {
    return scan_in_ranges(code, han_ranges, sizeof han_ranges / sizeof han_ranges[0]);
}

static bool is_newline(uint32_t code) {
    return code == '\r' || code == '\n';
}

static bool is_ascii_letter(uint32_t code) {
    return (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z');
}

// As (?i:...) compares: the long s is an s.
static uint32_t fold(uint32_t code) {
    if (code == 0x17F) {
        return 's';
    }
    return is_ascii_letter(code) ? code | 0x20 : code;
}

// Each match_ function gives the end of what its alternative takes from `position`, or `position`.

static size_t match_contraction(struct scan *scan, size_t position, bool any_case) {
    struct scan_character c = scan_at(scan, position);
    if (c.code != '\'') {
        return position;
    }
    struct scan_character first = scan_at(scan, c.next);
    struct scan_character second = scan_at(scan, first.next);
    uint32_t a = first.code, b = second.code;
    if (any_case) {
        a = fold(a);
        b = fold(b);
    }
    if (a == 's' || a == 't' || a == 'm' || a == 'd') {
        return first.next;
    }
    bool pair = (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l');
    return pair ? second.next : position;
}

static size_t match_mark_word(struct scan *scan, size_t position) {
    struct scan_character c = scan_at(scan, position);
    if (c.code >= 0x80 || !(c.bits & (UNICODE_P | UNICODE_S))) {
        return position;
    }
    size_t end = c.next;
    for (c = scan_at(scan, end); is_ascii_letter(c.code); c = scan_at(scan, end)) {
        end = c.next;
    }
    return end == position + 1 ? position : end;
}

static size_t match_han(struct scan *scan, size_t position) {
    for (struct scan_character c = scan_at(scan, position); is_han(c.code);
         c = scan_at(scan, position)) {
        position = c.next;
    }
    return position;
}

static bool in_word(const struct scan_words *words, struct scan_character c, uint32_t bits) {
    return (c.bits & bits) && !(words->han && is_han(c.code));
}

static size_t match_letters(const struct scan_words *words, struct scan *scan, size_t position) {
    struct scan_character c = scan_at(scan, position);
    if (words->phrases) {
        // (L M*)( ?L M*)*
        while (c.bits & UNICODE_L) {
            position = scan_run_of(scan, c.next, UNICODE_M, UINT32_MAX);
            c = scan_at(scan, position);
            if (c.code == ' ') {
                c = scan_at(scan, c.next);
            }
        }
        return position;
    }
    for (; in_word(words, c, words->letters); c = scan_at(scan, position)) {
        position = c.next;
    }
    return position;
}

// upper* lower+. The first run takes letters of both kinds too; when no lower-case letter follows,
// the last one that is both is given back to be the lower+, and the match ends behind it.
static size_t match_capitalised(const struct scan_words *words, struct scan *scan,
                                size_t position) {
    size_t begin = position, both_end = position;
    struct scan_character c = scan_at(scan, position);
    for (; in_word(words, c, UPPER); c = scan_at(scan, position)) {
        position = c.next;
        if (c.bits & LOWER) {
            both_end = position;
        }
    }
    if (!in_word(words, c, LOWER)) {
        return both_end > begin ? both_end : begin;
    }
    for (; in_word(words, c, LOWER); c = scan_at(scan, position)) {
        position = c.next;
    }
    return position;
}

// upper+ lower*, after upper* lower+ found nothing: so no lower-case letter follows the run.
static size_t match_capitals(const struct scan_words *words, struct scan *scan, size_t position) {
    for (struct scan_character c = scan_at(scan, position); in_word(words, c, UPPER);
         c = scan_at(scan, position)) {
        position = c.next;
    }
    return position;
}

static bool may_lead(const struct scan_words *words, struct scan_character c) {
    if (words->lead_space) {
        return c.code == ' ';
    }
    return c.bits && !(c.bits & words->lead_not) && !is_newline(c.code);
}

static size_t match_word(const struct scan_words *words, struct scan *scan, size_t position) {
    typedef size_t (*match_fn)(const struct scan_words *, struct scan *, size_t);
    static const match_fn plain[] = {match_letters};
    static const match_fn cased[] = {match_capitalised, match_capitals};
    const match_fn *forms = words->cased ? cased : plain;
    size_t count = words->cased ? 2 : 1;

    struct scan_character c = scan_at(scan, position);
    bool leads = may_lead(words, c);
    for (size_t i = 0; i < count; i++) {
        size_t end = leads ? forms[i](words, scan, c.next) : c.next;
        if (end == c.next) { // nobody leads, or only something that is itself a letter
            end = forms[i](words, scan, position);
            if (end == position) {
                continue;
            }
        }
        return words->contractions == SCAN_CONTRACTIONS_SUFFIX ? match_contraction(scan, end, true)
                                                               : end;
    }
    return position;
}

static size_t match_number(const struct scan_words *words, struct scan *scan, size_t position) {
    size_t begin = position;
    struct scan_character c = scan_at(scan, position);
    if (words->digits_space && c.code == ' ') {
        begin = c.next;
    }
    size_t end = scan_run_of(scan, begin, UNICODE_N, words->digits);
    return end == begin ? position : end;
}

static bool is_mark(const struct scan_words *words, struct scan_character c) {
    return c.bits && !(c.bits & words->marks_not);
}

static size_t match_marks(const struct scan_words *words, struct scan *scan, size_t position) {
    struct scan_character c = scan_at(scan, position);
    if (c.code == ' ') {
        c = scan_at(scan, c.next);
    }
    if (!is_mark(words, c)) {
        return position;
    }
    size_t end = c.next;
    for (c = scan_at(scan, end); is_mark(words, c); c = scan_at(scan, end)) {
        end = c.next;
    }
    for (uint32_t i = 0; i < words->tail_max; i++) {
        c = scan_at(scan, end);
        if (c.code >= 0x80 || c.code == 0 || !strchr(words->tail, (char)c.code)) {
            break;
        }
        end = c.next;
    }
    return end;
}

// \s*[\r\n]+ | \s+(?!\S) | \s+ : up to the last newline; else all but the last blank, which leads
// what follows; else all.
static size_t match_blanks(const struct scan_words *words, struct scan *scan, size_t position) {
    size_t end = position, last = position, lines_end = position;
    for (struct scan_character c = scan_at(scan, end); c.bits & UNICODE_SPACE;
         c = scan_at(scan, end)) {
        last = end;
        end = c.next;
        if (is_newline(c.code)) {
            lines_end = end;
        }
    }
    if (words->lines && lines_end > position) {
        return lines_end;
    }
    return end < scan->limit && last > position ? last : end;
}

static size_t match(const struct scan_words *words, struct scan *scan, size_t position) {
    size_t end = position;
    if (words->contractions == SCAN_CONTRACTIONS_LOWER ||
        words->contractions == SCAN_CONTRACTIONS_ANY) {
        end = match_contraction(scan, position, words->contractions == SCAN_CONTRACTIONS_ANY);
    }
    if (end == position && words->mark_word) {
        end = match_mark_word(scan, position);
    }
    if (end == position && words->han) {
        end = match_han(scan, position);
    }
    if (end == position) {
        end = match_word(words, scan, position);
    }
    if (end == position && words->digits) {
        end = match_number(words, scan, position);
    }
    if (end == position) {
        end = match_marks(words, scan, position);
    }
    return end == position ? match_blanks(words, scan, position) : end;
}

size_t scan_words_next(const struct scan_words *words, struct scan *scan, size_t position) {
    LOCUM_ASSERT(position < scan->limit);
    size_t end = match(words, scan, position);
    if (end > position) {
        return end;
    }
    // What no alternative takes stays together up to the next match.
    do {
        position = scan_at(scan, position).next;
    } while (position < scan->limit && match(words, scan, position) == position);
    return position;
}
