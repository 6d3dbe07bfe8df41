// SPDX-License-Identifier: Apache-2.0
//
// Random grammars against a naive matcher: the same texts are accepted, what is dead has no
// continuation, and a relaxed state takes what the state takes.
#include "grammar/grammar_gbnf.h"
#include "grammar/grammar_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buffer.h"

enum { TEXT_MAX = 6, RULES = 4, NODES = 200, GRAMMARS = 2000 };

// ---- random grammars, and the naive matcher -----------------------------------------------------
enum kind { EMPTY, LETTER, ANY, SEQUENCE, CHOICE, REPEAT, RULE };

struct node {
    enum kind kind;
    char letter;
    uint32_t a, b; // parts, or the rule
    uint32_t least, most;
};

struct grammar {
    struct node nodes[NODES];
    uint32_t count;
    uint32_t rules[RULES];
};

static uint64_t random_state;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % n;
}

static uint32_t make_node(struct grammar *g, uint32_t depth) {
    uint32_t at = g->count++;
    struct node node = {.kind = EMPTY};
    uint32_t dice = random_below(depth == 0 || g->count > NODES - 30 ? 4 : 11);
    if (dice == 0 && random_below(2) == 0) {
        node.kind = EMPTY;
    } else if (dice <= 2) {
        node.kind = random_below(6) == 0 ? ANY : LETTER;
        node.letter = (char)('a' + random_below(2));
    } else if (dice == 3) {
        node.kind = RULE;
        node.a = random_below(RULES);
    } else if (dice <= 6) {
        node.kind = SEQUENCE;
    } else if (dice <= 8) {
        node.kind = CHOICE;
    } else {
        static const uint32_t bounds[][2] = {{0, 1}, {0, UINT32_MAX}, {1, UINT32_MAX}, {2, 2},
                                             {1, 3}, {0, 4},          {2, UINT32_MAX}, {3, 5}};
        uint32_t choice = random_below(8);
        node.kind = REPEAT;
        node.least = bounds[choice][0];
        node.most = bounds[choice][1];
    }
    if (node.kind >= SEQUENCE && node.kind <= REPEAT) node.a = make_node(g, depth - 1);
    if (node.kind == SEQUENCE || node.kind == CHOICE) node.b = make_node(g, depth - 1);
    g->nodes[at] = node;
    return at;
}

static void write_node(const struct grammar *g, uint32_t at, struct buffer *out) {
    const struct node *n = &g->nodes[at];
    switch (n->kind) {
    case EMPTY: buffer_append_text(out, "\"\""); return;
    case LETTER: buffer_format(out, n->letter == 'a' ? "\"a\"" : "[b-c]"); return;
    case ANY: buffer_append_text(out, "."); return;
    case RULE: buffer_format(out, n->a == 0 ? "root" : "r%u", n->a); return;
    default: break;
    }
    buffer_append_byte(out, '(');
    write_node(g, n->a, out);
    if (n->kind != REPEAT) {
        buffer_append_text(out, n->kind == CHOICE ? " | " : " ");
        write_node(g, n->b, out);
    }
    buffer_append_byte(out, ')');
    if (n->kind != REPEAT) return;
    if (n->most == UINT32_MAX) buffer_format(out, "{%u,}", n->least);
    else buffer_format(out, "{%u,%u}", n->least, n->most);
}

// The naive matcher takes ages for some grammars; those are left out.
enum { MATCH_STEPS_MAX = 20000 };
static uint32_t match_steps;

// The set of places, as bits, where a match that begins at one of `from` can end.
static uint32_t match(const struct grammar *g, uint32_t at, const char *text, uint32_t size,
                      uint32_t from);

static uint32_t match_repeat(const struct grammar *g, const struct node *n, const char *text,
                             uint32_t size, uint32_t from) {
    uint32_t ends = n->least == 0 ? from : 0;
    for (uint32_t done = 1; done <= n->most && done <= n->least + size + 1 && from; done++) {
        from = match(g, n->a, text, size, from);
        if (done < n->least) continue;
        from &= ~ends; // from the others it went on already, with more rounds left
        ends |= from;
    }
    return ends;
}

