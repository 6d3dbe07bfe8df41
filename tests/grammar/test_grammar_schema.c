// SPDX-License-Identifier: Apache-2.0
//
// Texts that a grammar takes and refuses: of schemas, of GBNF, of JSON objects; and what is refused
// to be compiled, with its place.
#include "grammar/grammar.h"
#include "grammar/grammar_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool accepts(struct grammar_program *program, const char *text) {
    struct grammar_machine *machine;
    assert_int_equal(grammar_machine_create(program, 16, 64, 64 << 20, &machine, NULL), LOCUM_OK);
    uint32_t state = machine->start;
    for (const char *c = text; *c; c++)
        state = grammar_machine_step(machine, state, (uint8_t)*c);
    bool accepted = machine->states[state].accepts;
    assert_int_equal(machine->status, LOCUM_OK);
    grammar_machine_free(machine);
    return accepted;
}

enum { ROW_TEXTS = 10 };
struct row {
    enum grammar_kind kind;
    const char *grammar;
    const char *takes[ROW_TEXTS], *refuses[ROW_TEXTS];
};

#define S GRAMMAR_KIND_SCHEMA
#define G GRAMMAR_KIND_GBNF
#define QUOTE(...) #__VA_ARGS__

static const struct row rows[] = {
    {S, "{}", {"1", "{\"a\": [1, null]}", "\"x\"", "-0.5e-3", "[]"}, {"", "01", "[1,]", "nul"}},
    {S, "{\"type\": \"object\", \"properties\": {}}", {"{}"}, {"{\"a\":1}", "[]"}},
    {S, "{\"type\": \"object\"}", {"{}", "{\"a\":1}"}, {"1"}},
    {S,
     QUOTE({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"},
            "c": {"type": "null"}}, "required": ["b"], "additionalProperties": false}),
     {"{\"b\":\"\"}", "{\"a\": 1, \"b\": \"x\"}", "{\"a\":1,\"b\":\"x\",\"c\":null}",
      "{\n  \"b\": \"x\",\n  \"c\": null\n}"},
     {"{}", "{\"a\":1}", "{\"b\":\"x\",\"a\":1}", "{\"b\":\"x\",}", "{\"b\":\"x\",\"d\":1}"}},
    {S,
     QUOTE({"properties": {"ab": {"type": "integer"}, "ac": {"type": "integer"}},
            "additionalProperties": {"type": "boolean"}}),
     {"{}", "{\"ab\":1,\"x\":true}", "{\"a\":true}", "{\"abc\":true}", "{\"ac\":1}", "{\"\":true}"},
     {"{\"ab\":true}", "{\"x\":1}", "{\"ac\":false}", "{\"x\":true,\"\\u0061b\":true}"}},
    {S, QUOTE({"type": "integer", "minimum": -12, "maximum": 105}),
     {"0", "-12", "-9", "-1", "9", "10", "99", "100", "105"},
     {"-13", "106", "-20", "-0", "00", "1.0", "200", "1000"}},
    {S, QUOTE({"type": "integer", "exclusiveMinimum": 7}), {"8", "10", "123456"}, {"7", "-8", "0"}},
    {S, QUOTE({"type": "integer", "maximum": -3}), {"-3", "-99"}, {"-2", "0", "3"}},
    {S, QUOTE({"type": "number", "minimum": 0, "maximum": 2}),
     {"0", "0.5", "1", "1.999", "2"},
     {"-1", "2.5", "-0.5", "3", "1e1"}},
    {S, QUOTE({"type": "number", "minimum": -2}),
     {"-2", "-1.5", "-0.25", "3.5", "0.0"},
     {"-2.5", "-3"}},
    {S, QUOTE({"type": "string", "minLength": 2, "maxLength": 3}),
     {"\"ab\"", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"", "\"\\n\\u00e9\""},
     {"\"a\"", "\"abcd\"", "\"\\n\"", "\"a\nb\""}},
    {S, QUOTE({"enum": ["a\"b", 1, 2.5, null, {"x": [1]}]}),
     {"\"a\\\"b\"", "1", "2.5", "null", "{\"x\": [1]}"},
     {"2", "\"a\"", "{}"}},
    {S, QUOTE({"type": "string", "enum": ["x", 1]}), {"\"x\""}, {"1"}},
    {S, QUOTE({"const": "v"}), {"\"v\""}, {"\"w\"", "v"}},
    {S, QUOTE({"type": ["string", "null"]}), {"\"\"", "null"}, {"1"}},
    {S, QUOTE({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}),
     {"[1,2]", "[1, 2, 3]"},
     {"[]", "[1]", "[1,2,3,4]", "[1,\"a\"]"}},
    {S, QUOTE({"prefixItems": [{"type": "integer"}, {"type": "null"}], "items": false}),
     {"[]", "[1]", "[1, null]"},
     {"[null]", "[1,null,1]"}},
    {S, QUOTE({"prefixItems": [{"type": "integer"}], "items": {"type": "null"}, "minItems": 2}),
     {"[1,null]", "[1, null, null]"},
     {"[1]", "[]", "[null,null]"}},
    {S,
     QUOTE({"$defs": {"node": {"type": "object", "properties": {"v": {"type": "integer"},
            "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}, "required": ["v", "next"],
            "additionalProperties": false}}, "$ref": "#/$defs/node"}),
     {"{\"v\":1,\"next\":null}", "{\"v\":1,\"next\":{\"v\":2,\"next\":null}}"},
     {"{\"v\":1}", "null"}},
    {S,
     QUOTE({"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"b": {"type": "null"}}, "required": ["b"]}]}),
     {"{\"a\":1,\"b\":null}"},
     {"{\"a\":1}", "{\"b\":null}"}},
    {S,
     QUOTE({"type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"],
            "oneOf": [{"properties": {"k": {"const": "x"}, "n": {"type": "integer"}}},
                      {"properties": {"k": {"const": "y"}}}]}),
     {"{\"k\":\"x\",\"n\":3}", "{\"k\":\"y\"}"},
     {"{\"k\":\"z\"}", "{\"k\":\"y\",\"n\":3}", "{}"}},
    {S, QUOTE({"type": "string", "pattern": "^a[b-d]{2,3}(x|yz)?$"}),
     {"\"abb\"", "\"abcdyz\"", "\"addx\""},
     {"\"ab\"", "\"abbbb\"", "\"aabb\"", "\"abbxx\""}},
    {S, QUOTE({"type": "string", "pattern": "b\\d"}), {"\"b1\"", "\"xxb9y\""}, {"\"b\"", "\"\""}},
    {S, QUOTE({"type": "string", "pattern": "^\"\\\\\\t[^\\s\"]$"}),
     {"\"\\\"\\\\\\tx\""},
     {"\"\\\"\\\\\\t\\\"\"", "\"\\\"\\\\\\t \""}},
    {S, QUOTE({"type": "string", "format": "date-time"}),
     {"\"2024-02-28T23:59:59Z\"", "\"1999-12-31T00:00:00.123+02:00\""},
     {"\"2024-02-30T00:00:00Z\"", "\"2024-13-01T00:00:00Z\"", "\"2024-01-01\"",
      "\"2024-01-01T24:00:00Z\""}},
    {S, QUOTE({"type": "string", "format": "uuid"}),
     {"\"123e4567-e89b-12d3-a456-426614174000\""},
     {"\"123e4567-e89b-12d3-a456-42661417400\""}},
    {S, QUOTE({"type": "string", "format": "ipv4"}), {"\"255.0.10.199\""}, {"\"256.0.0.1\"", "\"1.2.3\""}},
    {S, QUOTE({"type": "string", "format": "email"}), {"\"a.b@example.org\""}, {"\"a@b\"", "\"@x.y\""}},
    {S, QUOTE({"type": "object", "additionalProperties": {"type": "integer"}}),
     {"{}", "{\"x\":1, \"y\":2}"},
     {"{\"x\":null}"}},
    {GRAMMAR_KIND_OBJECT, "", {"{}", "{\"a\":{\"b\":[]}}"}, {"[]", "1", "{} "}},
    {G, "# c\nroot ::= (\"a\" | [^x-z\\n] \"\\u00e9\") b? # end\nb ::=\n  \".\"+",
     {"a", "b\xC3\xA9", "a.", "a...", "\xE2\x82\xAC\xC3\xA9"},
     {"x\xC3\xA9", "a.b", ""}},
    {G, "root ::= . [\\]\\[] \"\\\"\\x41\"", {"x]\"A", "\xC3\xA9[\"A"}, {"x]A"}},
    {G, "root ::= ( \"a\"\n | \"b\" ){2,}", {"ab", "bba"}, {"a", ""}},
    {G, "root ::= <|x|> \"y\"", {"\xFF<|x|>\xFEy"}, {"<|x|>y"}},
};

static void test_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        struct grammar_request request = {.kind = row->kind, .text = slice_text(row->grammar)};
        struct grammar_program *program;
        locum_error error;
        if (grammar_open(&request, &program, &error) != LOCUM_OK)
            fail_msg("%s\n%s", row->grammar, error.text);
        for (size_t j = 0; j < ROW_TEXTS; j++) {
            if (row->takes[j] && !accepts(program, row->takes[j]))
                fail_msg("%s\nrefuses %s", row->grammar, row->takes[j]);
            if (row->refuses[j] && accepts(program, row->refuses[j]))
                fail_msg("%s\ntakes %s", row->grammar, row->refuses[j]);
        }
        grammar_program_free(program);
    }
}

