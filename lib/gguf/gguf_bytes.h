// SPDX-License-Identifier: Apache-2.0
//
// Owns:      little-endian integers at any address, whatever the machine's own order is.
// Called by: the other modules of gguf.
// Threads:   pure.
// Errors:    none; bounds are the caller's.
// Not here:  checked reading of a header that may be cut (gguf_scan in gguf_parse.h).
#ifndef GGUF_BYTES_H
#define GGUF_BYTES_H

#include <stdint.h>

// bytes: 1 to 8. Compilers make one load or store of these loops when `bytes` is a constant.
static inline uint64_t gguf_bytes_get(const char *at, uint32_t bytes) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)at[i] << (8 * i);
    return value;
}

static inline void gguf_bytes_put(char *at, uint32_t bytes, uint64_t value) {
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (char)(unsigned char)(value >> (8 * i));
}

#endif