static uint32_t match(const struct grammar *g, uint32_t at, const char *text, uint32_t size,
                      uint32_t from) {
    const struct node *n = &g->nodes[at];
    uint32_t ends = 0;
    if (from == 0 || ++match_steps > MATCH_STEPS_MAX) return 0;
    switch (n->kind) {
    case EMPTY: return from;
    case LETTER:
    case ANY:
        for (uint32_t i = 0; i < size; i++) {
            bool fits = n->kind == ANY || (n->letter == 'a' ? text[i] == 'a' : text[i] != 'a');
            if ((from >> i) & 1 && fits) ends |= 2u << i;
        }
        return ends;
    case SEQUENCE: return match(g, n->b, text, size, match(g, n->a, text, size, from));
    case CHOICE: return match(g, n->a, text, size, from) | match(g, n->b, text, size, from);
    case REPEAT: return match_repeat(g, n, text, size, from);
    case RULE: return match(g, g->rules[n->a], text, size, from);
    }
    return 0;
}

// ---- comparison ---------------------------------------------------------------------------------
static void text_of(uint32_t number, uint32_t size, char *text) {
    for (uint32_t i = 0; i < size; i++)
        text[i] = (number >> i) & 1 ? 'c' : 'a';
}

static uint32_t run(struct grammar_machine *m, uint32_t state, const char *text, uint32_t size) {
    for (uint32_t i = 0; i < size; i++)
        state = grammar_machine_step(m, state, (uint8_t)text[i]);
    assert_int_equal(m->status, LOCUM_OK);
    return state;
}

// Texts that begin with a dead one are not accepted, and a relaxed state lives as long.
static bool compare(const struct grammar *g, struct grammar_machine *m, const char *source) {
    for (uint32_t size = 0; size <= TEXT_MAX; size++) {
        for (uint32_t number = 0; number < 1u << size; number++) {
            char text[TEXT_MAX + 1] = "";
            text_of(number, size, text);
            match_steps = 0;
            bool expected = (match(g, g->rules[0], text, size, 1) >> size) & 1;
            uint32_t state = run(m, m->start, text, size);
            if (match_steps > MATCH_STEPS_MAX) return false;
            if (m->states[state].accepts != expected)
                fail_msg("%s\n\"%s\": expected %d", source, text, expected);
            assert_false(expected && state == GRAMMAR_DEAD);
            for (uint32_t cut = size > 2 ? size - 2 : 0; cut < size; cut++) {
                uint32_t exact = run(m, m->start, text, cut),
                         relaxed = grammar_machine_relax(m, exact, GRAMMAR_RELAX_SHORT),
                         end = run(m, relaxed, text + cut, size - cut);
                if ((end == GRAMMAR_DEAD) != (state == GRAMMAR_DEAD))
                    fail_msg("%s\n\"%s\" relaxed after %u", source, text, cut);
            }
        }
    }
    return true;
}

// From every state that was reached a text leads to the end: what has none was taken out.
static void check_ends(struct grammar_machine *m, const char *source) {
    for (uint32_t state = 1; state < m->state_words.count && state < 40; state++) {
        uint32_t queue[3000] = {state}, count = 1;
        bool seen[3000] = {false}, found = false;
        for (uint32_t i = 0; i < count && !found; i++) {
            found = m->states[queue[i]].accepts || m->status != LOCUM_OK;
            for (uint32_t letter = 0; letter < 2 && !found; letter++) {
                uint32_t next = grammar_machine_step(m, queue[i], letter == 0 ? 'a' : 'c');
                found = next >= 3000 || count == 3000; // too wide a search tells nothing
                if (next == GRAMMAR_DEAD || found || seen[next]) continue;
                seen[next] = true;
                queue[count++] = next;
            }
        }
        if (!found) fail_msg("%s\nstate %u has no end", source, state);
    }
}

static bool open_machine(const char *source, struct grammar_machine **machine,
                         struct grammar_program **program, locum_error *error) {
    struct arena arena;
    arena_init(&arena, 0);
    struct grammar_ast ast = {.arena = &arena};
    locum_status status = grammar_gbnf_read(slice_text(source), &ast, error);
    if (status == LOCUM_OK) status = grammar_program_compile(&ast, program, error);
    arena_release(&arena);
    if (status != LOCUM_OK) return false;
    assert_int_equal(
        grammar_machine_create(*program, 2, 4, 64 << 20, machine, error), LOCUM_OK);
    return true;
}

