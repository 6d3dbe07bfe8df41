// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_string.h"

#include "base/utf8.h"
#include "jinja/jinja_access.h"
#include "jinja/jinja_arithmetic.h"
#include "jinja/jinja_format.h"
#include "jinja/jinja_iterate.h"

enum { SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2 };

static struct slice rest_of(const struct jinja_string *string, size_t at) {
    return slice_make(string->data + at, string->size - at);
}

// The character before byte `at`, which is not 0.
static size_t before(const struct jinja_string *string, size_t at) {
    do {
        at--;
    } while (at > 0 && ((unsigned char)string->data[at] & 0xC0) == 0x80);
    return at;
}

// --- Case ----------------------------------------------------------------------------------------

// Behind a cased letter and before none: the rule of Unicode for a sigma that ends a word.
static bool ends_word(const struct jinja_string *string, size_t at, size_t size) {
    uint32_t code = 0;
    for (size_t i = at; i > 0;) {
        i = before(string, i);
        code = utf8_next(rest_of(string, i)).code;
        if (!jinja_is(code, JINJA_IS_IGNORABLE)) {
            break;
        }
    }
    if (code == 0 || !jinja_is(code, JINJA_IS_CASED)) {
        return false;
    }
    for (size_t i = at + size; i < string->size;) {
        struct utf8_step step = utf8_next(rest_of(string, i));
        if (!jinja_is(step.code, JINJA_IS_IGNORABLE)) {
            return !jinja_is(step.code, JINJA_IS_CASED);
        }
        i += step.size;
    }
    return true;
}

static void add_case(const struct jinja_string *string, size_t at, struct utf8_step step,
                     enum jinja_case to, struct jinja_text *text) {
    uint32_t codes[3];
    unsigned count = jinja_change_case(step.code, to, codes);
    if (to == JINJA_LOWER && step.code == SIGMA && ends_word(string, at, step.size)) {
        codes[0] = FINAL_SIGMA;
    }
    for (unsigned i = 0; i < count; i++) {
        jinja_text_add_code(text, codes[i], jinja_origin_at(string, at));
    }
}

// Which case a character is given: by its place in the string.
enum casing { CASING_LOWER, CASING_UPPER, CASING_CAPITALIZE, CASING_TITLE, CASING_SWAP };

static enum jinja_case case_for(enum casing casing, uint32_t code, bool first, bool in_word) {
    switch (casing) {
    case CASING_UPPER:
        return JINJA_UPPER;
    case CASING_CAPITALIZE:
        return first ? JINJA_TITLE : JINJA_LOWER;
    case CASING_TITLE:
        return in_word ? JINJA_LOWER : JINJA_TITLE;
    case CASING_SWAP:
        return jinja_is(code, JINJA_IS_UPPER) ? JINJA_LOWER : JINJA_UPPER;
    default:
        return JINJA_LOWER;
    }
}

static bool change(struct jinja_run *run, const struct jinja_string *string, enum casing casing,
                   struct jinja_value *out) {
    struct jinja_text text = {0};
    bool in_word = false;
    for (size_t at = 0; at < string->size;) {
        struct utf8_step step = utf8_next(rest_of(string, at));
        add_case(string, at, step, case_for(casing, step.code, at == 0, in_word), &text);
        in_word = jinja_is(step.code, JINJA_IS_CASED);
        at += step.size;
    }
    return jinja_step(run, string->size / 8) ? jinja_finish(run, &text, out)
                                             : (jinja_text_release(&text), false);
}

bool jinja_string_case(struct jinja_run *run, const struct jinja_string *string,
                       enum jinja_case to, struct jinja_value *out) {
    return change(run, string, to == JINJA_UPPER ? CASING_UPPER : CASING_LOWER, out);
}

bool jinja_string_capitalize(struct jinja_run *run, const struct jinja_string *string,
                             struct jinja_value *out) {
    return change(run, string, CASING_CAPITALIZE, out);
}

bool jinja_string_all(const struct jinja_string *string, enum jinja_class kind) {
    for (size_t at = 0; at < string->size;) {
        struct utf8_step step = utf8_next(rest_of(string, at));
        if (!jinja_is(step.code, kind)) {
            return false;
        }
        at += step.size;
    }
    return string->size > 0;
}

