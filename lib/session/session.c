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

locum_status session_pool_init(struct session_pool *pool, const struct exec_kv_layout *layout,
                               uint32_t positions, struct arena *arena, locum_error *error) {
    *pool = (struct session_pool){.page_bytes = layout->page_bytes, .pages = pages_for(positions)};
    pool->free = arena_array(arena, pool->pages, sizeof *pool->free);
    if (!pool->free)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the KV cache's table");
    STATUS_TRY(vmem_alloc(&pool->region, (size_t)(pool->page_bytes * pool->pages), error));
    // The lowest page is taken first: memory becomes resident only as far as the text goes.
    for (uint32_t i = 0; i < pool->pages; i++)
        pool->free[i] = pool->pages - 1 - i;
    pool->free_count = pool->pages;
    return LOCUM_OK;
}

void session_pool_release(struct session_pool *pool) {
    vmem_release(&pool->region);
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
                                .tokens = (locum_token *)(numbers + pages)};
    *out = session;
    return LOCUM_OK;
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
    heap_free(session);
}

void session_cut(struct session *session, uint32_t count) {
    LOCUM_ASSERT(count <= session->count);
    session->count = count;
    give_back_pages(session, pages_for(count));
}

uint32_t session_keep_prefix(struct session *session, const locum_token *tokens, uint32_t count) {
    LOCUM_ASSERT(count > 0);
    uint32_t most = session->count < count - 1 ? session->count : count - 1;
    uint32_t same = 0;
    while (same < most && session->tokens[same] == tokens[same])
        same++;
    session_cut(session, same);
    return same;
}

locum_status session_reserve(struct session *session, uint32_t count, locum_error *error) {
    struct session_pool *pool = session->pool;
    LOCUM_ASSERT(count <= session->context);
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

void session_append(struct session *session, const locum_token *tokens, uint32_t count) {
    LOCUM_ASSERT(session->count + count <= session->context);
    LOCUM_ASSERT(pages_for(session->count + count) <= session->page_count);
    memcpy(session->tokens + session->count, tokens, count * sizeof *tokens);
    session->count += count;
}
