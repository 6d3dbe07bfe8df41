// SPDX-License-Identifier: Apache-2.0
//
// What the language does is held against jinja2 by external_templates.sh, construct by construct; here
// are examples of each part of it, and what jinja2 does not have: provenance, limits, places of errors.
#include "jinja_rig.h"

#include <stdlib.h>

#include "base/limits.h"

// --- The language --------------------------------------------------------------------------------

static void expressions_are_pythons(void **state) {
    (void)state;
    static const struct rig_case cases[] = {
        {"{{ 1 + 2 * 3 - 4 / 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 2 ** 10 }}", NULL, "5.0 -4 2 1024"},
        {"{{ 'a' ~ 1 ~ none ~ true ~ 2.50 ~ missing }}", NULL, "a1NoneTrue2.5"},
        {"{{ 1 < 2 < 3 }}{{ 1 < 3 < 2 }}{{ 'b' in 'abc' }}{{ 4 not in [1] }}", NULL,
         "TrueFalseTrueTrue"},
        {"{{ [1, 'a', (2,), {'k': none}] }}", NULL, "[1, 'a', (2,), {'k': None}]"},
        {"{{ s[1:3] }}{{ s[-1] }}{{ s[::-1] }}{{ s[9] }}{{ l[-1] }}{{ d.a.b }}{{ d['a']['b'] }}",
         "{\"s\": \"h\\u00e9llo\", \"l\": [1, 2], \"d\": {\"a\": {\"b\": 3}}}",
         "\xC3\xA9"
         "looll\xC3\xA9"
         "h233"},
        {"{{ 1e16 }} {{ 0.1 + 0.2 }} {{ 1e-5 }} {{ 100.0 }} {{ x }}",
         "{\"x\": 18446744073709551615}",
         "1e+16 0.30000000000000004 1e-05 100.0 18446744073709551615"},
        {"{{ 'x' if false }}{{ 'y' if true else 'z' }}{{ 0 or 'd' }}{{ not 0 }}", NULL, "ydTrue"},
        {"{{ '\\x41\\u00e9\\n' 'b' \"'\" }}", NULL, "A\xC3\xA9\nb'"},
    };
    RIG_EXPECT_ALL(cases);
}

static void statements_are_jinjas(void **state) {
    (void)state;
    static const struct rig_case cases[] = {
        {"{% for x in [1, 2, 3] if x != 2 %}{{ loop.index }}{{ x }}{{ loop.last }} {% endfor %}",
         NULL, "11False 23True "},
        {"{% for x in [] %}a{% else %}none{% endfor %}", NULL, "none"},
        {"{% for x in [1, 2, 3] %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}"
         "{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}",
         NULL, "12;32;"},
        {"{% set a = 1 %}{% for x in [2] %}{% set a = x %}{% endfor %}{{ a }}", NULL, "1"},
        {"{% set n = namespace(a=1) %}{% for x in [2] %}{% set n.a = x %}{% endfor %}{{ n.a }}",
         NULL, "2"},
        {"{% macro m(a, b=2) %}{{ a }}{{ b }}{{ varargs }}{% endmacro %}{{ m(1) }}{{ m(1, 3, 4) }}",
         NULL, "12()13(4,)"},
        {"{% macro m() %}<{{ caller(1) }}>{% endmacro %}{% call(x) m() %}{{ x }}{% endcall %}", NULL,
         "<1>"},
        {"{% set t %}a{{ 1 }}{% endset %}{{ t }}{% filter upper %}b{% endfilter %}", NULL, "a1B"},
        {"{% generation %}x{% endgeneration %}{% raw %}{{ y }}{% endraw %}{# z #}", NULL, "x{{ y }}"},
        {"{% for x in t recursive %}{{ x.v }}{% if x.c %}({{ loop(x.c) }}){% endif %}{% endfor %}",
         "{\"t\": [{\"v\": 1, \"c\": [{\"v\": 2}, {\"v\": 3}]}]}", "1(23)"},
        {"{% for k, v in d|items %}{{ k }}{{ v }}{% endfor %}", "{\"d\": {\"b\": 1, \"a\": 2}}",
         "b1a2"},
        {"  {% if 1 %}\n a\n  {% endif %}\nb {{- 1 -}}  \n c\n", NULL, " a\nb1c"},
        {"{{ strftime_now('%d %b %Y, %A %H:%M:%S %j') }}", NULL,
         "29 Feb 2024, Thursday 23:05:09 060"},
    };
    RIG_EXPECT_ALL(cases);
}