bool jinja_string_cased(const struct jinja_string *string, enum jinja_class kind) {
    bool found = false;
    enum jinja_class other = kind == JINJA_IS_LOWER ? JINJA_IS_UPPER : JINJA_IS_LOWER;
    for (size_t at = 0; at < string->size;) {
        struct utf8_step step = utf8_next(rest_of(string, at));
        if (jinja_is(step.code, other) || jinja_is(step.code, JINJA_IS_TITLE)) {
            return false;
        }
        found = found || jinja_is(step.code, kind);
        at += step.size;
    }
    return found;
}

// --- Strip, replace, pad -------------------------------------------------------------------------

// Is the character at `at` one of those to be stripped?
static size_t strippable(const struct jinja_string *string, size_t at,
                         const struct jinja_string *chars) {
    if (!chars) {
        return jinja_space_at(rest_of(string, at));
    }
    size_t size = utf8_next(rest_of(string, at)).size;
    struct slice character = slice_make(string->data + at, size);
    return jinja_find(slice_make(chars->data, chars->size), character, 0) != SIZE_MAX ? size : 0;
}

bool jinja_string_strip(struct jinja_run *run, const struct jinja_string *string,
                        const struct jinja_string *chars, enum jinja_side side,
                        struct jinja_value *out) {
    size_t begin = 0, end = string->size, size;
    while ((side & JINJA_LEFT) && begin < end && (size = strippable(string, begin, chars)) > 0) {
        begin += size;
    }
    while ((side & JINJA_RIGHT) && end > begin) {
        size_t last = before(string, end);
        if (strippable(string, last, chars) == 0) {
            break;
        }
        end = last;
    }
    return jinja_make_part(run, string, begin, end, out);
}

bool jinja_string_replace(struct jinja_run *run, const struct jinja_string *string,
                          const struct jinja_string *old, const struct jinja_string *by,
                          int64_t count, struct jinja_value *out) {
    struct jinja_text text = {.bytes.limit = run->arena.limit};
    struct slice whole = slice_make(string->data, string->size);
    size_t at = 0;
    for (; count != 0; count--) {
        size_t found = jinja_find(whole, slice_make(old->data, old->size), at);
        if (found == SIZE_MAX) {
            break;
        }
        jinja_text_add_part(&text, string, at, found);
        jinja_text_add_string(&text, by);
        at = found + old->size;
        if (old->size == 0) { // between all characters
            if (found == string->size) {
                break;
            }
            size_t size = utf8_next(rest_of(string, at)).size;
            jinja_text_add_part(&text, string, at, at + size);
            at += size;
        }
    }
    jinja_text_add_part(&text, string, at, string->size);
    return jinja_finish(run, &text, out);
}

bool jinja_string_pad(struct jinja_run *run, const struct jinja_string *string, int64_t width,
                      enum jinja_side side, const struct jinja_string *fill,
                      struct jinja_value *out) {
    struct jinja_text text = {.bytes.limit = run->arena.limit};
    int64_t missing = width > (int64_t)string->count ? width - (int64_t)string->count : 0;
    // Python's centre: what is left over goes to the left if the width is odd.
    int64_t left = side == JINJA_LEFT    ? missing
                   : side == JINJA_RIGHT ? 0
                                         : missing / 2 + (missing & width & 1);
    if (!jinja_step(run, (uint64_t)missing)) {
        return false;
    }
    for (int64_t i = 0; i <= missing; i++) {
        if (i == left) {
            jinja_text_add_string(&text, string);
        }
        if (i < missing && fill) {
            jinja_text_add_string(&text, fill);
        } else if (i < missing) {
            jinja_text_add_data(&text, " ");
        }
    }
    return jinja_finish(run, &text, out);
}

// --- Split ---------------------------------------------------------------------------------------

static bool add_part(struct jinja_run *run, struct jinja_value list,
                     const struct jinja_string *string, size_t begin, size_t end) {
    struct jinja_value part;
    return jinja_make_part(run, string, begin, end, &part) && jinja_add(run, list, part);
}

