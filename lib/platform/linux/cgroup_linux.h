// SPDX-License-Identifier: Apache-2.0
//
// Owns:      where the control groups of this process lie in the file system.
// Called by: cpu_linux.c, memory_linux.c.
// Threads:   any.
// Errors:    none: a group that cannot be found is not visited.
// Not here:  what the limits of a group are called and mean.
#ifndef PLATFORM_LINUX_CGROUP_LINUX_H
#define PLATFORM_LINUX_CGROUP_LINUX_H

#include <stdint.h>

// version: 1 or 2, they name their files differently. folder: readable path, root included.
typedef void (*cgroup_visit_fn)(void *user, int version, const char *folder);

// Visit the process's own group and every group above it that can be seen, in both hierarchies (a
// system may mount both). controller: "cpu", "memory".
void cgroup_visit(const char *root, const char *controller, cgroup_visit_fn visit, void *user);

#endif
