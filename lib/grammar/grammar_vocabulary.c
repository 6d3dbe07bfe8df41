// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_vocabulary.h"

#include "base/arena.h"
#include "base/limits.h"
#include "base/utf8.h"

#include <stdlib.h>

enum { SIZE_BITS = 16 };

// A token while trees are made: its bytes, and the name of a marker as an entry of its own.
struct entry {
    struct slice bytes;
    uint32_t token;
};

static int by_bytes(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    size_t shared = x->bytes.size < y->bytes.size ? x->bytes.size : y->bytes.size;
    int order = memcmp(x->bytes.data, y->bytes.data, shared);
    if (order != 0) return order;
    if (x->bytes.size != y->bytes.size) return x->bytes.size < y->bytes.size ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

// Whole characters from U+0020 on, no '"' and no '\'.
static bool is_plain(struct slice bytes) {
    while (bytes.size > 0) {
        struct utf8_step step = utf8_next(bytes);
        if (step.kind != UTF8_CHARACTER || step.code < 0x20 || step.code == '"' ||
            step.code == '\\') {
            return false;
        }
        bytes = slice_from(bytes, step.size);
    }
    return true;
}

static uint32_t tree_of(struct slice bytes) {
    return (bytes.size > GRAMMAR_SHORT_BYTES ? GRAMMAR_TREE_LONG : 0) |
           (is_plain(bytes) ? GRAMMAR_TREE_PLAIN : 0);
}

static uint32_t shared_bytes(struct slice a, struct slice b) {
    uint32_t n = 0;
    while (n < a.size && n < b.size && a.data[n] == b.data[n])
        n++;
    return n;
}

// Nodes that the entry adds behind the one before it: all bytes that they do not share, and one for a
// token of the same bytes.
static uint32_t first_new(const struct entry *entries, uint32_t i) {
    if (i == 0) return 0;
    uint32_t shared = shared_bytes(entries[i - 1].bytes, entries[i].bytes);
    return shared < entries[i].bytes.size ? shared : shared - 1;
}

static void close_nodes(struct grammar_tree *tree, const uint32_t *open, uint32_t from,
                        uint32_t to) {
    for (uint32_t depth = from; depth < to; depth++)
        tree->nodes[open[depth]].end = tree->count;
}

// entries are sorted; open: room for the longest.
static void fill_tree(struct grammar_tree *tree, const struct entry *entries, uint32_t count,
                      uint32_t *open) {
    uint32_t depth = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct slice bytes = entries[i].bytes;
        uint32_t first = first_new(entries, i);
        close_nodes(tree, open, first, depth);
        for (depth = first; depth < bytes.size; depth++) {
            bool last = depth + 1 == bytes.size;
            open[depth] = tree->count;
            tree->nodes[tree->count++] =
                (struct grammar_node){.token = last ? entries[i].token : GRAMMAR_NO_TOKEN,
                                      .depth = (uint16_t)depth,
                                      .byte = (uint8_t)bytes.data[depth]};
        }
        tree->mask[entries[i].token / 64] |= UINT64_C(1) << (entries[i].token % 64);
    }
    close_nodes(tree, open, 0, depth);
}

static bool make_tree(struct grammar_vocabulary *v, struct grammar_tree *tree,
                      struct entry *entries, uint32_t count, uint32_t *open) {
    uint32_t nodes = 0;
    if (count > 1) qsort(entries, count, sizeof *entries, by_bytes);
    for (uint32_t i = 0; i < count; i++)
        nodes += (uint32_t)entries[i].bytes.size - first_new(entries, i);
    size_t node_bytes = nodes * sizeof *tree->nodes, mask_bytes = v->mask_words * sizeof(uint64_t);
    tree->nodes = heap_resize(NULL, node_bytes);
    tree->mask = heap_resize(NULL, mask_bytes);
    if (!tree->nodes || !tree->mask) return false;
    memset(tree->mask, 0, mask_bytes);
    v->memory += node_bytes + mask_bytes;
    fill_tree(tree, entries, count, open);
    return true;
}

// ---- the texts ----------------------------------------------------------------------------------
// All bytes in one place. A token without text is known by its name, between the marks; a marker's
// name stands behind its text.
struct sizes {
    size_t text;
    uint32_t entries, names;
};

static struct slice usable(struct slice bytes) {
    bool marks = false;
    for (size_t i = 0; i < bytes.size; i++)
        marks |= (uint8_t)bytes.data[i] >= GRAMMAR_NAME_END;
    return bytes.size > LIMIT_TOKEN_BYTES || marks ? slice_make(NULL, 0) : bytes;
}

// Text with a byte that marks a name would be taken for one; it is no UTF-8 anyway.
static void get(const struct grammar_source *source, uint32_t id, struct grammar_token *token) {
    *token = (struct grammar_token){0};
    source->get(source->user, id, token);
    token->bytes = usable(token->bytes);
    token->name = usable(token->name);
}

static void measure(const struct grammar_source *source, struct grammar_vocabulary *v,
                    struct sizes *sizes) {
    for (uint32_t id = 0; id < source->size; id++) {
        struct grammar_token token;
        get(source, id, &token);
        size_t text = token.bytes.size, name = token.name.size > 0 ? token.name.size + 2 : 0;
        sizes->text += text + name;
        sizes->entries += (text > 0) + (name > 0);
        sizes->names += name > 0;
        if (name > v->longest) v->longest = (uint32_t)name;
        if (text > v->longest) v->longest = (uint32_t)text;
    }
}

