// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/log.h"

struct record {
    int count;
    locum_log_level level;
    char text[LOCUM_ERROR_TEXT_MAX];
};

static void remember(void *user, locum_log_level level, const char *text) {
    struct record *record = user;
    record->count++;
    record->level = level;
    snprintf(record->text, sizeof record->text, "%s", text);
}

static void messages_reach_the_host(void **state) {
    (void)state;
    struct record record = {0};
    struct log_sink sink = {remember, &record};
    log_write(&sink, LOCUM_LOG_NOTICE, "direct reads fail: %s", "Invalid argument");
    assert_int_equal(record.count, 1);
    assert_int_equal(record.level, LOCUM_LOG_NOTICE);
    assert_string_equal(record.text, "direct reads fail: Invalid argument");
    char many[5000];
    memset(many, 'b', sizeof many);
    many[sizeof many - 1] = '\0';
    log_write(&sink, LOCUM_LOG_WARN, "%s", many);
    assert_int_equal(strlen(record.text), sizeof record.text - 1);
}

static void without_a_host_there_is_silence(void **state) {
    (void)state;
    struct log_sink silent = {NULL, NULL};
    log_write(&silent, LOCUM_LOG_WARN, "%s", "nothing");
    log_write(NULL, LOCUM_LOG_WARN, "%s", "nothing");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_reach_the_host),
        cmocka_unit_test(without_a_host_there_is_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
