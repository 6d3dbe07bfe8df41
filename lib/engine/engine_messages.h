// SPDX-License-Identifier: Apache-2.0
//
// Owns:      struct locum_messages.
// Called by: engine_chat.c.
// Threads:   one at a time.
// Errors:    as in locum_experimental.h.
// Not here:  what messages are (chat/chat_message.h).
#ifndef ENGINE_ENGINE_MESSAGES_H
#define ENGINE_ENGINE_MESSAGES_H

#include "chat/chat_message.h"

struct locum_messages {
    struct chat_messages messages;
    struct buffer shown; // what was last given out
};

#endif