static void filters_and_methods(void **state) {
    (void)state;
    static const struct rig_case cases[] = {
        {"{{ d|tojson }}{{ d|tojson(indent=1) }}{{ d|tojson(separators=(',', ':')) }}",
         "{\"d\": {\"b\": \"\\u00e9<\\n\", \"a\": [1.0, null]}}",
         "{\"b\": \"\xC3\xA9<\\n\", \"a\": [1.0, null]}{\n \"b\": \"\xC3\xA9<\\n\",\n \"a\": [\n"
         "  1.0,\n  null\n ]\n}{\"b\":\"\xC3\xA9<\\n\",\"a\":[1.0,null]}"},
        {"{{ ' a b '.strip().split(' ') }}{{ 'aXbX'.replace('X', '', 1) }}", NULL,
         "['a', 'b']abX"},
        {"{{ l|map(attribute='n')|join(', ') }}{{ l|selectattr('n', 'gt', 1)|list|length }}",
         "{\"l\": [{\"n\": 1}, {\"n\": 2}]}", "1, 21"},
        {"{{ '\xC3\xA4\xC3\x9F'|upper }}{{ '\xCE\xA3\xCE\x91\xCE\xA3'|lower }}", NULL,
         "\xC3\x84SS\xCF\x83\xCE\xB1\xCF\x82"},
        {"{{ [3, 1]|sort }}{{ missing|default('x') }}{{ 'a\nb'|indent(2) }}{{ '4.7'|int }}", NULL,
         "[1, 3]xa\n  b4"},
        {"{{ missing is defined }}{{ none is none }}{{ {} is mapping }}{{ 3 is odd }}", NULL,
         "FalseTrueTrueTrue"},
    };
    RIG_EXPECT_ALL(cases);
}

// --- Errors --------------------------------------------------------------------------------------

static void errors_tell_their_place(void **state) {
    (void)state;
    static const struct rig_case cases[] = {
        {"a\n{{ 1 + }}", NULL, "!line 2, column 8: an expression is expected"},
        {"{% if x %}", NULL, "!column 11: the template ends before 'elif'"},
        {"\xC3\xA9{{ x|nope }}", NULL, "!line 1, column 7: there is no filter 'nope'"},
        {"{{ x.y }}", NULL, "!line 1, column 5: 'x' is undefined"},
        {"\n\n  {{ raise_exception('roles must ' ~ 'alternate') }}", NULL,
         "!line 3, column 21: roles must alternate"},
        {"{{ l.append(1) }}", "{\"l\": []}", "!'append' would change a list"},
        {"{{ 'a'|from_json }}", NULL, "!there is no filter 'from_json'"},
        {"{% include 'x' %}", NULL, "!the tag 'include' is not supported"},
        {"{{ s|wordwrap }}", "{\"s\": \"a\"}", "!'wordwrap' is not supported"},
        {"{{ 9223372036854775807 + 1 }}", NULL, "!does not fit in 64 bits"},
        {"\xFF", NULL, "!not UTF-8"},
    };
    RIG_EXPECT_ALL(cases);
}

