// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

#include <stddef.h>

#include "base/checked.h"

static const struct dtype_info dtype_rows[DTYPE_ID_MAX] = {
#define DTYPE_ROW(name, id, block, bytes) [id] = {#name, block, bytes},
    DTYPE_LIST(DTYPE_ROW)
#undef DTYPE_ROW
};

const struct dtype_info *dtype_get(uint32_t id) {
    if (id >= DTYPE_ID_MAX || dtype_rows[id].block == 0) return NULL;
    return &dtype_rows[id];
}

const char *dtype_name(uint32_t id) {
    const struct dtype_info *info = dtype_get(id);
    return info ? info->name : "unknown";
}

bool dtype_row_bytes(uint32_t id, uint64_t n, uint64_t *bytes) {
    const struct dtype_info *info = dtype_get(id);
    if (info == NULL || n % info->block != 0) return false;
    return checked_mul(n / info->block, info->bytes, bytes);
}
