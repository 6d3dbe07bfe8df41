// SPDX-License-Identifier: Apache-2.0
#include "token/token_list.h"

#include "base/arena.h"

enum { FIRST_CAPACITY = 64 };

void token_list_push(struct token_list *list, locum_token id) {
    if (list->count == list->capacity && !list->failed) {
        size_t capacity = list->capacity ? list->capacity * 2 : FIRST_CAPACITY;
        locum_token *ids = heap_resize(list->ids, capacity * sizeof *ids);
        if (!ids) {
            list->failed = true;
        } else {
            list->ids = ids;
            list->capacity = capacity;
        }
    }
    if (!list->failed) {
        list->ids[list->count++] = id;
    }
}

void token_list_release(struct token_list *list) {
    heap_free(list->ids);
    *list = (struct token_list){0};
}