bool jinja_string_lines(struct jinja_run *run, const struct jinja_string *string, bool keep_ends,
                        struct jinja_value *out) {
    size_t begin = 0;
    if (!jinja_make_list(run, JINJA_LIST, out)) {
        return false;
    }
    for (size_t at = 0; at < string->size;) {
        size_t size = jinja_line_break_at(rest_of(string, at));
        if (size == 0) {
            at++;
            continue;
        }
        if (!add_part(run, *out, string, begin, keep_ends ? at + size : at)) {
            return false;
        }
        at += size;
        begin = at;
    }
    return begin == string->size || add_part(run, *out, string, begin, string->size);
}

// At white space; runs of it are one border and none is at the ends.
static bool split_words(struct jinja_run *run, const struct jinja_string *string, int64_t count,
                        struct jinja_value list) {
    size_t at = 0, size;
    for (;;) {
        while (at < string->size && (size = jinja_space_at(rest_of(string, at))) > 0) {
            at += size;
        }
        if (at == string->size) {
            return true;
        }
        size_t begin = at;
        if (count-- == 0) {
            return add_part(run, list, string, begin, string->size);
        }
        while (at < string->size && jinja_space_at(rest_of(string, at)) == 0) {
            at++;
        }
        if (!add_part(run, list, string, begin, at)) {
            return false;
        }
    }
}

static bool split_at(struct jinja_run *run, const struct jinja_string *string,
                     const struct jinja_string *separator, int64_t count,
                     struct jinja_value list) {
    size_t begin = 0;
    struct slice whole = slice_make(string->data, string->size);
    for (; count != 0; count--) {
        size_t found = jinja_find(whole, slice_make(separator->data, separator->size), begin);
        if (found == SIZE_MAX) {
            break;
        }
        if (!add_part(run, list, string, begin, found)) {
            return false;
        }
        begin = found + separator->size;
    }
    return add_part(run, list, string, begin, string->size);
}

static size_t find_last(struct slice text, struct slice part) {
    for (size_t at = text.size >= part.size ? text.size - part.size + 1 : 0; at-- > 0;) {
        if (slice_starts(slice_from(text, at), part)) {
            return at;
        }
    }
    return SIZE_MAX;
}

static void reverse(struct jinja_list *list) {
    for (size_t i = 0, k = list->count; i + 1 < k--; i++) {
        struct jinja_value item = list->items[i];
        list->items[i] = list->items[k];
        list->items[k] = item;
    }
}

static bool split_from_right(struct jinja_run *run, const struct jinja_string *string,
                             const struct jinja_string *separator, int64_t count,
                             struct jinja_value list) {
    size_t end = string->size;
    for (; count != 0; count--) {
        size_t found = find_last(slice_make(string->data, end),
                                 slice_make(separator->data, separator->size));
        if (found == SIZE_MAX) {
            break;
        }
        if (!add_part(run, list, string, found + separator->size, end)) {
            return false;
        }
        end = found;
    }
    if (!add_part(run, list, string, 0, end)) {
        return false;
    }
    reverse(list.list);
    return true;
}

static bool split_words_from_right(struct jinja_run *run, const struct jinja_string *string,
                                   int64_t count, struct jinja_value list) {
    size_t end = string->size;
    for (;;) {
        while (end > 0 && jinja_space_at(rest_of(string, before(string, end))) > 0) {
            end = before(string, end);
        }
        size_t begin = end;
        while (begin > 0 && count != 0 &&
               jinja_space_at(rest_of(string, before(string, begin))) == 0) {
            begin = before(string, begin);
        }
        if (count == 0 && end > 0) {
            if (!add_part(run, list, string, 0, end)) {
                return false;
            }
            begin = end = 0;
        }
        if (begin == end) {
            reverse(list.list);
            return true;
        }
        if (!add_part(run, list, string, begin, end)) {
            return false;
        }
        end = begin;
        count--;
    }
}

