// SPDX-License-Identifier: Apache-2.0
#include "platform/posix/file_posix.h"

#include <errno.h>
#include <sys/vfs.h>
#include <unistd.h>

// File systems that take the flag for direct reads and copy from memory all the same: tmpfs, ramfs and
// hugetlbfs by the numbers that statfs gives, as <linux/magic.h> lists them.
static bool is_in_memory(const struct statfs *facts) {
    uint32_t type = (uint32_t)facts->f_type;
    return type == 0x01021994 || type == 0x858458f6 || type == 0x958458f6;
}

file_handle file_posix_open_direct(const char *path) {
    int descriptor = open(path, FILE_POSIX_OPEN_FLAGS | O_DIRECT);
    if (descriptor < 0) return -errno;
    struct statfs facts;
    if (fstatfs(descriptor, &facts) == 0 && is_in_memory(&facts)) {
        close(descriptor);
        return -EOPNOTSUPP;
    }
    return descriptor;
}
