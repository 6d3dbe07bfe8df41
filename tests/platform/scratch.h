// SPDX-License-Identifier: Apache-2.0
//
// A folder of its own for one test program, below the build folder (on a real file system, so that
// direct reads have a chance), removed at the end. Fake trees of /proc and /sys grow in it too.
#ifndef TESTS_PLATFORM_SCRATCH_H
#define TESTS_PLATFORM_SCRATCH_H

#include <stddef.h>

// Group setup and teardown for cmocka_run_group_tests.
int scratch_create(void **state);
int scratch_remove(void **state);

// Path of something in the folder; valid until the 8th next call. No arguments name the folder
// itself: "".
const char *scratch_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
// A file with folders above it made as needed.
const char *scratch_write(const char *name, const void *data, size_t bytes);
const char *scratch_text(const char *name, const char *text);
// `bytes` pseudo-random bytes, the same in every run.
void scratch_fill(unsigned char *data, size_t bytes, unsigned seed);
// Remove all that is in the folder.
void scratch_clear(void);

#endif
