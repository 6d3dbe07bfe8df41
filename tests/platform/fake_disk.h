// SPDX-License-Identifier: Apache-2.0
//
// A disk that tests break at will: file methods over bytes in memory, or around the system's own.
// Everything that can go wrong is a field; all zero is a disk without faults.
#ifndef TESTS_PLATFORM_FAKE_DISK_H
#define TESTS_PLATFORM_FAKE_DISK_H

#include "platform/file.h"

struct fake_disk {
    struct file_methods methods;
    const unsigned char *data; // NULL: real files, through the system's methods
    uint64_t bytes;

    size_t short_every;     // each n-th read gives less than asked
    size_t interrupt_every; // each n-th read fails with EINTR
    size_t fail_at;         // the n-th read (from 1) fails with fail_number
    size_t fail_from;       // all reads from the n-th on
    int fail_number;        // default EIO
    int direct_open_number; // opening for direct reads fails
    int direct_read_number; // direct reads fail, although opening them works
    bool direct_lies;       // direct reads give other bytes
    bool direct_is_strict;  // a direct read that is not aligned fails with EINVAL, as devices do
    uint64_t delay_ns_max;  // each read takes a pseudo-random time up to this

    _Atomic size_t reads, opens, closes;
};

void fake_disk_init(struct fake_disk *disk, const void *data, uint64_t bytes);

#endif
