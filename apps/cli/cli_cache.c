// SPDX-License-Identifier: Apache-2.0
#include "cli_cache.h"

#include <stddef.h>
#include <stdio.h>

#include "platform/env.h"

enum { FOLDER_MAX = 3072 }; // leaves room for names within a path

const char *cli_cache_folder(void) {
    static char folder[FOLDER_MAX];
    const char *base = env_get("XDG_CACHE_HOME"), *between = "";
    if (!base || base[0] != '/') {
        base = env_get("HOME");
        between = "/.cache";
    }
    if (!base || base[0] != '/') return NULL;
    int size = snprintf(folder, sizeof folder, "%s%s/locum", base, between);
    return size > 0 && size < FOLDER_MAX ? folder : NULL;
}
