// SPDX-License-Identifier: Apache-2.0
#include "token/special.h"

#include "base/check.h"

static int compare(const struct vocabulary *vocabulary, locum_token a, locum_token b) {
    struct slice x = vocabulary_bytes(vocabulary, a), y = vocabulary_bytes(vocabulary, b);
    size_t common = x.size < y.size ? x.size : y.size;
    int order = memcmp(x.data, y.data, common);
    if (order != 0) {
        return order;
    }
    if (x.size != y.size) {
        return x.size < y.size ? -1 : 1;
    }
    return (a > b) - (a < b);
}

// Restores the heap (largest on top) below `hole`. qsort has no argument for the vocabulary.
static void sift_down(struct special *special, uint32_t hole, uint32_t count) {
    locum_token *ids = special->ids, moved = ids[hole];
    for (uint32_t child = 2 * hole + 1; child < count; child = 2 * hole + 1) {
        if (child + 1 < count && compare(special->vocabulary, ids[child + 1], ids[child]) > 0) {
            child++;
        }
        if (compare(special->vocabulary, ids[child], moved) <= 0) {
            break;
        }
        ids[hole] = ids[child];
        hole = child;
    }
    ids[hole] = moved;
}

static void sort(struct special *special) {
    for (uint32_t i = special->count / 2; i-- > 0;) {
        sift_down(special, i, special->count);
    }
    for (uint32_t end = special->count; end > 1;) {
        end--;
        locum_token largest = special->ids[0];
        special->ids[0] = special->ids[end];
        special->ids[end] = largest;
        sift_down(special, 0, end);
    }
}

locum_status special_build(const struct vocabulary *vocabulary, special_fn is_member,
                           struct arena *arena, struct special *out, locum_error *error) {
    *out = (struct special){.vocabulary = vocabulary};
    uint32_t count = 0, tokens = vocabulary_size(vocabulary);
    for (uint32_t id = 0; id < tokens; id++) {
        count += is_member(vocabulary, (locum_token)id);
    }
    out->ids = arena_array(arena, count, sizeof *out->ids);
    if (!out->ids) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for %u special tokens", count);
    }
    for (uint32_t id = 0; id < tokens; id++) {
        struct slice bytes = vocabulary_bytes(vocabulary, (locum_token)id);
        if (bytes.size > 0 && is_member(vocabulary, (locum_token)id)) {
            out->ids[out->count++] = (locum_token)id;
            out->starts[(uint8_t)bytes.data[0]] = true;
        }
    }
    sort(out);
    return LOCUM_OK;
}

// First place in [low, high) whose byte at `depth` is at least `byte`. All of them agree before
// `depth`, and the ones that end there sort first.
static uint32_t lower_bound(const struct special *special, uint32_t low, uint32_t high,
                            size_t depth, int byte) {
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct slice bytes = vocabulary_bytes(special->vocabulary, special->ids[middle]);
        int found = depth < bytes.size ? (uint8_t)bytes.data[depth] : -1;
        if (found < byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

locum_token special_at(const struct special *special, struct slice text) {
    locum_token longest = TOKEN_NONE;
    uint32_t low = 0, high = special->count;
    for (size_t depth = 0; depth < text.size && low < high; depth++) {
        int byte = (uint8_t)text.data[depth];
        low = lower_bound(special, low, high, depth, byte);
        high = lower_bound(special, low, high, depth, byte + 1);
        // Those that end here come first; of equal ones the last id.
        for (; low < high; low++) {
            locum_token id = special->ids[low];
            if (vocabulary_bytes(special->vocabulary, id).size > depth + 1) {
                break;
            }
            longest = id;
        }
    }
    return longest;
}

locum_token special_next(const struct special *special, struct slice text, size_t *begin) {
    for (size_t i = 0; i < text.size; i++) {
        if (!special->starts[(uint8_t)text.data[i]]) {
            continue;
        }
        locum_token id = special_at(special, slice_from(text, i));
        if (id != TOKEN_NONE) {
            *begin = i;
            return id;
        }
    }
    *begin = text.size;
    return TOKEN_NONE;
}

size_t special_memory(const struct special *special) {
    return special->count * sizeof *special->ids;
}
