// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_arithmetic.h"

#include <math.h>

#include "jinja/jinja_format.h"
#include "jinja/jinja_html.h"
#include "jinja/jinja_iterate.h"

// --- Joining strings -----------------------------------------------------------------------------

// Templates build texts by adding to them again and again. A string that was made by adding has room
// behind it; if nothing was added to it yet, the next one is put there instead of copying the whole.
struct jinja_room {
    size_t used, capacity; // bytes of data, and of marks if there are any
};

enum { ROOM_LEAST = 256 }; // shorter strings are copied

static bool one_origin(const struct jinja_string *a, const struct jinja_string *b) {
    return !a->marks && !b->marks && (a->origin == b->origin || a->size == 0 || b->size == 0);
}

static void put_marks(char *marks, const struct jinja_string *string) {
    if (string->marks) {
        memcpy(marks, string->marks, string->size);
    } else if (string->size > 0) {
        memset(marks, string->origin, string->size);
    }
}

static bool joined_in_place(const struct jinja_string *a, const struct jinja_string *b) {
    struct jinja_room *room = a->room;
    if (!room || room->used != a->size || b->size > room->capacity - room->used ||
        (!a->marks && !one_origin(a, b))) {
        return false;
    }
    // The room was made for this; strings that end before it never look there.
    if (b->size > 0) {
        memcpy((char *)(uintptr_t)a->data + a->size, b->data, b->size);
    }
    if (a->marks) {
        put_marks((char *)(uintptr_t)a->marks + a->size, b);
    }
    room->used += b->size;
    return true;
}

static bool join_apart(struct jinja_run *run, const struct jinja_string *a,
                       const struct jinja_string *b, struct jinja_string *joined) {
    size_t size = a->size + b->size, capacity = size < ROOM_LEAST ? size : 2 * size;
    bool alike = one_origin(a, b);
    char *data = arena_alloc(&run->arena, capacity);
    char *marks = alike ? NULL : arena_alloc(&run->arena, capacity);
    if (capacity > size) {
        joined->room = arena_alloc(&run->arena, sizeof *joined->room);
    }
    if (!data || (!alike && !marks) || (capacity > size && !joined->room)) {
        return jinja_fail_memory(run);
    }
    if (a->size > 0) {
        memcpy(data, a->data, a->size);
    }
    if (b->size > 0) {
        memcpy(data + a->size, b->data, b->size);
    }
    if (!alike) {
        put_marks(marks, a);
        put_marks(marks + a->size, b);
    }
    if (joined->room) {
        *joined->room = (struct jinja_room){size, capacity};
    }
    joined->data = data;
    joined->marks = marks;
    return jinja_step(run, size / 64);
}

bool jinja_join_strings(struct jinja_run *run, const struct jinja_string *a,
                        const struct jinja_string *b, struct jinja_value *out) {
    if ((a->size == 0 || b->size == 0) && !a->markup && !b->markup) {
        *out = (struct jinja_value){.kind = JINJA_STRING, .string = a->size == 0 ? b : a};
        return true;
    }
    struct jinja_string *joined = arena_alloc(&run->arena, sizeof *joined);
    if (!joined) {
        return jinja_fail_memory(run);
    }
    *joined = (struct jinja_string){.data = a->data,
                                    .marks = a->marks,
                                    .size = a->size + b->size,
                                    .count = a->count + b->count,
                                    .origin = a->origin,
                                    .room = a->room};
    if (!joined_in_place(a, b)) {
        joined->room = NULL;
        if (!join_apart(run, a, b, joined)) {
            return false;
        }
    }
    *out = (struct jinja_value){.kind = JINJA_STRING, .string = joined};
    return true;
}

static bool add_strings(struct jinja_run *run, struct jinja_value left, struct jinja_value right,
                        struct jinja_value *out) {
    bool markup = left.string->markup || right.string->markup;
    if (!markup) {
        return jinja_join_strings(run, left.string, right.string, out);
    }
    return jinja_escape(run, left, &left) && jinja_escape(run, right, &right) &&
           jinja_join_strings(run, left.string, right.string, out) &&
           jinja_mark_safe(run, *out, out);
}

// --- Lists ---------------------------------------------------------------------------------------

static bool add_lists(struct jinja_run *run, struct jinja_value left, struct jinja_value right,
                      struct jinja_value *out) {
    struct jinja_value sum;
    if (!jinja_make_list(run, (enum jinja_kind)left.kind, &sum)) {
        return false;
    }
    for (int side = 0; side < 2; side++) {
        const struct jinja_list *list = side == 0 ? left.list : right.list;
        for (size_t i = 0; i < list->count; i++) {
            if (!jinja_add(run, sum, list->items[i])) {
                return false;
            }
        }
    }
    *out = sum;
    return true;
}

