// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the rule that cuts a text into words, numbers, marks and blanks, with the switches in
//            which the families of models differ.
// Called by: pretokenize.
// Threads:   pure.
// Errors:    none.
// Not here:  which model uses which switches (pretokenize.c).
//
// Every family states one expression with alternatives, and all of them in this order:
//     contraction | mark and ASCII word | word | number | marks | lines | blanks
// so one function per alternative, tried in that order, is the expression, without its
// backtracking.
#ifndef TOKEN_SCAN_WORDS_H
#define TOKEN_SCAN_WORDS_H

#include "token/scan.h"

enum scan_contractions {
    SCAN_CONTRACTIONS_NONE,
    SCAN_CONTRACTIONS_LOWER,  // 's 't 're 've 'm 'll 'd
    SCAN_CONTRACTIONS_ANY,    // in either case
    SCAN_CONTRACTIONS_SUFFIX, // in either case, as the end of the word before
};

struct scan_words {
    enum scan_contractions contractions;
    bool mark_word; // an ASCII mark followed by ASCII letters: [mark][A-Za-z]+
    bool han;       // runs of Han characters by themselves, never inside a word

    // A word: one character that may lead, then letters. With cased, the letters are
    // upper* lower+ or else upper+ lower*, where some letters are both.
    uint32_t lead_not; // no leading character of these categories, and no \r \n
    bool lead_space;   // or: a space is the only one that may lead
    uint32_t letters;
    bool cased;
    bool phrases; // letters may go on behind one space; marks (\p{M}) only behind a letter

    uint32_t digits;   // most \p{N} of one piece; 0: numbers are not cut here
    bool digits_space; // a space may lead

    uint32_t marks_not; // ` ?[^...]+`: what is no mark
    const char *tail;   // characters that follow the marks
    uint32_t tail_max;

    bool lines; // blanks up to the last newline of their run
};

// End of the piece that begins at `position`, below scan->limit: a match, or what lies before the
// next one.
size_t scan_words_next(const struct scan_words *words, struct scan *scan, size_t position);

#endif
