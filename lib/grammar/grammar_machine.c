// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_machine.h"

#include "base/check.h"
#include "base/limits.h"

#include <stdlib.h>

// ---- frames and places --------------------------------------------------------------------------
// One frame of a stack: where to go on, how many rounds of a repetition are done, and what is below.
// Stacks are runs of these in the table of words, sorted.
struct frame {
    uint32_t op, count, stack;
};
enum { FRAME_WORDS = sizeof(struct frame) / sizeof(uint32_t) };

#define COUNT_NONE     UINT32_MAX       // the frame of an ordinary call
#define COUNT_FAR_LOW  (UINT32_MAX - 1) // too far below `least` to reach it within the horizon
#define COUNT_FAR_HIGH (UINT32_MAX - 2) // enough, and too far below `most`

// While a state is made, a stack may be one that is made at the same time: its routine was called
// at this byte. OPEN marks the number of such a routine.
#define STACK_OPEN (1u << 31)
enum { STACK_BOTTOM = 0 };

struct place {
    uint32_t op, stack;
};

// A frame that an open call has to return to. Its op is NONE for "and to all frames of that stack":
// the call was the last thing its caller did.
struct pending {
    struct frame frame;
    uint32_t next; // of the same call, GRAMMAR_UNKNOWN: the last one
};
#define OP_NONE UINT32_MAX

struct call {
    uint32_t routine, pending, stack; // stack: the closed one, in the end
};

struct grammar_closure {
    uint32_t round;          // of the closure that is being made
    uint32_t *call_of;       // [routine]: its call in this closure ...
    uint32_t *call_round;    // ... if this is the round
    struct place *todo, *seen_keys, *found; // found: places that wait for a byte
    uint32_t *seen_round;
    struct pending *pending;
    struct call *calls;
    struct frame *frames;
    uint32_t *words;
    uint32_t todo_count, found_count, pending_count, call_count, frame_count, seen_count;
    uint32_t todo_capacity, found_capacity, pending_capacity, call_capacity, frame_capacity,
        words_capacity, seen_capacity;
    bool accepts;
};

