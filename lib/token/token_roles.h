// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what tokens mean by their name: which end an answer, which are shown.
// Called by: tokenizer.
// Threads:   pure.
// Errors:    none.
// Not here:  the ids that the file names (they come on top, tokenizer.c).
//
// Files name one or two end tokens; models use more. The names are those of the models' own
// templates.
#ifndef TOKEN_ROLES_H
#define TOKEN_ROLES_H

#include "token/vocabulary.h"

enum { TOKEN_ROLES_ENDS_MAX = 48 };

struct token_roles {
    locum_token ends[TOKEN_ROLES_ENDS_MAX];
    uint32_t end_count;
};

// Finds the names in a vocabulary that is not indexed yet, and sets the kind of those that the file
// marks otherwise: end tokens are control tokens, the markers of channels are text.
void token_roles_find(struct vocabulary *vocabulary, struct token_roles *out);

// An id that ends an answer as well; TOKEN_NONE is ignored.
void token_roles_add_end(struct token_roles *roles, locum_token id);
bool token_roles_is_end(const struct token_roles *roles, locum_token id);

#endif
