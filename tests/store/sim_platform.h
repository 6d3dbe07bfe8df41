// SPDX-License-Identifier: Apache-2.0
//
// A platform without a system: the store's own code runs on a disk, a clock and memory that follow
// from a seed. Linked in place of lib/platform; one thread, so every run of a seed is the same run.
#ifndef TESTS_STORE_SIM_PLATFORM_H
#define TESTS_STORE_SIM_PLATFORM_H

#include "platform/async_read.h"
#include "platform/clock.h"
#include "platform/vmem.h"
#include "tests/store/sim_random.h"

// ---- the disk -----------------------------------------------------------------------------------
// Its bytes are those of fake_model_bytes.
struct platform_file {
    uint32_t number;
    uint64_t size;
    bool direct;
    char path[16];
};

// How the disk behaves; set by the test at any time.
struct sim_disk {
    struct sim_random random;
    uint64_t latency_ns_max;
    uint32_t fail_percent; // of the reads
    uint32_t flip_percent; // of the reads get one wrong bit
    // Reads that touch this range of file 0 fail always, or `fail_once` times.
    uint64_t bad_offset, bad_bytes;
    uint32_t fail_times;
    // What it saw.
    uint64_t reads, bytes, failures, flips;
    uint64_t last_offset; // of the read that was submitted last
};
extern struct sim_disk sim_disk;
void sim_reset(uint64_t seed); // disk and clock as new

extern uint64_t sim_vmem_bytes; // of all regions

#endif
