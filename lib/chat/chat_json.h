// SPDX-License-Identifier: Apache-2.0
//
// Owns:      JSON text of the values of a conversation, and looking things up in them.
// Called by: chat_*.c.
// Threads:   pure.
// Errors:    E_OUT_OF_MEMORY; E_ARGUMENT for values without a JSON form.
// Not here:  reading JSON (jinja/jinja_json.h).
#ifndef CHAT_JSON_H
#define CHAT_JSON_H

#include "base/buffer.h"
#include "base/status.h"
#include "jinja/jinja_value.h"

// As Python's json.dumps writes it without ensure_ascii. Appends.
locum_status chat_json_write(struct jinja_value value, struct buffer *out, locum_error *error);

// The item of a dict; NULL: the value is no dict, there is no such item, or it is none.
const struct jinja_value *chat_json_item(struct jinja_value dict, const char *key);
// The text of an item that is a string, else one without data.
struct slice chat_json_text(struct jinja_value dict, const char *key);
// A string of data.
bool chat_json_string(struct arena *arena, struct slice text, struct jinja_value *out);
// Sets key to a string of data.
bool chat_json_set_text(struct arena *arena, struct jinja_value dict, const char *key,
                        struct slice text);

#endif