static void set_bit(uint64_t *mask, uint32_t token) {
    mask[token / 64] |= UINT64_C(1) << (token % 64);
}

static uint32_t collect(const struct grammar_source *source, struct grammar_vocabulary *v,
                        struct entry *entries) {
    uint32_t count = 0;
    uint64_t at = 0;
    for (uint32_t id = 0; id < source->size; id++) {
        struct grammar_token token;
        get(source, id, &token);
        if (token.ends) set_bit(v->ends, id);
        size_t size = token.bytes.size;
        uint64_t begin = at;
        if (size > 0) {
            memcpy(v->text + at, token.bytes.data, size);
            at += size;
            if (!token.ends) entries[count++] = (struct entry){{v->text + begin, size}, id};
        }
        if (token.name.size > 0) {
            char *name = v->text + at;
            size_t name_size = token.name.size + 2;
            name[0] = (char)GRAMMAR_NAME_BEGIN;
            memcpy(name + 1, token.name.data, token.name.size);
            name[name_size - 1] = (char)GRAMMAR_NAME_END;
            at += name_size;
            v->names[v->name_count++] = id;
            if (!token.ends) entries[count++] = (struct entry){{name, name_size}, id};
            if (size == 0) size = name_size;
        }
        v->bytes_at[id] = (begin << SIZE_BITS) | size;
    }
    return count;
}

struct slice grammar_vocabulary_bytes(const struct grammar_vocabulary *v, uint32_t token) {
    if (token >= v->size) return slice_make(NULL, 0);
    return slice_make(v->text + (v->bytes_at[token] >> SIZE_BITS),
                      v->bytes_at[token] & ((1u << SIZE_BITS) - 1));
}

bool grammar_vocabulary_name(const struct grammar_vocabulary *v, uint32_t token,
                             struct slice *name) {
    struct slice bytes = grammar_vocabulary_bytes(v, token);
    uint32_t low = 0, high = v->name_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (v->names[middle] < token) low = middle + 1;
        else high = middle;
    }
    if (low == v->name_count || v->names[low] != token) return false;
    if ((uint8_t)bytes.data[0] != GRAMMAR_NAME_BEGIN) bytes.data += bytes.size;
    const char *end = memchr(bytes.data, GRAMMAR_NAME_END, LIMIT_TOKEN_BYTES + 2);
    *name = slice_make(bytes.data, (size_t)(end - bytes.data) + 1);
    return true;
}

// ---- the whole ----------------------------------------------------------------------------------
static bool make_trees(struct grammar_vocabulary *v, struct entry *entries, uint32_t count) {
    struct entry *part = heap_resize(NULL, (count + 1) * sizeof *part);
    uint32_t *open = heap_resize(NULL, (v->longest + 1) * sizeof *open);
    bool done = part && open;
    for (uint32_t tree = 0; done && tree < GRAMMAR_TREES; tree++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (tree_of(entries[i].bytes) == tree) part[n++] = entries[i];
        }
        done = make_tree(v, &v->trees[tree], part, n, open);
    }
    heap_free(part);
    heap_free(open);
    return done;
}

static bool fill(const struct grammar_source *source, struct grammar_vocabulary *v) {
    struct sizes sizes = {0};
    measure(source, v, &sizes);
    v->text = heap_resize(NULL, sizes.text + 1);
    v->bytes_at = heap_resize(NULL, (v->size + 1) * sizeof *v->bytes_at);
    v->names = heap_resize(NULL, (sizes.names + 1) * sizeof *v->names);
    v->ends = heap_resize(NULL, v->mask_words * sizeof *v->ends);
    struct entry *entries = heap_resize(NULL, (sizes.entries + 1) * sizeof *entries);
    bool done = v->text && v->bytes_at && v->names && v->ends && entries;
    if (done) {
        memset(v->ends, 0, v->mask_words * sizeof *v->ends);
        v->memory += sizes.text + v->size * sizeof *v->bytes_at + sizes.names * sizeof *v->names +
                     v->mask_words * sizeof *v->ends;
        done = make_trees(v, entries, collect(source, v, entries));
    }
    heap_free(entries);
    return done;
}

locum_status grammar_vocabulary_create(const struct grammar_source *source,
                                       struct grammar_vocabulary **out, locum_error *error) {
    struct grammar_vocabulary *v = heap_resize(NULL, sizeof *v);
    *out = NULL;
    if (v) {
        *v = (struct grammar_vocabulary){.size = source->size,
                                         .mask_words = (source->size + 63) / 64,
                                         .memory = sizeof *v};
    }
    if (!v || !fill(source, v)) {
        grammar_vocabulary_free(v);
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY,
                           "no memory for %u tokens in the order of their bytes", source->size);
    }
    *out = v;
    return LOCUM_OK;
}

void grammar_vocabulary_free(struct grammar_vocabulary *vocabulary) {
    if (!vocabulary) return;
    for (uint32_t tree = 0; tree < GRAMMAR_TREES; tree++) {
        heap_free(vocabulary->trees[tree].nodes);
        heap_free(vocabulary->trees[tree].mask);
    }
    heap_free(vocabulary->text);
    heap_free(vocabulary->bytes_at);
    heap_free(vocabulary->names);
    heap_free(vocabulary->ends);
    heap_free(vocabulary);
}
