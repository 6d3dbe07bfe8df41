// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

// The one place where the library writes to stderr: the process ends here, and without these words
// nobody would learn why.
_Noreturn void check_failed(const char *expression, const char *file, int line) {
    fprintf(stderr, "locum: broken invariant: %s (%s:%d)\n", expression, file, line);
    abort();
}
