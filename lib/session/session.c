// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include "base/check.h"

#include <string.h>

static uint32_t pages_for(uint32_t positions) {
    return (positions + EXEC_KV_PAGE_POSITIONS - 1) / EXEC_KV_PAGE_POSITIONS;
}

uint64_t session_pool_bytes(const struct exec_kv_layout *layout, uint32_t positions) {
    return layout->page_bytes * pages_for(positions) +
           (uint64_t)pages_for(positions) * sizeof(uint32_t);
}

uint64_t session_pool_state_bytes(uint64_t state_bytes) {
    return 2 * state_bytes;
}

locum_status session_pool_init(struct session_pool *pool, const struct exec_kv_layout *layout,
                               uint32_t positions, uint64_t state_bytes, struct arena *arena,
                               locum_error *error) {
    *pool = (struct session_pool){.page_bytes = layout->page_bytes,
                                  .pages = pages_for(positions),
                                  .state_bytes = state_bytes};
    pool->free = arena_array(arena, pool->pages, sizeof *pool->free);
    if (!pool->free)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the KV cache's table");
    STATUS_TRY(vmem_alloc(&pool->region, (size_t)(pool->page_bytes * pool->pages), error));
    vmem_advise_huge(&pool->region); // a token walks all of it, each page once
    // The lowest page is taken first: memory becomes resident only as far as the text goes.
    for (uint32_t i = 0; i < pool->pages; i++)
        pool->free[i] = pool->pages - 1 - i;
    pool->free_count = pool->pages;
    if (state_bytes == 0) return LOCUM_OK;
    return vmem_alloc(&pool->states, (size_t)session_pool_state_bytes(state_bytes), error);
}

void session_pool_release(struct session_pool *pool) {
    vmem_release(&pool->region);
    vmem_release(&pool->states);
}

uint64_t session_bytes(uint32_t context) {
    return sizeof(struct session) + (uint64_t)context * sizeof(locum_token) +
           pages_for(context) * (sizeof(uint8_t *) + sizeof(uint32_t));
}

locum_status session_create(struct session_pool *pool, uint32_t context, struct session **out,
                            locum_error *error) {
    struct session *session = heap_resize(NULL, (size_t)session_bytes(context));
    if (!session)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for a session of %u tokens",
                           context);
    uint32_t pages = pages_for(context);
    uint8_t **table = (uint8_t **)(session + 1);
    uint32_t *numbers = (uint32_t *)(table + pages);
    *session = (struct session){.pool = pool,
                                .context = context,
                                .pages = table,
                                .page_number = numbers,
                                .tokens = (locum_token *)(numbers + pages),
                                .state_at = SESSION_UNKNOWN,
                                .checkpoint_at = SESSION_UNKNOWN,
                                .checkpoint_next = SESSION_UNKNOWN};
    *out = session;
    return LOCUM_OK;
}

// ---- state of recurrent layers ------------------------------------------------------------------------
static locum_status take_state(struct session *session, locum_error *error) {
    struct session_pool *pool = session->pool;
    if (pool->state_bytes == 0 || session->state) return LOCUM_OK;
    if (pool->state_taken) {
        return status_fail(error, LOCUM_E_CONTEXT,
                           "there is room for the recurrent state of one session, and another one "
                           "holds it");
    }
    pool->state_taken = true;
    session->state = (float *)(void *)pool->states.data;
    session->checkpoint = session->state + pool->state_bytes / sizeof(float);
    session->state_at = session->checkpoint_at = SESSION_UNKNOWN;
    return LOCUM_OK;
}

static void give_back_state(struct session *session) {
    if (session->state) session->pool->state_taken = false;
    session->state = session->checkpoint = NULL;
    session->state_at = session->checkpoint_at = SESSION_UNKNOWN;
}

// Goes back to what there is a state of, at most `count` tokens.
static uint32_t cut_state(struct session *session, uint32_t count) {
    if (session->pool->state_bytes == 0 || session->state_at == count) return count;
    if (session->checkpoint_at > count) return 0;
    float *state = session->checkpoint;
    session->checkpoint = session->state;
    session->state = state;
    session->state_at = session->checkpoint_at;
    session->checkpoint_at = SESSION_UNKNOWN;
    return session->state_at;
}

static void give_back_pages(struct session *session, uint32_t keep) {
    while (session->page_count > keep) {
        session->pool->free[session->pool->free_count++] =
            session->page_number[--session->page_count];
    }
}

void session_destroy(struct session *session) {
    if (!session) return;
    give_back_pages(session, 0);
    give_back_state(session);
    heap_free(session);
}

uint32_t session_cut(struct session *session, uint32_t count) {
    LOCUM_ASSERT(count <= session->count);
    session->count = cut_state(session, count);
    give_back_pages(session, pages_for(session->count));
    if (session->count == 0) give_back_state(session);
    return session->count;
}

uint32_t session_keep_prefix(struct session *session, const locum_token *tokens, uint32_t count) {
    LOCUM_ASSERT(count > 0);
    uint32_t most = session->count < count - 1 ? session->count : count - 1;
    uint32_t same = 0;
    while (same < most && session->tokens[same] == tokens[same])
        same++;
    return session_cut(session, same);
}

locum_status session_reserve(struct session *session, uint32_t count, locum_error *error) {
    struct session_pool *pool = session->pool;
    LOCUM_ASSERT(count <= session->context);
    STATUS_TRY(take_state(session, error));
    while (session->page_count < pages_for(count)) {
        if (pool->free_count == 0) {
            return status_fail(error, LOCUM_E_CONTEXT,
                               "the KV cache of %u tokens is used up by the open sessions",
                               pool->pages * EXEC_KV_PAGE_POSITIONS);
        }
        uint32_t page = pool->free[--pool->free_count];
        session->page_number[session->page_count] = page;
        session->pages[session->page_count++] =
            pool->region.data + (uint64_t)page * pool->page_bytes;
    }
    return LOCUM_OK;
}

struct exec_sequence session_step(struct session *session, uint32_t checkpoint_at) {
    if (session->state) {
        if (session->count == 0) {
            memset(session->state, 0, (size_t)session->pool->state_bytes);
            session->state_at = 0;
        }
        LOCUM_ASSERT(session->state_at == session->count);
        session->state_at = SESSION_UNKNOWN;
        if (checkpoint_at != EXEC_NO_CHECKPOINT) session->checkpoint_at = SESSION_UNKNOWN;
        session->checkpoint_next = checkpoint_at;
    }
    return (struct exec_sequence){.pages = session->pages,
                                  .page_count = session->page_count,
                                  .state = session->state,
                                  .checkpoint = session->checkpoint,
                                  .checkpoint_at = checkpoint_at};
}

void session_append(struct session *session, const locum_token *tokens, uint32_t count) {
    LOCUM_ASSERT(session->count + count <= session->context);
    LOCUM_ASSERT(pages_for(session->count + count) <= session->page_count);
    memcpy(session->tokens + session->count, tokens, count * sizeof *tokens);
    session->count += count;
    if (!session->state) return;
    session->state_at = session->count;
    if (session->checkpoint_next != EXEC_NO_CHECKPOINT)
        session->checkpoint_at = session->checkpoint_next;
    session->checkpoint_next = EXEC_NO_CHECKPOINT;
}