static bool grow(struct grammar_machine *m, void **items, uint32_t *capacity, uint32_t need,
                 size_t size) {
    if (need > LIMIT_GRAMMAR_PLACES) {
        if (m->status == LOCUM_OK)
            m->status = status_fail(&m->error, LOCUM_E_ARGUMENT,
                                    "the grammar is too ambiguous: more than %d places at a time",
                                    LIMIT_GRAMMAR_PLACES);
        return false;
    }
    if (grammar_intern_grow(items, capacity, need, size)) return true;
    if (m->status == LOCUM_OK)
        m->status = status_fail(&m->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the grammar");
    return false;
}
#define GROW(m, items, capacity, need) grow(m, (void **)&(items), &(capacity), need, sizeof *(items))

static bool out_of_memory(struct grammar_machine *m) {
    if (m->status == LOCUM_OK)
        m->status = status_fail(&m->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the grammar");
    return false;
}

// ---- interning ----------------------------------------------------------------------------------
static int by_frame(const void *a, const void *b) {
    const struct frame *x = a, *y = b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    if (x->count != y->count) return x->count < y->count ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

static int by_place(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

// The stack of these frames, which are sorted here; GRAMMAR_UNKNOWN on failure.
static uint32_t add_stack(struct grammar_machine *m, struct frame *frames, uint32_t count) {
    uint32_t kept = 0;
    if (count > 1) qsort(frames, count, sizeof *frames, by_frame);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || by_frame(&frames[i], &frames[kept - 1]) != 0) frames[kept++] = frames[i];
    }
    uint32_t known = m->stack_words.count,
             stack = grammar_intern_add(&m->stack_words, (const uint32_t *)frames,
                                        kept * FRAME_WORDS);
    if (stack == GRAMMAR_INTERN_NONE) return out_of_memory(m), GRAMMAR_UNKNOWN;
    if (stack < known) return stack;
    if (!grammar_intern_grow((void **)&m->stacks, &m->stacks_capacity, stack + 1,
                             sizeof *m->stacks)) {
        return out_of_memory(m), GRAMMAR_UNKNOWN;
    }
    struct grammar_stack info = {.relaxed = {GRAMMAR_UNKNOWN, GRAMMAR_UNKNOWN}};
    for (uint32_t i = 0; i < kept; i++) {
        if (frames[i].op == GRAMMAR_AT_ACCEPT) continue; // the bottom
        const struct grammar_stack *below = &m->stacks[frames[i].stack];
        if (below->depth >= info.depth) info.depth = (uint16_t)(below->depth + 1);
        info.counts |= below->counts || frames[i].count != COUNT_NONE;
    }
    m->stacks[stack] = info;
    return stack;
}

// A memory limit holds for states: each brings a row of transitions.
static bool room_for_state(struct grammar_machine *m, uint32_t state) {
    uint32_t classes = m->program->class_count;
    if (grammar_machine_bytes(m) > m->bytes_max) {
        if (m->status == LOCUM_OK)
            m->status = status_fail(&m->error, LOCUM_E_ARGUMENT,
                                    "the grammar needs more than %zu MiB of states for one token",
                                    m->bytes_max >> 20);
        return false;
    }
    if ((uint64_t)(state + 1) * classes > UINT32_MAX ||
        !grammar_intern_grow((void **)&m->states, &m->states_capacity, state + 1,
                             sizeof *m->states) ||
        !grammar_intern_grow((void **)&m->transitions, &m->transitions_capacity,
                             (state + 1) * classes, sizeof *m->transitions)) {
        return out_of_memory(m);
    }
    return true;
}

// The state of these places, which are sorted here; GRAMMAR_DEAD on failure.
static uint32_t add_state(struct grammar_machine *m, struct place *places, uint32_t count,
                          bool accepts) {
    struct grammar_closure *w = m->work;
    if (!GROW(m, w->words, w->words_capacity, 1 + 2 * count)) return GRAMMAR_DEAD;
    if (count > 1) qsort(places, count, sizeof *places, by_place);
    uint32_t n = 0;
    w->words[n++] = accepts;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && by_place(&places[i], &places[i - 1]) == 0) continue;
        w->words[n++] = places[i].op;
        w->words[n++] = places[i].stack;
    }
    uint32_t known = m->state_words.count;
    if (!room_for_state(m, known)) return GRAMMAR_DEAD;
    uint32_t state = grammar_intern_add(&m->state_words, w->words, n);
    if (state == GRAMMAR_INTERN_NONE) return out_of_memory(m), GRAMMAR_DEAD;
    if (state < known) return state;
    m->states[state] = (struct grammar_state){.relaxed = {GRAMMAR_UNKNOWN, GRAMMAR_UNKNOWN},
                                              .mask = GRAMMAR_UNKNOWN,
                                              .accepts = accepts};
    memset(m->transitions + (size_t)state * m->program->class_count, 0xFF,
           m->program->class_count * sizeof *m->transitions);
    return state;
}

// ---- closure: all places that wait for a byte ---------------------------------------------------
static void begin_closure(struct grammar_closure *w) {
    w->round++;
    w->todo_count = w->found_count = w->pending_count = w->call_count = w->seen_count = 0;
    w->accepts = false;
}

