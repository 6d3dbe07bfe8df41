// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/status.h"

static void every_status_has_its_name_and_sentence(void **state) {
    (void)state;
    assert_string_equal(locum_status_name(LOCUM_OK), "LOCUM_OK");
    assert_string_equal(locum_status_name(LOCUM_E_IO), "LOCUM_E_IO");
    assert_string_equal(locum_status_sentence(LOCUM_E_BUDGET), "the memory budget is too small");
    assert_string_equal(locum_status_name((locum_status)999), "LOCUM_E_UNKNOWN");
    static const locum_status all[] = {
#define STATUS_VALUE(name, code, sentence) LOCUM_##name,
        LOCUM_STATUS_LIST(STATUS_VALUE)
#undef STATUS_VALUE
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_memory_equal(locum_status_name(all[i]), "LOCUM_", 6);
        assert_true(strlen(locum_status_sentence(all[i])) > 3);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(all[i], all[k]);
    }
}

static void a_failure_fills_the_record(void **state) {
    (void)state;
    locum_error error;
    memset(&error, 'x', sizeof error);
    assert_int_equal(status_fail(&error, LOCUM_E_FORMAT, "%s: tensor %d", "a.gguf", 7),
                     LOCUM_E_FORMAT);
    assert_int_equal(error.status, LOCUM_E_FORMAT);
    assert_string_equal(error.text, "a.gguf: tensor 7");
    assert_int_equal(status_fail(NULL, LOCUM_E_IO, "nobody asked"), LOCUM_E_IO);
}

static void a_prefix_stands_before_the_cause(void **state) {
    (void)state;
    locum_error error;
    status_fail(&error, LOCUM_E_IO, "offset 12");
    assert_int_equal(status_prefix(&error, LOCUM_E_IO, "layer %d", 3), LOCUM_E_IO);
    assert_string_equal(error.text, "layer 3: offset 12");
    assert_int_equal(status_prefix(NULL, LOCUM_E_IO, "layer"), LOCUM_E_IO);
    char many[3000];
    memset(many, 'a', sizeof many);
    many[sizeof many - 1] = '\0';
    status_prefix(&error, LOCUM_E_IO, "%s", many);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_string_equal(error.text + strlen(error.text) - 4, "a...");
}

static locum_status pass(locum_status status, int *reached) {
    STATUS_TRY(status);
    *reached = 1;
    return LOCUM_OK;
}

static void try_leaves_with_the_same_status(void **state) {
    (void)state;
    int reached = 0;
    assert_int_equal(pass(LOCUM_E_BUDGET, &reached), LOCUM_E_BUDGET);
    assert_int_equal(reached, 0);
    assert_int_equal(pass(LOCUM_OK, &reached), LOCUM_OK);
    assert_int_equal(reached, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_name_and_sentence),
        cmocka_unit_test(a_failure_fills_the_record),
        cmocka_unit_test(a_prefix_stands_before_the_cause),
        cmocka_unit_test(try_leaves_with_the_same_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
