// SPDX-License-Identifier: Apache-2.0
//
// Owns:      finding out what a template understands, by rendering small conversations with it.
// Called by: chat_template_open.
// Threads:   one.
// Errors:    E_OUT_OF_MEMORY. A template that refuses a conversation has answered the question.
// Not here:  making use of the answers (chat_fit.h, chat_template.h).
#ifndef CHAT_PROBE_H
#define CHAT_PROBE_H

#include "chat/chat_template.h"

// Fills traits, thinking, empty_reasoning and ending.
locum_status chat_probe(struct chat_template *chat, locum_error *error);

#endif