static uint32_t place_hash(struct place place) {
    uint64_t hash = (((uint64_t)place.op << 32) | place.stack) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static uint32_t seen_slot(const struct grammar_closure *w, struct place place) {
    uint32_t mask = w->seen_capacity - 1, slot = place_hash(place) & mask;
    while (w->seen_round[slot] == w->round &&
           (w->seen_keys[slot].op != place.op || w->seen_keys[slot].stack != place.stack))
        slot = (slot + 1) & mask;
    return slot;
}

// Twice the slots; what this round saw moves.
static bool grow_seen(struct grammar_machine *m) {
    struct grammar_closure *w = m->work;
    uint32_t old = w->seen_capacity, capacity = old > 0 ? 2 * old : 256;
    if (w->seen_count < old / 2) return true;
    struct place *keys = w->seen_keys;
    uint32_t *rounds = w->seen_round;
    w->seen_keys = heap_resize(NULL, capacity * sizeof *keys);
    w->seen_round = heap_resize(NULL, capacity * sizeof *rounds);
    if (!w->seen_keys || !w->seen_round || capacity > LIMIT_GRAMMAR_PLACES) {
        heap_free(w->seen_keys);
        heap_free(w->seen_round);
        w->seen_keys = keys;
        w->seen_round = rounds;
        return capacity > LIMIT_GRAMMAR_PLACES
                   ? grow(m, NULL, NULL, LIMIT_GRAMMAR_PLACES + 1, 1)
                   : out_of_memory(m);
    }
    memset(w->seen_round, 0, capacity * sizeof *rounds);
    w->seen_capacity = capacity;
    for (uint32_t i = 0; i < old; i++) {
        if (rounds[i] != w->round) continue;
        uint32_t slot = seen_slot(w, keys[i]);
        w->seen_keys[slot] = keys[i];
        w->seen_round[slot] = w->round;
    }
    heap_free(keys);
    heap_free(rounds);
    return true;
}

static void push(struct grammar_machine *m, uint32_t op, uint32_t stack) {
    struct grammar_closure *w = m->work;
    struct place place = {op, stack};
    if (m->program->ops[op].kind == GRAMMAR_OP_FAIL) return;
    if (!grow_seen(m)) return;
    uint32_t slot = seen_slot(w, place);
    if (w->seen_round[slot] == w->round) return;
    if (!GROW(m, w->todo, w->todo_capacity, w->todo_count + 1)) return;
    w->seen_round[slot] = w->round;
    w->seen_keys[slot] = place;
    w->seen_count++;
    w->todo[w->todo_count++] = place;
}

// Note that the routine returns to `frame`; enter it if this byte has not yet.
static void call(struct grammar_machine *m, uint32_t routine, struct frame frame) {
    struct grammar_closure *w = m->work;
    bool entered = w->call_round[routine] == w->round;
    if (!GROW(m, w->pending, w->pending_capacity, w->pending_count + 1)) return;
    if (!entered) {
        if (!GROW(m, w->calls, w->call_capacity, w->call_count + 1)) return;
        w->call_round[routine] = w->round;
        w->call_of[routine] = w->call_count;
        w->calls[w->call_count++] = (struct call){routine, GRAMMAR_UNKNOWN, GRAMMAR_UNKNOWN};
    }
    struct call *to = &w->calls[w->call_of[routine]];
    w->pending[w->pending_count] = (struct pending){frame, to->pending};
    to->pending = w->pending_count++;
    if (!entered)
        push(m, m->program->routines[routine].entry, STACK_OPEN | routine);
}

// `done` rounds are complete: go round once more, go on, or both, as the bounds allow.
static void repeat(struct grammar_machine *m, uint32_t op, uint32_t done, uint32_t stack) {
    const struct grammar_op *o = &m->program->ops[op];
    const struct grammar_routine *r = &m->program->routines[o->arg];
    bool low = done == COUNT_FAR_LOW, high = done == COUNT_FAR_HIGH;
    if (!low && !high && r->most == GRAMMAR_UNBOUNDED && done > r->least)
        done = r->least; // more is not told apart
    if (low || high || r->most == GRAMMAR_UNBOUNDED || done < r->most)
        call(m, o->arg, (struct frame){op, done, stack});
    if (high || (!low && done >= r->least)) push(m, o->next, stack);
}

// A routine that began at this very byte has matched the empty text: whoever called it has gone on
// already, because it is known to be nullable. Others return to every frame.
static void take_return(struct grammar_machine *m, uint32_t stack) {
    if (stack & STACK_OPEN) return;
    uint32_t words, begin = stack > 0 ? m->stack_words.ends[stack - 1] : 0;
    grammar_intern_get(&m->stack_words, stack, &words);
    for (uint32_t i = 0; i < words && m->status == LOCUM_OK; i += FRAME_WORDS) {
        struct frame frame;
        memcpy(&frame, m->stack_words.words + begin + i, sizeof frame);
        if (frame.count == COUNT_NONE) push(m, frame.op, frame.stack);
        else
            repeat(m, frame.op, frame.count >= COUNT_FAR_HIGH ? frame.count : frame.count + 1,
                   frame.stack);
    }
}

static void take_call(struct grammar_machine *m, const struct grammar_op *op, uint32_t stack) {
    bool last = m->program->ops[op->next].kind == GRAMMAR_OP_RETURN;
    call(m, op->arg, (struct frame){last ? OP_NONE : op->next, COUNT_NONE, stack});
    if (m->program->routines[op->arg].nullable) push(m, op->next, stack);
}

static void take(struct grammar_machine *m, struct place place) {
    struct grammar_closure *w = m->work;
    const struct grammar_op *op = &m->program->ops[place.op];
    switch (op->kind) {
    case GRAMMAR_OP_ACCEPT: w->accepts = true; return;
    case GRAMMAR_OP_FAIL: return;
    case GRAMMAR_OP_RETURN: take_return(m, place.stack); return;
    case GRAMMAR_OP_SET:
        if (GROW(m, w->found, w->found_capacity, w->found_count + 1))
            w->found[w->found_count++] = place;
        return;
    case GRAMMAR_OP_SPLIT:
        push(m, op->arg, place.stack);
        push(m, op->next, place.stack);
        return;
    case GRAMMAR_OP_CALL: take_call(m, op, place.stack); return;
    case GRAMMAR_OP_REPEAT: repeat(m, place.op, 0, place.stack); return;
    }
}

// ---- closing the stacks that this byte opened ---------------------------------------------------
static bool add_frame(struct grammar_machine *m, struct frame frame) {
    struct grammar_closure *w = m->work;
    if (!GROW(m, w->frames, w->frame_capacity, w->frame_count + 1)) return false;
    w->frames[w->frame_count++] = frame;
    return true;
}

// Callers have the lower rank, so the stacks that frames name are closed by now.
static bool close_call(struct grammar_machine *m, struct call *c) {
    struct grammar_closure *w = m->work;
    w->frame_count = 0;
    for (uint32_t i = c->pending; i != GRAMMAR_UNKNOWN; i = w->pending[i].next) {
        struct frame frame = w->pending[i].frame;
        if (frame.stack & STACK_OPEN) {
            frame.stack = w->calls[w->call_of[frame.stack & ~STACK_OPEN]].stack;
            LOCUM_ASSERT(frame.stack != GRAMMAR_UNKNOWN);
        }
        if (frame.op != OP_NONE) {
            if (!add_frame(m, frame)) return false;
            continue;
        }
        uint32_t words;
        grammar_intern_get(&m->stack_words, frame.stack, &words);
        for (uint32_t j = 0; j < words; j += FRAME_WORDS) {
            struct frame copied;
            memcpy(&copied, grammar_intern_get(&m->stack_words, frame.stack, &words) + j,
                   sizeof copied);
            if (!add_frame(m, copied)) return false;
        }
    }
    c->stack = add_stack(m, w->frames, w->frame_count);
    // Deeper text is not an error: it is forbidden.
    return c->stack != GRAMMAR_UNKNOWN && m->stacks[c->stack].depth <= LIMIT_GRAMMAR_DEPTH;
}

static void sort_calls(struct grammar_machine *m) {
    struct grammar_closure *w = m->work;
    const struct grammar_routine *routines = m->program->routines;
    for (uint32_t i = 1; i < w->call_count; i++) { // few, and mostly in order
        struct call moved = w->calls[i];
        uint32_t at = i;
        for (; at > 0 && routines[w->calls[at - 1].routine].rank > routines[moved.routine].rank; at--)
            w->calls[at] = w->calls[at - 1];
        w->calls[at] = moved;
    }
    for (uint32_t i = 0; i < w->call_count; i++)
        w->call_of[w->calls[i].routine] = i;
}

// The state of all places that `todo` leads to.
static uint32_t finish(struct grammar_machine *m) {
    struct grammar_closure *w = m->work;
    while (w->todo_count > 0 && m->status == LOCUM_OK)
        take(m, w->todo[--w->todo_count]);
    if (m->status != LOCUM_OK) return GRAMMAR_DEAD;
    sort_calls(m);
    for (uint32_t i = 0; i < w->call_count; i++) {
        if (!close_call(m, &w->calls[i])) return GRAMMAR_DEAD;
    }
    for (uint32_t i = 0; i < w->found_count; i++) {
        uint32_t stack = w->found[i].stack;
        if (stack & STACK_OPEN)
            w->found[i].stack = w->calls[w->call_of[stack & ~STACK_OPEN]].stack;
    }
    return add_state(m, w->found, w->found_count, w->accepts);
}

uint32_t grammar_machine_make(struct grammar_machine *machine, uint32_t state, uint32_t class) {
    const struct grammar_program *p = machine->program;
    uint32_t words, begin = state > 0 ? machine->state_words.ends[state - 1] : 0, next;
    if (machine->status != LOCUM_OK) return GRAMMAR_DEAD;
    grammar_intern_get(&machine->state_words, state, &words);
    begin_closure(machine->work);
    for (uint32_t i = 1; i < words; i += 2) {
        const struct grammar_op *op = &p->ops[machine->state_words.words[begin + i]];
        if (grammar_program_in_set(p, op->arg, p->class_byte[class]))
            push(machine, op->next, machine->state_words.words[begin + i + 1]);
    }
    next = finish(machine);
    if (machine->status == LOCUM_OK)
        machine->transitions[(size_t)state * p->class_count + class] = next;
    return next;
}

// ---- relaxing -----------------------------------------------------------------------------------
// Each round takes a byte at least, so within the horizon at most that many are completed.
static uint32_t relax_count(const struct grammar_routine *r, uint32_t done, uint32_t horizon) {
    if (done >= COUNT_FAR_HIGH) return done;
    if ((uint64_t)done + horizon < r->least) return COUNT_FAR_LOW;
    if (done + 1 >= r->least && r->most != GRAMMAR_UNBOUNDED &&
        (uint64_t)done + horizon < r->most) {
        return COUNT_FAR_HIGH;
    }
    return done;
}

// As deep as stacks are: LIMIT_GRAMMAR_DEPTH.
static uint32_t relax_stack(struct grammar_machine *m, uint32_t stack, uint32_t which) {
    if (!m->stacks[stack].counts) return stack;
    if (m->stacks[stack].relaxed[which] != GRAMMAR_UNKNOWN) return m->stacks[stack].relaxed[which];
    uint32_t words;
    const uint32_t *run = grammar_intern_get(&m->stack_words, stack, &words);
    struct frame *frames = heap_resize(NULL, words * sizeof *run);
    if (!frames) return out_of_memory(m), GRAMMAR_UNKNOWN;
    memcpy(frames, run, words * sizeof *run);
    uint32_t count = words / FRAME_WORDS, relaxed = GRAMMAR_UNKNOWN;
    for (uint32_t i = 0; i < count && m->status == LOCUM_OK; i++) {
        struct frame *frame = &frames[i];
        frame->stack = relax_stack(m, frame->stack, which);
        if (frame->count == COUNT_NONE) continue;
        const struct grammar_op *op = &m->program->ops[frame->op];
        frame->count =
            relax_count(&m->program->routines[op->arg], frame->count, m->horizon[which]);
    }
    if (m->status == LOCUM_OK) relaxed = add_stack(m, frames, count);
    heap_free(frames);
    m->stacks[stack].relaxed[which] = relaxed;
    return relaxed;
}

uint32_t grammar_machine_relax(struct grammar_machine *machine, uint32_t state, uint32_t which) {
    struct grammar_closure *w = machine->work;
    if (!machine->program->counts) return state;
    if (machine->states[state].relaxed[which] != GRAMMAR_UNKNOWN)
        return machine->states[state].relaxed[which];
    uint32_t words;
    const uint32_t *run = grammar_intern_get(&machine->state_words, state, &words);
    w->found_count = words / 2;
    if (!GROW(machine, w->found, w->found_capacity, w->found_count + 1)) return GRAMMAR_DEAD;
    memcpy(w->found, run + 1, (words - 1) * sizeof *run);
    for (uint32_t i = 0; i < w->found_count; i++) {
        w->found[i].stack = relax_stack(machine, w->found[i].stack, which);
        if (machine->status != LOCUM_OK) return GRAMMAR_DEAD;
    }
    uint32_t relaxed = add_state(machine, w->found, w->found_count, false);
    machine->states[state].relaxed[which] = relaxed;
    return relaxed;
}

// ---- text ---------------------------------------------------------------------------------------
// UTF-8 as an automaton of its own: what may follow in each phase (Unicode's table 3-7), without
// control characters, '"' and '\' among the first bytes.
struct text_step {
    uint8_t phase, first, last, next;
};
static const struct text_step text_steps[] = {
    {0, 0x20, 0x21, 0}, {0, 0x23, 0x5B, 0}, {0, 0x5D, 0x7F, 0}, {0, 0xC2, 0xDF, 1},
    {0, 0xE0, 0xE0, 4}, {0, 0xE1, 0xEC, 2}, {0, 0xED, 0xED, 5}, {0, 0xEE, 0xEF, 2},
    {0, 0xF0, 0xF0, 6}, {0, 0xF1, 0xF3, 3}, {0, 0xF4, 0xF4, 7}, {1, 0x80, 0xBF, 0},
    {2, 0x80, 0xBF, 1}, {3, 0x80, 0xBF, 2}, {4, 0xA0, 0xBF, 1}, {5, 0x80, 0x9F, 1},
    {6, 0x90, 0xBF, 2}, {7, 0x80, 0x8F, 2},
};

enum { TEXT_PAIRS_MAX = 64 }; // states of a free text: about ten
struct text_search {
    struct place pairs[TEXT_PAIRS_MAX]; // state and phase
    uint32_t count;
};

// False: the search has become too wide, which answers the question as well as a dead state does.
static bool add_pair(struct text_search *search, uint32_t state, uint32_t phase) {
    for (uint32_t i = 0; i < search->count; i++) {
        if (search->pairs[i].op == state && search->pairs[i].stack == phase) return true;
    }
    if (state == GRAMMAR_DEAD || search->count == TEXT_PAIRS_MAX) return false;
    search->pairs[search->count++] = (struct place){state, phase};
    return true;
}

static bool search_text(struct grammar_machine *m, uint32_t state) {
    struct text_search search = {.count = 0};
    if (!add_pair(&search, state, 0)) return false;
    for (uint32_t i = 0; i < search.count; i++) {
        struct place pair = search.pairs[i];
        for (size_t j = 0; j < sizeof text_steps / sizeof text_steps[0]; j++) {
            const struct text_step *step = &text_steps[j];
            if (step->phase != pair.stack) continue;
            for (uint32_t byte = step->first; byte <= step->last; byte++) {
                uint32_t next = grammar_machine_step(m, pair.op, (uint8_t)byte);
                if (!add_pair(&search, next, step->next)) return false;
            }
        }
    }
    return true;
}

bool grammar_machine_takes_text(struct grammar_machine *machine, uint32_t state) {
    if (machine->states[state].takes_text == GRAMMAR_UNASKED) {
        bool takes = search_text(machine, state);
        machine->states[state].takes_text = takes ? GRAMMAR_YES : GRAMMAR_NO;
    }
    return machine->states[state].takes_text == GRAMMAR_YES;
}

// ---- the whole ----------------------------------------------------------------------------------
static void free_closure(struct grammar_closure *w) {
    if (!w) return;
    void *arrays[] = {w->call_of, w->call_round, w->todo,  w->seen_keys, w->found,
                      w->seen_round, w->pending, w->calls, w->frames,    w->words};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        heap_free(arrays[i]);
    heap_free(w);
}

static void release(struct grammar_machine *m) {
    grammar_intern_release(&m->stack_words);
    grammar_intern_release(&m->state_words);
    heap_free(m->stacks);
    heap_free(m->states);
    heap_free(m->transitions);
}

void grammar_machine_free(struct grammar_machine *machine) {
    if (!machine) return;
    release(machine);
    free_closure(machine->work);
    heap_free(machine);
}

static struct grammar_closure *new_closure(const struct grammar_program *program) {
    struct grammar_closure *w = heap_resize(NULL, sizeof *w);
    size_t bytes = program->routine_count * sizeof *w->call_of;
    if (!w) return NULL;
    *w = (struct grammar_closure){.call_of = heap_resize(NULL, bytes),
                                  .call_round = heap_resize(NULL, bytes)};
    if (!w->call_of || !w->call_round) {
        free_closure(w);
        return NULL;
    }
    memset(w->call_round, 0, bytes);
    return w;
}

// The dead state and the bottom of all stacks, which have the number 0 each.
static bool add_firsts(struct grammar_machine *m) {
    struct frame bottom = {GRAMMAR_AT_ACCEPT, COUNT_NONE, STACK_BOTTOM};
    add_stack(m, &bottom, 1);
    add_state(m, NULL, 0, false);
    if (m->status != LOCUM_OK) return false;
    for (uint32_t class = 0; class < m->program->class_count; class++)
        m->transitions[class] = GRAMMAR_DEAD;
    return true;
}

locum_status grammar_machine_create(const struct grammar_program *program, uint32_t horizon_short,
                                    uint32_t horizon_long, size_t bytes_max,
                                    struct grammar_machine **out, locum_error *error) {
    struct grammar_machine *m = heap_resize(NULL, sizeof *m);
    *out = NULL;
    if (!m) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the grammar");
    *m = (struct grammar_machine){.program = program,
                                  .horizon = {horizon_short, horizon_long},
                                  .bytes_max = bytes_max,
                                  .work = new_closure(program)};
    if (!m->work) out_of_memory(m);
    if (m->work && add_firsts(m)) {
        begin_closure(m->work);
        push(m, program->routines[0].entry, STACK_BOTTOM);
        m->start = finish(m);
    }
    if (m->status != LOCUM_OK) {
        locum_status status = m->status;
        if (error) *error = m->error;
        grammar_machine_free(m);
        return status;
    }
    *out = m;
    return LOCUM_OK;
}

size_t grammar_machine_bytes(const struct grammar_machine *m) {
    return grammar_intern_bytes(&m->stack_words) + grammar_intern_bytes(&m->state_words) +
           m->stacks_capacity * sizeof *m->stacks + m->states_capacity * sizeof *m->states +
           m->transitions_capacity * sizeof *m->transitions;
}

// ---- trimming -----------------------------------------------------------------------------------
// Stacks that a state needs, by their old numbers, in an order that has what is below first: frames
// name stacks that were made before them, so ascending numbers do.
struct trim {
    uint32_t *moved; // [stack]: UNKNOWN: not needed, else the new number
    uint32_t *todo;
    uint32_t todo_count;
};

static void need_stack(struct trim *t, uint32_t stack) {
    if (t->moved[stack] != GRAMMAR_UNKNOWN) return;
    t->moved[stack] = 0;
    t->todo[t->todo_count++] = stack;
}

static bool move_stacks(struct grammar_machine *from, struct grammar_machine *to, struct trim *t) {
    uint32_t words;
    while (t->todo_count > 0) {
        const uint32_t *run =
            grammar_intern_get(&from->stack_words, t->todo[--t->todo_count], &words);
        for (uint32_t i = 0; i < words; i += FRAME_WORDS)
            need_stack(t, run[i + 2]);
    }
    for (uint32_t stack = 0; stack < from->stack_words.count; stack++) {
        if (t->moved[stack] == GRAMMAR_UNKNOWN) continue;
        struct grammar_closure *w = to->work;
        const uint32_t *run = grammar_intern_get(&from->stack_words, stack, &words);
        w->frame_count = 0;
        for (uint32_t i = 0; i < words; i += FRAME_WORDS) {
            uint32_t below = stack == STACK_BOTTOM ? STACK_BOTTOM : t->moved[run[i + 2]];
            if (!add_frame(to, (struct frame){run[i], run[i + 1], below})) return false;
        }
        t->moved[stack] = add_stack(to, w->frames, w->frame_count);
        if (t->moved[stack] == GRAMMAR_UNKNOWN) return false;
    }
    return true;
}

static uint32_t move_state(struct grammar_machine *from, struct grammar_machine *to, struct trim *t,
                           uint32_t state) {
    uint32_t words;
    const uint32_t *run = grammar_intern_get(&from->state_words, state, &words);
    struct grammar_closure *w = to->work;
    memset(t->moved, 0xFF, from->stack_words.count * sizeof *t->moved);
    for (uint32_t i = 1; i < words; i += 2)
        need_stack(t, run[i + 1]);
    if (!move_stacks(from, to, t)) return GRAMMAR_UNKNOWN;
    w->found_count = words / 2;
    if (!GROW(to, w->found, w->found_capacity, w->found_count + 1)) return GRAMMAR_UNKNOWN;
    for (uint32_t i = 0; i < w->found_count; i++)
        w->found[i] = (struct place){run[1 + 2 * i], t->moved[run[2 + 2 * i]]};
    uint32_t moved = add_state(to, w->found, w->found_count, from->states[state].accepts);
    return to->status == LOCUM_OK ? moved : GRAMMAR_UNKNOWN;
}

uint32_t grammar_machine_trim(struct grammar_machine *machine, uint32_t state) {
    struct grammar_machine *fresh;
    size_t bytes = (machine->stack_words.count + 1) * sizeof(uint32_t);
    if (grammar_machine_create(machine->program, machine->horizon[0], machine->horizon[1],
                               machine->bytes_max, &fresh, NULL) != LOCUM_OK) {
        return GRAMMAR_UNKNOWN;
    }
    struct trim t = {.moved = heap_resize(NULL, bytes), .todo = heap_resize(NULL, bytes)};
    uint32_t moved = t.moved && t.todo ? move_state(machine, fresh, &t, state) : GRAMMAR_UNKNOWN;
    heap_free(t.moved);
    heap_free(t.todo);
    if (moved != GRAMMAR_UNKNOWN) {
        struct grammar_machine old = *machine;
        *machine = *fresh;
        *fresh = old;
    }
    grammar_machine_free(fresh);
    return moved;
}