static bool split(struct jinja_run *run, struct jinja_value self,
                  const struct jinja_arguments *arguments, bool from_right,
                  struct jinja_value *out) {
    const struct jinja_string *separator = NULL;
    int64_t count;
    bool words = !jinja_given(arguments, 0) || arguments->items[0].kind == JINJA_NONE;
    if ((!words && !jinja_string_argument(run, arguments, 0, &separator)) ||
        !jinja_integer_argument(run, arguments, 1, -1, &count) ||
        !jinja_make_list(run, JINJA_LIST, out)) {
        return false;
    }
    if (!words && separator->size == 0) {
        return jinja_fail(run, "the separator is empty");
    }
    if (words) {
        return from_right ? split_words_from_right(run, self.string, count, *out)
                          : split_words(run, self.string, count, *out);
    }
    return from_right ? split_from_right(run, self.string, separator, count, *out)
                      : split_at(run, self.string, separator, count, *out);
}

// --- Methods -------------------------------------------------------------------------------------

// A method is the function of its row; these are the ones that differ in a constant only.
#define METHOD(name)                                                                               \
    static bool method_##name(struct jinja_run *run, struct jinja_value self,                      \
                              const struct jinja_arguments *arguments, struct jinja_value *out)

METHOD(lower) {
    (void)arguments;
    return change(run, self.string, CASING_LOWER, out);
}

METHOD(upper) {
    (void)arguments;
    return change(run, self.string, CASING_UPPER, out);
}

METHOD(capitalize) {
    (void)arguments;
    return change(run, self.string, CASING_CAPITALIZE, out);
}

METHOD(title) {
    (void)arguments;
    return change(run, self.string, CASING_TITLE, out);
}

METHOD(swapcase) {
    (void)arguments;
    return change(run, self.string, CASING_SWAP, out);
}

static bool strip_side(struct jinja_run *run, struct jinja_value self,
                       const struct jinja_arguments *arguments, enum jinja_side side,
                       struct jinja_value *out) {
    const struct jinja_string *chars = NULL;
    bool given = jinja_given(arguments, 0) && arguments->items[0].kind != JINJA_NONE;
    return (!given || jinja_string_argument(run, arguments, 0, &chars)) &&
           jinja_string_strip(run, self.string, chars, side, out);
}

METHOD(strip) {
    return strip_side(run, self, arguments, JINJA_BOTH, out);
}

METHOD(lstrip) {
    return strip_side(run, self, arguments, JINJA_LEFT, out);
}

METHOD(rstrip) {
    return strip_side(run, self, arguments, JINJA_RIGHT, out);
}

METHOD(split) {
    return split(run, self, arguments, false, out);
}

METHOD(rsplit) {
    return split(run, self, arguments, true, out);
}

METHOD(splitlines) {
    bool keep = jinja_given(arguments, 0) && jinja_value_true(arguments->items[0]);
    return jinja_string_lines(run, self.string, keep, out);
}

METHOD(replace) {
    const struct jinja_string *old, *by;
    int64_t count;
    return jinja_string_argument(run, arguments, 0, &old) &&
           jinja_string_argument(run, arguments, 1, &by) &&
           jinja_integer_argument(run, arguments, 2, -1, &count) &&
           jinja_string_replace(run, self.string, old, by, count, out);
}

METHOD(join) {
    struct jinja_value items;
    struct jinja_text text = {.bytes.limit = run->arena.limit};
    if (!jinja_collect(run, arguments->items[0], &items)) {
        return false;
    }
    for (size_t i = 0; i < items.list->count; i++) {
        struct jinja_value item = items.list->items[i];
        if (item.kind != JINJA_STRING) {
            jinja_text_release(&text);
            return jinja_fail(run, "join needs strings, not a %s", jinja_value_type(item));
        }
        if (i > 0) {
            jinja_text_add_string(&text, self.string);
        }
        jinja_text_add_string(&text, item.string);
    }
    return jinja_finish(run, &text, out);
}

// The bytes of self that the arguments `start` and `end` (from number `index` on) name. *none: there
// are none at all, not even an empty text.
static bool window(struct jinja_run *run, const struct jinja_string *string,
                   const struct jinja_arguments *arguments, size_t index, size_t bytes[2],
                   bool *none) {
    int64_t count = (int64_t)string->count, bounds[2] = {0, count};
    for (size_t i = 0; i < 2; i++) {
        struct jinja_value bound = arguments->items[index + i];
        if (bound.kind == JINJA_ABSENT || bound.kind == JINJA_NONE) {
            continue;
        }
        if (!jinja_integer_argument(run, arguments, index + i, 0, &bounds[i])) {
            return false;
        }
        bounds[i] += bounds[i] < 0 ? count : 0;
        bounds[i] = bounds[i] < 0 ? 0 : bounds[i];
        bounds[i] = i == 1 && bounds[i] > count ? count : bounds[i];
    }
    *none = bounds[0] > bounds[1];
    bytes[0] = *none ? 0 : jinja_byte_of(string, (size_t)bounds[0]);
    bytes[1] = *none ? 0 : jinja_byte_of(string, (size_t)bounds[1]);
    return true;
}

