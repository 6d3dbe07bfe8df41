// SPDX-License-Identifier: Apache-2.0
//
// Owns:      statements: what they write and which names they set.
// Called by: jinja, jinja_call (bodies of macros), jinja_loop (targets).
// Threads:   one thread at a time.
// Errors:    JINJA_FAILED; as jinja_run.h.
// Not here:  expressions (jinja_eval.h).
#ifndef JINJA_EXEC_H
#define JINJA_EXEC_H

#include "jinja/jinja_run.h"

enum jinja_flow { JINJA_FAILED, JINJA_GOES_ON, JINJA_BREAKS, JINJA_CONTINUES };

// The statements of a LIST, in run->scope, to run->out.
enum jinja_flow jinja_execute(struct jinja_run *run, const struct jinja_node *list);
// Sets a target of run->scope: a name, a member of a namespace, or several from a sequence.
bool jinja_assign(struct jinja_run *run, const struct jinja_node *target, struct jinja_value value);
// What the statements write, in a scope of their own around which `outer` is.
bool jinja_execute_apart(struct jinja_run *run, const struct jinja_node *list,
                         struct jinja_scope *scope, struct jinja_value *out,
                         enum jinja_flow *flow);
// A for statement over these items; depth is that of recursion.
enum jinja_flow jinja_execute_for(struct jinja_run *run, const struct jinja_node *node,
                                  struct jinja_value items, int64_t depth);

#endif