static bool repeat(struct jinja_run *run, struct jinja_value value, int64_t times,
                   struct jinja_value *out) {
    struct jinja_value result;
    if (value.kind == JINJA_STRING) {
        struct jinja_text text = {0};
        size_t size = value.string->size;
        if (times > 0 && size > 0 && (uint64_t)times > run->arena.limit / size) {
            return jinja_fail_memory(run);
        }
        for (int64_t i = 0; i < times && size > 0 && !text.bytes.failed; i++) {
            jinja_text_add_string(&text, value.string);
        }
        return jinja_finish(run, &text, out);
    }
    if (!jinja_make_list(run, (enum jinja_kind)value.kind, &result)) {
        return false;
    }
    for (int64_t i = 0; i < times && value.list->count > 0; i++) {
        for (size_t k = 0; k < value.list->count; k++) {
            if (!jinja_add(run, result, value.list->items[k])) {
                return false;
            }
        }
    }
    *out = result;
    return true;
}

// --- Numbers -------------------------------------------------------------------------------------

static bool overflow(struct jinja_run *run) {
    return jinja_fail(run, "an integer does not fit in 64 bits");
}

static int64_t floor_divide(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

static bool power(struct jinja_run *run, int64_t base, int64_t exponent, struct jinja_value *out) {
    int64_t result = 1;
    if (exponent < 0) {
        return jinja_fail(run, "a negative exponent is not supported");
    }
    if (base >= -1 && base <= 1) {
        exponent = exponent > 1 ? 2 - exponent % 2 : exponent; // 1 or 2 is as good
    }
    for (; exponent > 0; exponent--) {
        if (__builtin_mul_overflow(result, base, &result)) {
            return overflow(run);
        }
    }
    *out = jinja_int(result);
    return true;
}

static bool operate_integers(struct jinja_run *run, enum jinja_operation operation, int64_t a,
                             int64_t b, struct jinja_value *out) {
    int64_t result = 0;
    bool wraps = false;
    if (b == 0 && (operation == JINJA_DIV || operation == JINJA_FLOOR_DIV ||
                   operation == JINJA_MOD)) {
        return jinja_fail(run, "division by zero");
    }
    switch (operation) {
    case JINJA_ADD:
        wraps = __builtin_add_overflow(a, b, &result);
        break;
    case JINJA_SUB:
        wraps = __builtin_sub_overflow(a, b, &result);
        break;
    case JINJA_MUL:
        wraps = __builtin_mul_overflow(a, b, &result);
        break;
    case JINJA_DIV:
        *out = jinja_float((double)a / (double)b);
        // Two roundings, unless both are exact.
        return (a <= 1LL << 53 && a >= -(1LL << 53) && b <= 1LL << 53 && b >= -(1LL << 53)) ||
               jinja_fail(run, "these integers are too large to be divided");
    case JINJA_FLOOR_DIV:
        wraps = a == INT64_MIN && b == -1;
        result = wraps ? 0 : floor_divide(a, b);
        break;
    case JINJA_MOD:
        result = b == -1 ? 0 : a - floor_divide(a, b) * b;
        break;
    case JINJA_POW:
        return power(run, a, b, out);
    }
    *out = jinja_int(result);
    return !wraps || overflow(run);
}

// Python's %: the sign of the divisor.
static double float_modulo(double a, double b) {
    double rest = fmod(a, b);
    if (rest != 0) {
        return (b < 0) != (rest < 0) ? rest + b : rest;
    }
    return copysign(0.0, b);
}

static double float_floor_divide(double a, double b) {
    double rest = float_modulo(a, b), quotient = (a - rest) / b;
    if (quotient == 0) {
        return copysign(0.0, a / b);
    }
    double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

static bool operate_floats(struct jinja_run *run, enum jinja_operation operation, double a,
                           double b, struct jinja_value *out) {
    if (b == 0 && (operation == JINJA_DIV || operation == JINJA_FLOOR_DIV ||
                   operation == JINJA_MOD)) {
        return jinja_fail(run, "division by zero");
    }
    switch (operation) {
    case JINJA_ADD:
        *out = jinja_float(a + b);
        return true;
    case JINJA_SUB:
        *out = jinja_float(a - b);
        return true;
    case JINJA_MUL:
        *out = jinja_float(a * b);
        return true;
    case JINJA_DIV:
        *out = jinja_float(a / b);
        return true;
    case JINJA_FLOOR_DIV:
        *out = jinja_float(float_floor_divide(a, b));
        return true;
    case JINJA_MOD:
        *out = jinja_float(float_modulo(a, b));
        return true;
    case JINJA_POW:
        break;
    }
    return jinja_fail(run, "** with a float is not supported");
}

static bool fail_operands(struct jinja_run *run, const char *sign, struct jinja_value left,
                          struct jinja_value right) {
    if (left.kind == JINJA_UNDEFINED || right.kind == JINJA_UNDEFINED) {
        return jinja_fail_undefined(run, left.kind == JINJA_UNDEFINED ? left : right);
    }
    return jinja_fail(run, "'%s' does not work with %s and %s", sign, jinja_value_type(left),
                      jinja_value_type(right));
}

static const char *const operation_signs[] = {
    [JINJA_ADD] = "+",        [JINJA_SUB] = "-", [JINJA_MUL] = "*",  [JINJA_DIV] = "/",
    [JINJA_FLOOR_DIV] = "//", [JINJA_MOD] = "%", [JINJA_POW] = "**",
};

static bool repeatable(struct jinja_value value) {
    return value.kind == JINJA_STRING || value.kind == JINJA_LIST || value.kind == JINJA_TUPLE;
}

bool jinja_operate(struct jinja_run *run, enum jinja_operation operation, struct jinja_value left,
                   struct jinja_value right, struct jinja_value *out) {
    int64_t i, j;
    double x, y;
    bool whole_left = jinja_value_integer(left, &i), whole_right = jinja_value_integer(right, &j);
    if (whole_left && whole_right) {
        return operate_integers(run, operation, i, j, out);
    }
    if (jinja_value_number(left, &x) && jinja_value_number(right, &y)) {
        return operate_floats(run, operation, x, y, out);
    }
    if (operation == JINJA_ADD && left.kind == right.kind) {
        if (left.kind == JINJA_STRING) {
            return add_strings(run, left, right, out);
        }
        if (left.kind == JINJA_LIST || left.kind == JINJA_TUPLE) {
            return add_lists(run, left, right, out);
        }
    }
    if (operation == JINJA_MUL && repeatable(left) && whole_right) {
        return repeat(run, left, j, out);
    }
    if (operation == JINJA_MUL && repeatable(right) && whole_left) {
        return repeat(run, right, i, out);
    }
    if (operation == JINJA_MOD && left.kind == JINJA_STRING) {
        return jinja_format_percent(run, left.string, right, out);
    }
    return fail_operands(run, operation_signs[operation], left, right);
}

bool jinja_sign(struct jinja_run *run, bool minus, struct jinja_value value,
                struct jinja_value *out) {
    int64_t integer;
    if (value.kind == JINJA_FLOAT) {
        *out = jinja_float(minus ? -value.real : value.real);
        return true;
    }
    if (!jinja_value_integer(value, &integer)) {
        return value.kind == JINJA_UNDEFINED
                   ? jinja_fail_undefined(run, value)
                   : jinja_fail(run, "a %s has no sign", jinja_value_type(value));
    }
    if (minus && __builtin_sub_overflow((int64_t)0, integer, &integer)) {
        return overflow(run);
    }
    *out = jinja_int(integer);
    return true;
}

// --- Comparisons ---------------------------------------------------------------------------------

size_t jinja_find(struct slice text, struct slice part, size_t from) {
    if (part.size == 0) {
        return from <= text.size ? from : SIZE_MAX;
    }
    while (from < text.size && part.size <= text.size - from) {
        const char *found = memchr(text.data + from, part.data[0], text.size - from - part.size + 1);
        if (!found) {
            break;
        }
        from = (size_t)(found - text.data);
        if (memcmp(found, part.data, part.size) == 0) {
            return from;
        }
        from++;
    }
    return SIZE_MAX;
}

bool jinja_contains(struct jinja_run *run, struct jinja_value container, struct jinja_value item,
                    bool *holds) {
    *holds = false;
    if (container.kind == JINJA_STRING) {
        if (item.kind != JINJA_STRING) {
            return jinja_fail(run, "'in' a str needs a str, not a %s", jinja_value_type(item));
        }
        *holds = jinja_find(jinja_value_text(container), jinja_value_text(item), 0) != SIZE_MAX;
        return jinja_step(run, container.string->size / 64);
    }
    if (container.kind == JINJA_DICT) {
        *holds = jinja_value_hashable(item) && jinja_dict_get(container.dict, item);
        return jinja_value_hashable(item) ||
               jinja_fail(run, "a %s cannot be a key", jinja_value_type(item));
    }
    struct jinja_walk walk;
    if (!jinja_walk_begin(run, container, &walk)) {
        return false;
    }
    for (bool done = false; !*holds;) {
        struct jinja_value other;
        if (!jinja_walk_next(run, &walk, &other, &done)) {
            return false;
        }
        if (done) {
            break;
        }
        *holds = jinja_value_equal(other, item);
    }
    return true;
}

static const char *const relation_signs[] = {
    [JINJA_LT] = "<", [JINJA_LE] = "<=", [JINJA_GT] = ">", [JINJA_GE] = ">="};

bool jinja_relate(struct jinja_run *run, enum jinja_relation relation, struct jinja_value left,
                  struct jinja_value right, bool *holds) {
    int order;
    double x, y;
    switch (relation) {
    case JINJA_EQ:
    case JINJA_NE:
        *holds = jinja_value_equal(left, right) == (relation == JINJA_EQ);
        return true;
    case JINJA_IN:
    case JINJA_NOT_IN:
        if (!jinja_contains(run, right, left, holds)) {
            return false;
        }
        *holds = *holds == (relation == JINJA_IN);
        return true;
    default:
        break;
    }
    if (!jinja_value_order(left, right, &order)) {
        *holds = false; // also what nan compares to
        return (jinja_value_number(left, &x) && jinja_value_number(right, &y)) ||
               fail_operands(run, relation_signs[relation], left, right);
    }
    *holds = relation == JINJA_LT   ? order < 0
             : relation == JINJA_LE ? order <= 0
             : relation == JINJA_GT ? order > 0
                                    : order >= 0;
    return true;
}