static bool has_affix(struct slice text, struct jinja_value affix, bool at_end) {
    struct slice part = jinja_value_text(affix);
    if (part.size > text.size) {
        return false;
    }
    return slice_starts(at_end ? slice_from(text, text.size - part.size) : text, part);
}

static bool affix(struct jinja_run *run, struct jinja_value self,
                  const struct jinja_arguments *arguments, bool at_end, struct jinja_value *out) {
    size_t bytes[2];
    bool none, found = false;
    struct jinja_value one = arguments->items[0];
    struct jinja_list single = {.items = &one, .count = 1};
    const struct jinja_list *list = one.kind == JINJA_TUPLE ? one.list : &single;
    if (!window(run, self.string, arguments, 1, bytes, &none)) {
        return false;
    }
    struct slice text = slice_make(self.string->data + bytes[0], bytes[1] - bytes[0]);
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].kind != JINJA_STRING) {
            return jinja_fail(run, "%s needs a str or a tuple of them, not a %s",
                              at_end ? "endswith" : "startswith",
                              jinja_value_type(list->items[i]));
        }
        found = found || (!none && has_affix(text, list->items[i], at_end));
    }
    *out = jinja_bool(found);
    return true;
}

METHOD(startswith) {
    return affix(run, self, arguments, false, out);
}

METHOD(endswith) {
    return affix(run, self, arguments, true, out);
}

static bool remove_affix(struct jinja_run *run, struct jinja_value self,
                         const struct jinja_arguments *arguments, bool at_end,
                         struct jinja_value *out) {
    const struct jinja_string *part;
    if (!jinja_string_argument(run, arguments, 0, &part)) {
        return false;
    }
    size_t size = self.string->size;
    bool has = has_affix(jinja_value_text(self), arguments->items[0], at_end);
    return jinja_make_part(run, self.string, has && !at_end ? part->size : 0,
                           has && at_end ? size - part->size : size, out);
}

METHOD(removeprefix) {
    return remove_affix(run, self, arguments, false, out);
}

METHOD(removesuffix) {
    return remove_affix(run, self, arguments, true, out);
}

static bool find(struct jinja_run *run, struct jinja_value self,
                 const struct jinja_arguments *arguments, bool last, int64_t *index) {
    const struct jinja_string *part;
    size_t bytes[2], characters;
    bool none;
    *index = -1;
    if (!jinja_string_argument(run, arguments, 0, &part) ||
        !window(run, self.string, arguments, 1, bytes, &none)) {
        return false;
    }
    struct slice text = slice_make(self.string->data, bytes[1]);
    struct slice wanted = slice_make(part->data, part->size);
    size_t found = last ? find_last(text, wanted) : jinja_find(text, wanted, bytes[0]);
    if (!none && found != SIZE_MAX && found >= bytes[0]) {
        jinja_count_characters(slice_make(text.data, found), &characters);
        *index = (int64_t)characters;
    }
    return jinja_step(run, text.size / 64);
}

static bool find_or_fail(struct jinja_run *run, struct jinja_value self,
                         const struct jinja_arguments *arguments, bool last,
                         struct jinja_value *out) {
    *out = jinja_int(0);
    return find(run, self, arguments, last, &out->integer) &&
           (out->integer >= 0 || jinja_fail(run, "the text is not found"));
}

METHOD(find) {
    *out = jinja_int(0);
    return find(run, self, arguments, false, &out->integer);
}

METHOD(rfind) {
    *out = jinja_int(0);
    return find(run, self, arguments, true, &out->integer);
}

METHOD(index) {
    return find_or_fail(run, self, arguments, false, out);
}

METHOD(rindex) {
    return find_or_fail(run, self, arguments, true, out);
}

