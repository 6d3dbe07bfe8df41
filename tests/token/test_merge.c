// SPDX-License-Identifier: Apache-2.0
//
// merge.c against the definition: look at all neighbours, take the pair of lowest rank, the
// leftmost of equals, until no pair has a rank.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "token/merge.h"

// Rules over the letters a, b: every text up to a length has a rank of its own making, some have
// none.
struct made_up {
    uint32_t salt, longest, ranks;
};

static bool made_up_rank(const void *model, int32_t left, int32_t right, struct slice both,
                         uint32_t *rank) {
    const struct made_up *rules = model;
    (void)left;
    (void)right;
    if (both.size > rules->longest) {
        return false;
    }
    uint32_t hash = rules->salt;
    for (size_t i = 0; i < both.size; i++) {
        hash = (hash ^ (uint8_t)both.data[i]) * 0x01000193u;
    }
    *rank = (hash >> 8) % rules->ranks;
    return (hash >> 28) != 0;
}

static int32_t made_up_result(const void *model, struct slice both) {
    (void)model;
    return (int32_t)both.size;
}

// Ends of the pieces that are left.
static size_t merge_by_definition(const struct made_up *rules, struct slice text, size_t *ends) {
    size_t count = text.size;
    for (size_t i = 0; i < count; i++) {
        ends[i] = i + 1;
    }
    while (true) {
        size_t best = count;
        uint32_t best_rank = UINT32_MAX;
        for (size_t i = 0; i + 1 < count; i++) {
            size_t begin = i ? ends[i - 1] : 0;
            uint32_t rank;
            if (made_up_rank(rules, 0, 0, slice_make(text.data + begin, ends[i + 1] - begin),
                             &rank) &&
                rank < best_rank) {
                best_rank = rank;
                best = i;
            }
        }
        if (best == count) {
            return count;
        }
        memmove(ends + best, ends + best + 1, (count - best - 1) * sizeof *ends);
        count--;
    }
}

static void begin_bytes(struct merge *merge, struct slice text) {
    merge_begin(merge, text);
    for (size_t i = 0; i < text.size; i++) {
        merge_append(merge, (uint32_t)i, 1);
    }
}

static void merges_as_defined(void **state) {
    (void)state;
    struct merge merge = {0};
    uint32_t random = 1;
    for (int round = 0; round < 3000; round++) {
        char text[64];
        size_t ends[64], size = (size_t)round % sizeof text;
        for (size_t i = 0; i < size; i++) {
            random = random * 1664525u + 1013904223u;
            text[i] = random >> 30 ? 'a' : 'b';
        }
        struct made_up made_up = {random, 2 + random % 9, 1 + random % 7};
        struct merge_rules rules = {&made_up, made_up_rank, made_up_result};
        size_t count = merge_by_definition(&made_up, slice_make(text, size), ends), i = 0;
        begin_bytes(&merge, slice_make(text, size));
        merge_run(&merge, &rules);
        for (int32_t s = merge_first(&merge); s != MERGE_NONE; s = merge.symbols[s].next, i++) {
            assert_true(i < count);
            struct slice symbol = merge_text(&merge, s);
            assert_int_equal(symbol.data + symbol.size - text, ends[i]);
            assert_int_equal(merge.symbols[s].id, symbol.size);
        }
        assert_int_equal(i, count);
    }
    assert_false(merge.failed);
    merge_release(&merge);
}

// All the work on n equal characters, in steps of the heap and merges, is n log n.
static void equal_characters_take_few_steps(void **state) {
    (void)state;
    enum { RUN = 200000 };
    char *text = malloc(RUN);
    assert_non_null(text);
    memset(text, 'a', RUN);
    for (uint32_t salt = 0; salt < 6; salt++) {
        struct made_up made_up = {salt, 16, 1 + salt};
        struct merge_rules rules = {&made_up, made_up_rank, made_up_result};
        struct merge merge = {0};
        begin_bytes(&merge, slice_make(text, RUN));
        merge_run(&merge, &rules);
        // Each merge pushes two candidates and pops them, each at most log2(2 n) < 19 moves.
        assert_true(merge.steps <= (uint64_t)RUN * 3 * 2 * 19);
        merge_release(&merge);
    }
    free(text);
}

static void memory_is_used_again(void **state) {
    (void)state;
    struct made_up made_up = {7, 4, 3};
    struct merge_rules rules = {&made_up, made_up_rank, made_up_result};
    struct merge merge = {0};
    struct slice text = slice_text("abababbaabababba");
    begin_bytes(&merge, text);
    merge_run(&merge, &rules);
    struct merge_symbol *symbols = merge.symbols;
    struct merge_candidate *heap = merge.heap;
    begin_bytes(&merge, text);
    merge_run(&merge, &rules);
    assert_ptr_equal(merge.symbols, symbols);
    assert_ptr_equal(merge.heap, heap);
    begin_bytes(&merge, slice_make(NULL, 0));
    merge_run(&merge, &rules);
    assert_int_equal(merge_first(&merge), MERGE_NONE);
    merge_release(&merge);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_as_defined),
        cmocka_unit_test(equal_characters_take_few_steps),
        cmocka_unit_test(memory_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