static const struct {
    enum grammar_kind kind;
    const char *grammar;
    locum_status status;
    const char *words[3]; // of the message
} errors[] = {
    {S, "{", LOCUM_E_ARGUMENT, {"not JSON", "line 1"}},
    {S, "3", LOCUM_E_ARGUMENT, {"an object or a boolean"}},
    {S, QUOTE({"properties": {"a/b": {"items": {"not": {}}}}}), LOCUM_E_UNSUPPORTED,
     {"/properties/a~1b/items", "not"}},
    {S, QUOTE({"uniqueItems": true}), LOCUM_E_UNSUPPORTED, {"uniqueItems"}},
    {S, QUOTE({"anyOf": [{}, {"pattern": "(?=x)"}]}), LOCUM_E_UNSUPPORTED, {"/anyOf/1", "pattern", "look-around"}},
    {S, QUOTE({"$ref": "#"}), LOCUM_E_ARGUMENT, {"left-recursive"}},
    {S, QUOTE({"$ref": "#/$defs/x"}), LOCUM_E_ARGUMENT, {"$ref", "names nothing"}},
    {S, QUOTE({"$ref": "http://x/y"}), LOCUM_E_UNSUPPORTED, {"$ref"}},
    {S, QUOTE({"type": "text"}), LOCUM_E_ARGUMENT, {"unknown type"}},
    {S, "false", LOCUM_E_ARGUMENT, {"no end"}},
    {S, QUOTE({"required": ["x"]}), LOCUM_E_UNSUPPORTED, {"required"}},
    {S, QUOTE({"type": "object", "properties": {"x": {"$ref": "#"}}, "required": ["x"]}),
     LOCUM_E_ARGUMENT, {"no end"}},
    {G, "", LOCUM_E_ARGUMENT, {"'root' is not defined"}},
    {G, "root ::= a", LOCUM_E_ARGUMENT, {"'a' is not defined"}},
    {G, "root ::= root \"a\" | \"b\"", LOCUM_E_ARGUMENT, {"'root' is left-recursive"}},
    {G, "root ::= e root \"a\"\ne ::= \"x\"?", LOCUM_E_ARGUMENT, {"'root' is left-recursive"}},
    {G, "root ::= \"a\" root", LOCUM_E_ARGUMENT, {"no end"}},
    {G, "root ::= \"a", LOCUM_E_ARGUMENT, {"line 1, column 10", "no end"}},
    {G, "root ::= \"\\q\"", LOCUM_E_ARGUMENT, {"column 11", "unknown escape"}},
    {G, "root ::= [a", LOCUM_E_ARGUMENT, {"']' is missing"}},
    {G, "root ::= [z-a]", LOCUM_E_ARGUMENT, {"backwards"}},
    {G, "root ::= [^]", LOCUM_E_ARGUMENT, {"empty"}},
    {G, "root ::= (\"a\"", LOCUM_E_ARGUMENT, {"')' is expected"}},
    {G, "root ::= \"a\"\nroot := \"b\"", LOCUM_E_ARGUMENT, {"line 2", "'::='"}},
    {G, "root ::= \"a\"\nroot ::= \"b\"", LOCUM_E_ARGUMENT, {"line 2", "twice"}},
    {G, "root ::= * \"a\"", LOCUM_E_ARGUMENT, {"nothing to repeat"}},
    {G, "root ::= \"a\"{2,1}", LOCUM_E_ARGUMENT, {"backwards"}},
    {G, "root ::= \"a\"{,1}", LOCUM_E_ARGUMENT, {"a number is expected"}},
    {G, "root ::= \"a\" )", LOCUM_E_ARGUMENT, {"new line or the end"}},
};