static void test_random_grammars(void **state) {
    (void)state;
    uint32_t compared = 0, refused = 0;
    for (uint32_t seed = 1; seed <= GRAMMARS; seed++) {
        struct grammar g = {.count = 0};
        struct buffer source = {0};
        random_state = seed;
        for (uint32_t i = 0; i < RULES; i++) {
            g.rules[i] = make_node(&g, 4);
            buffer_format(&source, i == 0 ? "root ::= " : "r%u ::= ", i);
            write_node(&g, g.rules[i], &source);
            buffer_append_byte(&source, '\n');
        }
        struct grammar_machine *machine;
        struct grammar_program *program;
        locum_error error;
        const char *text = buffer_text(&source);
        if (open_machine(text, &machine, &program, &error)) {
            check_ends(machine, text); // before there are relaxed states, which need no end
            compared += compare(&g, machine, text);
            grammar_machine_free(machine);
            grammar_program_free(program);
        } else {
            refused++;
            if (!strstr(error.text, "left-recursive") && !strstr(error.text, "has no end"))
                fail_msg("%s\n%s", text, error.text);
        }
        buffer_release(&source);
    }
    print_message("%u grammars compared, %u refused\n", compared, refused);
    assert_true(compared > GRAMMARS / 4 && refused > GRAMMARS / 20);
}

// ---- single facts -------------------------------------------------------------------------------
static void test_counts_are_not_expanded(void **state) {
    (void)state;
    struct grammar_machine *machine;
    struct grammar_program *program;
    locum_error error;
    assert_true(open_machine("root ::= [a-z]{10,1000000}", &machine, &program, &error));
    assert_true(program->op_count < 10);
    uint32_t at = machine->start;
    for (uint32_t i = 0; i < 1000; i++) {
        at = grammar_machine_step(machine, at, 'x');
        assert_int_equal(machine->states[at].accepts, i + 1 >= 10);
    }
    // The 501st and the 502nd are the same to what comes next.
    at = grammar_machine_relax(machine, at, GRAMMAR_RELAX_SHORT);
    at = grammar_machine_step(machine, at, 'y');
    assert_int_equal(at, grammar_machine_step(machine, at, 'z'));
    grammar_machine_free(machine);
    grammar_program_free(program);
}

static void test_ambiguity_stays_small(void **state) {
    (void)state;
    struct grammar_machine *machine;
    struct grammar_program *program;
    locum_error error;
    assert_true(open_machine("root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"\"", &machine,
                             &program, &error));
    uint32_t at = machine->start;
    for (uint32_t i = 0; i < 300; i++) // 2^300 ways to read them
        at = grammar_machine_step(machine, at, 'a');
    for (uint32_t i = 0; i < 300; i++)
        at = grammar_machine_step(machine, at, i % 3 ? 'b' : 'c');
    assert_true(machine->states[at].accepts);
    assert_int_equal(grammar_machine_step(machine, at, 'b'), GRAMMAR_DEAD);
    grammar_machine_free(machine);
    grammar_program_free(program);
}

static void test_trim_keeps_the_state(void **state) {
    (void)state;
    struct grammar_machine *machine;
    struct grammar_program *program;
    locum_error error;
    assert_true(open_machine("root ::= \"(\" (root | \"x\"){1,9} \")\"", &machine, &program, &error));
    uint32_t at = run(machine, machine->start, "((x(xx", 6), before = machine->state_words.count;
    at = grammar_machine_trim(machine, at);
    assert_true(at != GRAMMAR_UNKNOWN && machine->state_words.count < before);
    assert_true(machine->states[run(machine, at, "xxxxxxx)x))", 11)].accepts);
    assert_int_equal(run(machine, at, "xxxxxxxx", 8), GRAMMAR_DEAD);
    grammar_machine_free(machine);
    grammar_program_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_grammars),
        cmocka_unit_test(test_counts_are_not_expanded),
        cmocka_unit_test(test_ambiguity_stays_small),
        cmocka_unit_test(test_trim_keeps_the_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
