// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what a conversation has computed: its tokens and the KV pages that hold their keys and
//            values; the pool that all sessions of a model take pages from.
// Called by: engine's scheduler.
// Threads:   one thread per pool.
// Errors:    LOCUM_E_CONTEXT when the pool has no page left.
// Not here:  running a step (exec), choosing tokens (sample).
//
// A session's tokens 0..count-1 are computed: their KV rows are valid. A request gives the whole text of
// the sequence; what agrees with the beginning of it stays, the rest is cut off, and only the new suffix
// is computed. Attention can be cut anywhere. (There are no recurrent models yet; a session of one will keep
// a checkpoint of its state from before the last token of a prompt, and be cut back to that.)
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "exec/exec_kv.h"
#include "platform/vmem.h"

struct session_pool {
    struct vmem region;
    uint64_t page_bytes;
    uint32_t pages, free_count;
    uint32_t *free; // stack of page numbers
};
// Room for `positions` positions, rounded up to pages.
uint64_t session_pool_bytes(const struct exec_kv_layout *layout, uint32_t positions);
locum_status session_pool_init(struct session_pool *pool, const struct exec_kv_layout *layout,
                               uint32_t positions, struct arena *arena, locum_error *error);
void session_pool_release(struct session_pool *pool);

struct session {
    struct session_pool *pool;
    uint32_t context;      // most tokens
    locum_token *tokens;   // [context]
    uint32_t count;        // computed
    uint32_t *page_number; // [pages]
    uint8_t **pages;       // [pages], what exec sees
    uint32_t page_count;
};
uint64_t session_bytes(uint32_t context);
locum_status session_create(struct session_pool *pool, uint32_t context, struct session **out,
                            locum_error *error);
void session_destroy(struct session *session); // gives its pages back; NULL is fine

// Keep the longest computed prefix of tokens[0..count-1], but at most count - 1 of it: the last token is
// always computed, since its logits are wanted. Gives the number of tokens kept.
uint32_t session_keep_prefix(struct session *session, const locum_token *tokens, uint32_t count);
// Forget everything from position `count` on.
void session_cut(struct session *session, uint32_t count);
// Pages for positions up to count - 1. LOCUM_E_CONTEXT if other sessions hold them.
locum_status session_reserve(struct session *session, uint32_t count, locum_error *error);
// These tokens, at the positions after the computed ones, have been computed.
void session_append(struct session *session, const locum_token *tokens, uint32_t count);

static inline struct exec_sequence session_sequence(const struct session *session) {
    return (struct exec_sequence){session->pages, session->page_count};
}

#endif