static void test_errors(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        struct grammar_request request = {.kind = errors[i].kind,
                                          .text = slice_text(errors[i].grammar)};
        struct grammar_program *program;
        locum_error error = {.text = ""};
        locum_status status = grammar_open(&request, &program, &error);
        if (status != errors[i].status) fail_msg("%s\nstatus %d", errors[i].grammar, status);
        assert_null(program);
        for (size_t j = 0; j < 3 && errors[i].words[j]; j++) {
            if (!strstr(error.text, errors[i].words[j]))
                fail_msg("%s\n%s\nlacks %s", errors[i].grammar, error.text, errors[i].words[j]);
        }
    }
}

// What comes before the strict part is free, until it is there.
static void test_after(void **state) {
    (void)state;
    struct grammar_request request = {.kind = GRAMMAR_KIND_GBNF,
                                      .text = slice_text("root ::= [0-9]"),
                                      .after = slice_text("aab")};
    struct grammar_program *program;
    assert_int_equal(grammar_open(&request, &program, NULL), LOCUM_OK);
    assert_true(accepts(program, "aab1"));
    assert_true(accepts(program, "x\xFF aaaab1"));
    assert_true(accepts(program, "aabaab1") == false);
    assert_false(accepts(program, "aa"));
    assert_false(accepts(program, "free"));
    grammar_program_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