static void a_conditional_unknown_filter_waits(void **state) {
    (void)state;
    static const struct rig_case cases[] = {
        {"{% if x %}{{ 1|nope }}{% endif %}ok", NULL, "ok"},
        {"{% if not x %}{{ 1|nope }}{% endif %}", NULL, "!there is no filter 'nope'"},
        {"{{ 1|nope if x else 2 }}", NULL, "2"},
    };
    RIG_EXPECT_ALL(cases);
}

static void limits_hold(void **state) {
    (void)state;
    static const struct rig_case cases[] = {
        {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", NULL, "!recurses deeper"},
        {"{% set r = range(9999) %}{% for a in r %}{% for b in r %}{% endfor %}{% endfor %}", NULL,
         "!steps"},
        {"{{ 'abcdefgh' * 100000000 }}", NULL, "!no memory"},
        {"{{ range(100001) }}", NULL, "!a range has at most"},
        {"{% set ns = namespace(s='xxxxxxxxxxxxxxxx') %}{% for a in range(60) %}"
         "{% set ns.s = ns.s + ns.s %}{% endfor %}",
         NULL, "!no memory"},
        {"{% for a in range(9) %}{{ 'abcdefgh' * 1000000 }}{% endfor %}", NULL, "!writes more than"},
    };
    RIG_EXPECT_ALL(cases);
    char deep[4 * LIMIT_JINJA_NESTING + 64] = "{{ ";
    for (int i = 0; i <= LIMIT_JINJA_NESTING; i++) {
        memcpy(deep + strlen(deep), "not ", 5);
    }
    memcpy(deep + strlen(deep), "1 }}", 5);
    rig_expect(deep, NULL, "!nested deeper");
}

static void extended_templates_may_change_their_own_lists(void **state) {
    (void)state;
    static const struct rig_case cases[] = {
        {"{% set l = [1] %}{% set _ = l.append(2) %}{{ l.pop(0) }}{{ l }}", NULL, "1[2]"},
        {"{{ '{\"a\": [1.0]}'|from_json }}", NULL, "{'a': [1.0]}"},
        {"{% set d = {} %}{% set _ = d.update(a=1) %}{{ d }}{{ d.pop('a') }}{{ d }}", NULL,
         "{'a': 1}1{}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig rig;
        rig_render(&rig, cases[i].source, NULL, true);
        assert_int_equal(rig.status, LOCUM_OK);
        assert_string_equal(rig.output.text, cases[i].expected);
        rig_release(&rig);
    }
    struct rig rig;
    rig_render(&rig, "{{ l.append(1) }}", "{\"l\": []}", true);
    assert_int_equal(rig.status, LOCUM_E_ARGUMENT);
    assert_non_null(strstr(rig.error.text, "may not change what it was given"));
}

// --- Provenance ----------------------------------------------------------------------------------

// The output with data as '.', one for each byte, and the template's bytes as they are.
static void expect_marks(const char *source, const char *json, const char *expected) {
    struct rig rig;
    char shown[256];
    size_t at = 0;
    rig_render(&rig, source, json, false);
    assert_int_equal(rig.status, LOCUM_OK);
    assert_true(rig.output.size < sizeof shown);
    for (size_t i = 0; i < rig.output.stretch_count; i++) {
        const struct jinja_stretch *stretch = &rig.output.stretches[i];
        assert_true(stretch->size > 0);
        assert_true(i == 0 || stretch->origin != stretch[-1].origin);
        for (size_t k = 0; k < stretch->size; k++, at++) {
            shown[at] = stretch->origin == JINJA_TEMPLATE ? rig.output.text[at] : '.';
        }
    }
    assert_int_equal(at, rig.output.size);
    shown[at] = '\0';
    assert_string_equal(shown, expected);
    rig_release(&rig);
}

static void characters_remember_their_origin(void **state) {
    (void)state;
    const char *x = "{\"x\": \"<|im_end|>\", \"l\": [\"ab\", \"cd\"], \"n\": 12}";
    expect_marks("<s>{{ x }}{{ '</s>' }}", x, "<s>..........</s>");
    expect_marks("{{ ('A' + x + 'B')[0:3] ~ ('A' ~ x)|length }}", x, "A....");
    expect_marks("{{ (' t' ~ x ~ 't ')|trim|upper }}", x, "T..........T");
    expect_marks("{{ 'a-b'.replace('-', x) }}{{ x.replace('|', '!') }}", x, "a..........b.!......!.");
    expect_marks("{{ ('p ' ~ x ~ ' q').split(' ')|join('+') }}", x, "p+..........+q");
    expect_marks("{{ l|join(', ') }}{{ n }}", x, ".., ....");
    expect_marks("{{ {'k': x}|tojson }}", x, "..k................");
    expect_marks("{{ '%s=%d' % (x, n) }}{{ 'a{}b'.format(x) }}", x, "..........=..a..........b");
    expect_marks("{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m(x)[:4] }}", x, "[...");
    expect_marks("{% set t %}T{{ x }}{% endset %}{{ t[::-1] }}{{ x|e }}", x,
                 "..........T................");
    expect_marks("{{ 'a\nb'|indent(2) }}{{ x|default('q') }}{{ y|default('q') }}", x,
                 "a...b..........q");
    expect_marks("{% for c in 'a' ~ n %}{{ c }}{% endfor %}{{ [x, 'k'] }}", x,
                 "a..................k..");
}

// A string that was added to is not changed by what is added to it later.
static void adding_in_place_keeps_strings_apart(void **state) {
    (void)state;
    struct rig rig;
    rig_render(&rig,
               "{% set a = 'x' * 200 + y * 100 %}{% set b = a + 'B' %}{% set c = a + 'C' %}"
               "{% set d = b + 'D' %}{{ a[-1:] }}{{ b[-2:] }}{{ c[-2:] }}{{ d[-3:] }}{{ d|length }}",
               "{\"y\": \"y\"}", false);
    assert_int_equal(rig.status, LOCUM_OK);
    assert_string_equal(rig.output.text, "yyByCyBD302");
    rig_release(&rig);
}

// --- Memory --------------------------------------------------------------------------------------

static long allocations_left = -1; // -1: as many as are asked for

void *__real_realloc(void *memory, size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool refuse(void) {
    if (allocations_left == 0) {
        return true;
    }
    allocations_left -= allocations_left > 0;
    return false;
}

void *__wrap_realloc(void *memory, size_t size) {
    return refuse() ? NULL : __real_realloc(memory, size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return refuse() ? NULL : __real_calloc(count, size);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const char *source = "{% macro m(a) %}{{ a|upper }}{% endmacro %}{% for x in l %}{{ m(x) }}"
                         "{{ x|tojson(indent=2) }}{% set y %}{{ x ~ '1' }}{% endset %}{{ [y, x] }}"
                         "{% endfor %}{{ l|sort|join('-') }}{{ l|map('replace', 'a', 'bb')|list }}";
    for (long count = 0;; count++) {
        struct rig rig;
        allocations_left = count;
        rig_render(&rig, source, "{\"l\": [\"ab\", \"\\u00e9\"], \"d\": {\"k\": [1]}}", false);
        bool reached_the_end = allocations_left != 0;
        allocations_left = -1;
        if (rig.status == LOCUM_OK) {
            rig_release(&rig);
        } else {
            assert_int_equal(rig.status, LOCUM_E_OUT_OF_MEMORY);
            assert_null(rig.output.text);
        }
        if (reached_the_end) {
            assert_true(count > 20);
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_are_pythons),
        cmocka_unit_test(statements_are_jinjas),
        cmocka_unit_test(filters_and_methods),
        cmocka_unit_test(errors_tell_their_place),
        cmocka_unit_test(a_conditional_unknown_filter_waits),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(extended_templates_may_change_their_own_lists),
        cmocka_unit_test(characters_remember_their_origin),
        cmocka_unit_test(adding_in_place_keeps_strings_apart),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
