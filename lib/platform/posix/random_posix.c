// SPDX-License-Identifier: Apache-2.0
#include "platform/random.h"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

#include "platform/system_error.h"

locum_status random_u64(uint64_t *out, locum_error *error) {
    if (getentropy(out, sizeof *out) == 0) return LOCUM_OK;
    return status_fail(error, LOCUM_E_SYSTEM, "the system gave no random number: %s",
                       system_error_of(errno).text);
}