METHOD(count) {
    const struct jinja_string *part;
    size_t bytes[2];
    bool none;
    *out = jinja_int(0);
    if (!jinja_string_argument(run, arguments, 0, &part) ||
        !window(run, self.string, arguments, 1, bytes, &none)) {
        return false;
    }
    struct slice text = slice_make(self.string->data, bytes[1]);
    if (part->size == 0) {
        size_t characters;
        jinja_count_characters(slice_from(text, bytes[0]), &characters);
        out->integer = none ? 0 : (int64_t)characters + 1;
        return true;
    }
    for (size_t at = bytes[0]; !none; out->integer++) {
        at = jinja_find(text, slice_make(part->data, part->size), at);
        if (at == SIZE_MAX) {
            break;
        }
        at += part->size;
    }
    return jinja_step(run, text.size / 64);
}

static bool partition(struct jinja_run *run, struct jinja_value self,
                      const struct jinja_arguments *arguments, bool last,
                      struct jinja_value *out) {
    const struct jinja_string *part;
    if (!jinja_string_argument(run, arguments, 0, &part)) {
        return false;
    }
    if (part->size == 0) {
        return jinja_fail(run, "the separator is empty");
    }
    struct slice text = jinja_value_text(self), wanted = slice_make(part->data, part->size);
    size_t found = last ? find_last(text, wanted) : jinja_find(text, wanted, 0);
    size_t absent = last ? 0 : text.size;
    size_t begin = found == SIZE_MAX ? absent : found;
    size_t end = found == SIZE_MAX ? absent : found + wanted.size;
    return jinja_make_list(run, JINJA_TUPLE, out) && add_part(run, *out, self.string, 0, begin) &&
           add_part(run, *out, self.string, begin, end) &&
           add_part(run, *out, self.string, end, text.size);
}

METHOD(partition) {
    return partition(run, self, arguments, false, out);
}

METHOD(rpartition) {
    return partition(run, self, arguments, true, out);
}

static bool pad(struct jinja_run *run, struct jinja_value self,
                const struct jinja_arguments *arguments, enum jinja_side side,
                struct jinja_value *out) {
    const struct jinja_string *fill = NULL;
    int64_t width;
    if (!jinja_integer_argument(run, arguments, 0, 0, &width) ||
        (jinja_given(arguments, 1) && !jinja_string_argument(run, arguments, 1, &fill))) {
        return false;
    }
    if (fill && fill->count != 1) {
        return jinja_fail(run, "what fills is one character");
    }
    return jinja_string_pad(run, self.string, width, side, fill, out);
}

METHOD(center) {
    return pad(run, self, arguments, JINJA_BOTH, out);
}

METHOD(ljust) {
    return pad(run, self, arguments, JINJA_RIGHT, out);
}

METHOD(rjust) {
    return pad(run, self, arguments, JINJA_LEFT, out);
}

METHOD(zfill) {
    int64_t width;
    static const struct jinja_string zero = {.data = "0", .size = 1, .count = 1};
    const struct jinja_string *string = self.string;
    bool sign = string->size > 0 && (string->data[0] == '-' || string->data[0] == '+');
    struct jinja_value rest, head;
    return jinja_integer_argument(run, arguments, 0, 0, &width) &&
           jinja_make_part(run, string, 0, sign, &head) &&
           jinja_make_part(run, string, sign, string->size, &rest) &&
           jinja_string_pad(run, rest.string, width - sign, JINJA_LEFT, &zero, &rest) &&
           jinja_join_strings(run, head.string, rest.string, out);
}

#define CLASS_METHOD(name, holds)                                                                  \
    METHOD(name) {                                                                                 \
        (void)arguments;                                                                           \
        *out = jinja_bool(holds);                                                                  \
        return jinja_step(run, self.string->size / 8);                                             \
    }

static bool all_space(const struct jinja_string *string) {
    for (size_t at = 0, size; at < string->size; at += size) {
        size = jinja_space_at(rest_of(string, at));
        if (size == 0) {
            return false;
        }
    }
    return string->size > 0;
}

