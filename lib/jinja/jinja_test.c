// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_test.h"

#include "jinja/jinja_arithmetic.h"
#include "jinja/jinja_filter.h"
#include "jinja/jinja_iterate.h"
#include "jinja/jinja_print.h"
#include "jinja/jinja_string.h"

// A test that looks at the value alone.
#define TEST(name, holds)                                                                          \
    static bool test_##name(struct jinja_run *run, struct jinja_value self,                        \
                            const struct jinja_arguments *arguments, struct jinja_value *out) {    \
        (void)run, (void)arguments;                                                                \
        *out = jinja_bool(holds);                                                                  \
        return true;                                                                               \
    }

// One that compares it with its argument.
#define RELATION(name, relation)                                                                   \
    static bool test_##name(struct jinja_run *run, struct jinja_value self,                        \
                            const struct jinja_arguments *arguments, struct jinja_value *out) {    \
        *out = jinja_bool(false);                                                                  \
        return jinja_relate(run, relation, self, arguments->items[0], &out->boolean);              \
    }

static bool is_sequence(struct jinja_value value) {
    size_t length; // and items by [], which a view lacks
    return jinja_value_length(value, &length) && value.kind != JINJA_VIEW;
}

static bool is_same(struct jinja_value a, struct jinja_value b) {
    if (a.kind != b.kind || a.part != b.part) {
        return false;
    }
    switch (a.kind) {
    case JINJA_UNDEFINED:
        return false;
    case JINJA_NONE:
        return true;
    case JINJA_STRING:
    case JINJA_BOOL:
    case JINJA_INT:
    case JINJA_BIG:
    case JINJA_FLOAT:
        return jinja_value_equal(a, b);
    default:
        return a.list == b.list;
    }
}

TEST(defined, self.kind != JINJA_UNDEFINED)
TEST(undefined, self.kind == JINJA_UNDEFINED)
TEST(none, self.kind == JINJA_NONE)
TEST(boolean, self.kind == JINJA_BOOL)
TEST(true, self.kind == JINJA_BOOL && self.boolean)
TEST(false, self.kind == JINJA_BOOL && !self.boolean)
TEST(integer, self.kind == JINJA_INT || self.kind == JINJA_BIG)
TEST(float, self.kind == JINJA_FLOAT)
TEST(number, self.kind == JINJA_INT || self.kind == JINJA_BIG || self.kind == JINJA_FLOAT ||
                 self.kind == JINJA_BOOL)
TEST(string, self.kind == JINJA_STRING)
TEST(mapping, self.kind == JINJA_DICT)
TEST(iterable, jinja_iterable(self) || self.kind == JINJA_LOOP)
TEST(sequence, is_sequence(self))
TEST(callable, self.kind == JINJA_FUNCTION || self.kind == JINJA_LOOP ||
                   self.kind == JINJA_UNDEFINED)
TEST(escaped, self.kind == JINJA_STRING && self.string->markup)
TEST(sameas, is_same(self, arguments->items[0]))
TEST(filter, self.kind == JINJA_STRING && jinja_filter_find(jinja_value_text(self)))
TEST(test, self.kind == JINJA_STRING && jinja_test_find(jinja_value_text(self)))

RELATION(eq, JINJA_EQ)
RELATION(ne, JINJA_NE)
RELATION(lt, JINJA_LT)
RELATION(le, JINJA_LE)
RELATION(gt, JINJA_GT)
RELATION(ge, JINJA_GE)
RELATION(in, JINJA_IN)

static bool remainder_is(struct jinja_run *run, struct jinja_value self, struct jinja_value divisor,
                         int64_t wanted, struct jinja_value *out) {
    if (!jinja_operate(run, JINJA_MOD, self, divisor, out)) {
        return false;
    }
    *out = jinja_bool(jinja_value_equal(*out, jinja_int(wanted)));
    return true;
}

static bool test_odd(struct jinja_run *run, struct jinja_value self,
                     const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)arguments;
    return remainder_is(run, self, jinja_int(2), 1, out);
}

static bool test_even(struct jinja_run *run, struct jinja_value self,
                      const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)arguments;
    return remainder_is(run, self, jinja_int(2), 0, out);
}

static bool test_divisibleby(struct jinja_run *run, struct jinja_value self,
                             const struct jinja_arguments *arguments, struct jinja_value *out) {
    return remainder_is(run, self, arguments->items[0], 0, out);
}

static bool cased(struct jinja_run *run, struct jinja_value self, enum jinja_class kind,
                  struct jinja_value *out) {
    if (!jinja_to_string(run, self, &self)) {
        return false;
    }
    *out = jinja_bool(jinja_string_cased(self.string, kind));
    return true;
}

static bool test_lower(struct jinja_run *run, struct jinja_value self,
                       const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)arguments;
    return cased(run, self, JINJA_IS_LOWER, out);
}

static bool test_upper(struct jinja_run *run, struct jinja_value self,
                       const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)arguments;
    return cased(run, self, JINJA_IS_UPPER, out);
}

static const struct jinja_builtin tests[] = {
    {"defined", "", test_defined},
    {"undefined", "", test_undefined},
    {"none", "", test_none},
    {"boolean", "", test_boolean},
    {"true", "", test_true},
    {"false", "", test_false},
    {"integer", "", test_integer},
    {"float", "", test_float},
    {"number", "", test_number},
    {"string", "", test_string},
    {"mapping", "", test_mapping},
    {"iterable", "", test_iterable},
    {"sequence", "", test_sequence},
    {"callable", "", test_callable},
    {"escaped", "", test_escaped},
    {"sameas", "other", test_sameas},
    {"filter", "", test_filter},
    {"test", "", test_test},
    {"odd", "", test_odd},
    {"even", "", test_even},
    {"divisibleby", "num", test_divisibleby},
    {"lower", "", test_lower},
    {"upper", "", test_upper},
    {"in", "seq", test_in},
    {"eq", "/ other", test_eq},
    {"equalto", "/ other", test_eq},
    {"==", "/ other", test_eq},
    {"ne", "/ other", test_ne},
    {"!=", "/ other", test_ne},
    {"lt", "/ other", test_lt},
    {"lessthan", "/ other", test_lt},
    {"<", "/ other", test_lt},
    {"le", "/ other", test_le},
    {"<=", "/ other", test_le},
    {"gt", "/ other", test_gt},
    {"greaterthan", "/ other", test_gt},
    {">", "/ other", test_gt},
    {"ge", "/ other", test_ge},
    {">=", "/ other", test_ge},
};

const struct jinja_builtin *jinja_test_find(struct slice name) {
    return jinja_builtin_find(tests, sizeof tests / sizeof tests[0], name);
}
