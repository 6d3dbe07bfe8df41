// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what a conversation has computed: its tokens, the KV pages that hold their keys and values,
//            the state of recurrent layers; the pool that all sessions of a model take both from.
// Called by: engine's scheduler.
// Threads:   one thread per pool.
// Errors:    LOCUM_E_CONTEXT when the pool has no page or no state left.
// Not here:  running a step (exec), choosing tokens (sample).
//
// A session's tokens 0..count-1 are computed: their KV rows are valid. A request gives the whole text of
// the sequence; what agrees with the beginning of it stays, the rest is cut off, and only the new suffix
// is computed. Attention can be cut anywhere. What recurrent layers remember cannot be taken back: beside
// their state there is one checkpoint, from before the last token of the last prompt. A text that does
// not continue the state continues the checkpoint, or is computed from its beginning.
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "exec/exec_kv.h"
#include "platform/vmem.h"

struct session_pool {
    struct vmem region;
    uint64_t page_bytes;
    uint32_t pages, free_count;
    uint32_t *free; // stack of page numbers
    struct vmem states;
    uint64_t state_bytes; // of one copy; 0: no recurrent layers
    bool state_taken;     // there is one: by an open session
};
// Room for `positions` positions, rounded up to pages.
uint64_t session_pool_bytes(const struct exec_kv_layout *layout, uint32_t positions);
// Room for what recurrent layers remember (plan_state_bytes) and for the checkpoint.
uint64_t session_pool_state_bytes(uint64_t state_bytes);
locum_status session_pool_init(struct session_pool *pool, const struct exec_kv_layout *layout,
                               uint32_t positions, uint64_t state_bytes, struct arena *arena,
                               locum_error *error);
void session_pool_release(struct session_pool *pool);

struct session {
    struct session_pool *pool;
    uint32_t context;      // most tokens
    locum_token *tokens;   // [context]
    uint32_t count;        // computed
    uint32_t *page_number; // [pages]
    uint8_t **pages;       // [pages], what exec sees
    uint32_t page_count;
    // Of recurrent layers. Both hold what there was after so many tokens, or SESSION_UNKNOWN.
    float *state, *checkpoint; // NULL: none taken from the pool
    uint32_t state_at, checkpoint_at;
    uint32_t checkpoint_next; // what the step that runs leaves in the checkpoint
};
#define SESSION_UNKNOWN UINT32_MAX
uint64_t session_bytes(uint32_t context);
locum_status session_create(struct session_pool *pool, uint32_t context, struct session **out,
                            locum_error *error);
void session_destroy(struct session *session); // gives its pages back; NULL is fine

// Keep the longest computed prefix of tokens[0..count-1], but at most count - 1 of it: the last token is
// always computed, since its logits are wanted. Gives the number of tokens kept.
uint32_t session_keep_prefix(struct session *session, const locum_token *tokens, uint32_t count);
// Forget everything from position `count` on; with recurrent layers from the nearest place before it that
// there is a state of. Gives the number of tokens kept.
uint32_t session_cut(struct session *session, uint32_t count);
// Pages for positions up to count - 1, and a state. LOCUM_E_CONTEXT if other sessions hold them.
locum_status session_reserve(struct session *session, uint32_t count, locum_error *error);
// What a step that continues the session gets. Until session_append says that the step succeeded its state
// counts as lost. checkpoint_at: a position of the step, before which the state becomes the checkpoint, or
// EXEC_NO_CHECKPOINT.
struct exec_sequence session_step(struct session *session, uint32_t checkpoint_at);
// These tokens, at the positions after the computed ones, have been computed.
void session_append(struct session *session, const locum_token *tokens, uint32_t count);

#endif
