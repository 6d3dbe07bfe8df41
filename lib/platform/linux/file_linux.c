// SPDX-License-Identifier: Apache-2.0
#include "platform/posix/file_posix.h"

#include <errno.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/system_error.h"

// Numbers that statfs gives, as the manual page of statfs(2) and <linux/magic.h> list them.
static const struct {
    uint32_t type;
    const char *name;
    bool in_memory; // takes the flag for direct reads, and copies from memory all the same
} file_systems[] = {
    {0xef53, "ext4", false},      {0x58465342, "xfs", false},     {0x9123683e, "btrfs", false},
    {0xf2f52010, "f2fs", false},  {0x2fc12fc1, "zfs", false},     {0xca451a4e, "bcachefs", false},
    {0x4d44, "vfat", false},      {0x2011bab0, "exfat", false},   {0x5346544e, "ntfs", false},
    {0x7366746e, "ntfs3", false}, {0x9660, "iso9660", false},     {0x73717368, "squashfs", false},
    {0xe0f5e1e2, "erofs", false}, {0x794c7630, "overlay", false}, {0x65735546, "fuse", false},
    {0x6969, "nfs", false},       {0xff534d42, "cifs", false},    {0xfe534d42, "smb2", false},
    {0x01021997, "9p", false},    {0x00c36400, "ceph", false},    {0x6a656a63, "virtiofs", false},
    {0x01021994, "tmpfs", true},  {0x858458f6, "ramfs", true},    {0x958458f6, "hugetlbfs", true},
};

static const char *name_of(uint32_t type, bool *in_memory) {
    for (size_t i = 0; i < sizeof file_systems / sizeof file_systems[0]; i++) {
        if (file_systems[i].type == type) {
            *in_memory = file_systems[i].in_memory;
            return file_systems[i].name;
        }
    }
    *in_memory = false;
    return NULL;
}

file_handle file_posix_open_direct(const char *path) {
    int descriptor = open(path, FILE_POSIX_OPEN_FLAGS | O_DIRECT);
    if (descriptor < 0) return -errno;
    struct statfs facts;
    bool in_memory = false;
    if (fstatfs(descriptor, &facts) == 0) name_of((uint32_t)facts.f_type, &in_memory);
    if (in_memory) {
        close(descriptor);
        return -EOPNOTSUPP;
    }
    return descriptor;
}

locum_status file_system_name(const char *path, char name[FILE_SYSTEM_NAME_MAX],
                              locum_error *error) {
    struct statfs facts;
    if (statfs(path, &facts) != 0)
        return status_fail(error, LOCUM_E_NOT_FOUND, "%s: %s", path, system_error_of(errno).text);
    bool in_memory;
    const char *known = name_of((uint32_t)facts.f_type, &in_memory);
    if (known != NULL)
        snprintf(name, FILE_SYSTEM_NAME_MAX, "%s", known);
    else
        snprintf(name, FILE_SYSTEM_NAME_MAX, "type 0x%08x", (unsigned)facts.f_type);
    return LOCUM_OK;
}