static bool all_alphanumeric(const struct jinja_string *string) {
    for (size_t at = 0; at < string->size;) {
        struct utf8_step step = utf8_next(rest_of(string, at));
        if (!jinja_is(step.code, JINJA_IS_ALPHA) && !jinja_is(step.code, JINJA_IS_NUMERIC)) {
            return false;
        }
        at += step.size;
    }
    return string->size > 0;
}

CLASS_METHOD(isalpha, jinja_string_all(self.string, JINJA_IS_ALPHA))
CLASS_METHOD(isdecimal, jinja_string_all(self.string, JINJA_IS_DECIMAL))
CLASS_METHOD(isdigit, jinja_string_all(self.string, JINJA_IS_DIGIT))
CLASS_METHOD(isnumeric, jinja_string_all(self.string, JINJA_IS_NUMERIC))
CLASS_METHOD(isalnum, all_alphanumeric(self.string))
CLASS_METHOD(isspace, all_space(self.string))
CLASS_METHOD(isascii, self.string->count == self.string->size)
CLASS_METHOD(islower, jinja_string_cased(self.string, JINJA_IS_LOWER))
CLASS_METHOD(isupper, jinja_string_cased(self.string, JINJA_IS_UPPER))
CLASS_METHOD(isprintable,
             self.string->size == 0 || jinja_string_all(self.string, JINJA_IS_PRINTABLE))

METHOD(format) {
    return jinja_format_braces(run, self.string, arguments, out);
}

static const struct jinja_method string_methods[] = {
    {{"split", "| sep maxsplit", method_split}, false},
    {{"rsplit", "| sep maxsplit", method_rsplit}, false},
    {{"splitlines", "| keepends", method_splitlines}, false},
    {{"strip", "/ | chars", method_strip}, false},
    {{"lstrip", "/ | chars", method_lstrip}, false},
    {{"rstrip", "/ | chars", method_rstrip}, false},
    {{"startswith", "/ prefix | start end", method_startswith}, false},
    {{"endswith", "/ suffix | start end", method_endswith}, false},
    {{"removeprefix", "/ prefix", method_removeprefix}, false},
    {{"removesuffix", "/ suffix", method_removesuffix}, false},
    {{"replace", "/ old new | count", method_replace}, false},
    {{"lower", "", method_lower}, false},
    {{"upper", "", method_upper}, false},
    {{"capitalize", "", method_capitalize}, false},
    {{"title", "", method_title}, false},
    {{"swapcase", "", method_swapcase}, false},
    {{"join", "/ items", method_join}, false},
    {{"find", "/ sub | start end", method_find}, false},
    {{"rfind", "/ sub | start end", method_rfind}, false},
    {{"index", "/ sub | start end", method_index}, false},
    {{"rindex", "/ sub | start end", method_rindex}, false},
    {{"count", "/ sub | start end", method_count}, false},
    {{"partition", "/ sep", method_partition}, false},
    {{"rpartition", "/ sep", method_rpartition}, false},
    {{"center", "/ width | fill", method_center}, false},
    {{"ljust", "/ width | fill", method_ljust}, false},
    {{"rjust", "/ width | fill", method_rjust}, false},
    {{"zfill", "/ width", method_zfill}, false},
    {{"isalpha", "", method_isalpha}, false},
    {{"isdecimal", "", method_isdecimal}, false},
    {{"isdigit", "", method_isdigit}, false},
    {{"isnumeric", "", method_isnumeric}, false},
    {{"isalnum", "", method_isalnum}, false},
    {{"isspace", "", method_isspace}, false},
    {{"isascii", "", method_isascii}, false},
    {{"islower", "", method_islower}, false},
    {{"isupper", "", method_isupper}, false},
    {{"isprintable", "", method_isprintable}, false},
    {{"format", NULL, method_format}, false},
    {{"casefold", NULL, NULL}, false},
    {{"encode", NULL, NULL}, false},
    {{"expandtabs", NULL, NULL}, false},
    {{"format_map", NULL, NULL}, false},
    {{"isidentifier", NULL, NULL}, false},
    {{"istitle", NULL, NULL}, false},
    {{"maketrans", NULL, NULL}, false},
    {{"translate", NULL, NULL}, false},
};

const struct jinja_method *jinja_string_methods(size_t *count) {
    *count = sizeof string_methods / sizeof string_methods[0];
    return string_methods;
}
