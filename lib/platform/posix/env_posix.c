// SPDX-License-Identifier: Apache-2.0
#include "platform/env.h"

#include <stddef.h>
#include <stdlib.h>

const char *env_get(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}
