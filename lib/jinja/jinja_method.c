// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_method.h"

#include "jinja/jinja_iterate.h"
#include "jinja/jinja_string.h"

// --- Dicts ---------------------------------------------------------------------------------------

static bool view_of(struct jinja_value self, enum jinja_part part, struct jinja_value *out) {
    *out = (struct jinja_value){.kind = JINJA_VIEW, .part = (uint8_t)part, .dict = self.dict};
    return true;
}

static bool dict_keys(struct jinja_run *run, struct jinja_value self,
                      const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)run, (void)arguments;
    return view_of(self, JINJA_KEYS, out);
}

static bool dict_values(struct jinja_run *run, struct jinja_value self,
                        const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)run, (void)arguments;
    return view_of(self, JINJA_VALUES, out);
}

static bool dict_items(struct jinja_run *run, struct jinja_value self,
                       const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)run, (void)arguments;
    return view_of(self, JINJA_ITEMS, out);
}

static bool key_can_be(struct jinja_run *run, struct jinja_value key) {
    return jinja_value_hashable(key) ||
           jinja_fail(run, "a %s cannot be a key", jinja_value_type(key));
}

static bool dict_get(struct jinja_run *run, struct jinja_value self,
                     const struct jinja_arguments *arguments, struct jinja_value *out) {
    if (!key_can_be(run, arguments->items[0])) {
        return false;
    }
    const struct jinja_value *found = jinja_dict_get(self.dict, arguments->items[0]);
    *out = found ? *found : jinja_given(arguments, 1) ? arguments->items[1] : jinja_none();
    return true;
}

static bool dict_copy(struct jinja_run *run, struct jinja_value self,
                      const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)arguments;
    if (!jinja_dict_new(&run->arena, JINJA_DICT, out)) {
        return jinja_fail_memory(run);
    }
    for (size_t i = 0; i < self.dict->count; i++) {
        if (!jinja_set(run, *out, self.dict->entries[i].key, self.dict->entries[i].value)) {
            return false;
        }
    }
    return true;
}

static bool may_change(struct jinja_run *run, bool fixed) {
    return !fixed || jinja_fail(run, "the template may not change what it was given");
}

static bool dict_pop(struct jinja_run *run, struct jinja_value self,
                     const struct jinja_arguments *arguments, struct jinja_value *out) {
    if (!may_change(run, self.dict->fixed) || !key_can_be(run, arguments->items[0])) {
        return false;
    }
    const struct jinja_value *found = jinja_dict_get(self.dict, arguments->items[0]);
    if (!found && !jinja_given(arguments, 1)) {
        return jinja_fail(run, "there is no such key");
    }
    *out = found ? *found : arguments->items[1];
    jinja_dict_remove(self.dict, arguments->items[0]);
    return true;
}

static bool dict_setdefault(struct jinja_run *run, struct jinja_value self,
                            const struct jinja_arguments *arguments, struct jinja_value *out) {
    if (!may_change(run, self.dict->fixed) || !key_can_be(run, arguments->items[0])) {
        return false;
    }
    const struct jinja_value *found = jinja_dict_get(self.dict, arguments->items[0]);
    *out = found ? *found : jinja_given(arguments, 1) ? arguments->items[1] : jinja_none();
    return found || jinja_set(run, self, arguments->items[0], *out);
}

static bool dict_update(struct jinja_run *run, struct jinja_value self,
                        const struct jinja_arguments *arguments, struct jinja_value *out) {
    *out = jinja_none();
    if (!may_change(run, self.dict->fixed)) {
        return false;
    }
    if (arguments->count > 1 || (arguments->count == 1 && arguments->items[0].kind != JINJA_DICT)) {
        return jinja_fail(run, "update takes one dict");
    }
    for (size_t i = 0; arguments->count == 1 && i < arguments->items[0].dict->count; i++) {
        const struct jinja_entry *entry = &arguments->items[0].dict->entries[i];
        if (!jinja_set(run, self, entry->key, entry->value)) {
            return false;
        }
    }
    for (size_t i = 0; i < arguments->named_count; i++) {
        struct jinja_value key;
        if (!jinja_make_string(run, arguments->named[i].name, JINJA_TEMPLATE, &key) ||
            !jinja_set(run, self, key, arguments->named[i].value)) {
            return false;
        }
    }
    return true;
}

static bool dict_clear(struct jinja_run *run, struct jinja_value self,
                       const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)arguments;
    *out = jinja_none();
    if (!may_change(run, self.dict->fixed)) {
        return false;
    }
    *self.dict = (struct jinja_dict){0};
    return true;
}

static const struct jinja_method dict_methods[] = {
    {{"items", "", dict_items}, false},
    {{"keys", "", dict_keys}, false},
    {{"values", "", dict_values}, false},
    {{"get", "/ key | default", dict_get}, false},
    {{"copy", "", dict_copy}, false},
    {{"pop", "/ key | default", dict_pop}, true},
    {{"setdefault", "/ key | default", dict_setdefault}, true},
    {{"update", NULL, dict_update}, true},
    {{"clear", "", dict_clear}, true},
    {{"popitem", "", NULL}, true},
    {{"fromkeys", NULL, NULL}, false},
};

// --- Lists ---------------------------------------------------------------------------------------

static bool list_count(struct jinja_run *run, struct jinja_value self,
                       const struct jinja_arguments *arguments, struct jinja_value *out) {
    int64_t count = 0;
    for (size_t i = 0; i < self.list->count; i++) {
        count += jinja_value_equal(self.list->items[i], arguments->items[0]);
    }
    *out = jinja_int(count);
    return jinja_step(run, self.list->count);
}

static bool list_index(struct jinja_run *run, struct jinja_value self,
                       const struct jinja_arguments *arguments, struct jinja_value *out) {
    for (size_t i = 0; i < self.list->count; i++) {
        if (jinja_value_equal(self.list->items[i], arguments->items[0])) {
            *out = jinja_int((int64_t)i);
            return jinja_step(run, i);
        }
    }
    return jinja_fail(run, "the list has no such item");
}

static bool list_copy(struct jinja_run *run, struct jinja_value self,
                      const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)arguments;
    return jinja_collect(run, self, out);
}

static bool list_append(struct jinja_run *run, struct jinja_value self,
                        const struct jinja_arguments *arguments, struct jinja_value *out) {
    *out = jinja_none();
    return may_change(run, self.list->fixed) && jinja_add(run, self, arguments->items[0]);
}

static bool list_extend(struct jinja_run *run, struct jinja_value self,
                        const struct jinja_arguments *arguments, struct jinja_value *out) {
    struct jinja_value added;
    *out = jinja_none();
    if (!may_change(run, self.list->fixed) || !jinja_collect(run, arguments->items[0], &added)) {
        return false;
    }
    for (size_t i = 0; i < added.list->count; i++) {
        if (!jinja_add(run, self, added.list->items[i])) {
            return false;
        }
    }
    return true;
}

// The index of an argument, counted from the end if negative.
static bool place(struct jinja_run *run, struct jinja_value self,
                  const struct jinja_arguments *arguments, int64_t otherwise, int64_t *index) {
    if (!may_change(run, self.list->fixed) ||
        !jinja_integer_argument(run, arguments, 0, otherwise, index)) {
        return false;
    }
    *index += *index < 0 ? (int64_t)self.list->count : 0;
    return true;
}

static bool list_insert(struct jinja_run *run, struct jinja_value self,
                        const struct jinja_arguments *arguments, struct jinja_value *out) {
    int64_t index;
    *out = jinja_none();
    if (!place(run, self, arguments, 0, &index) || !jinja_add(run, self, arguments->items[1])) {
        return false;
    }
    size_t last = self.list->count - 1;
    size_t at = index < 0 ? 0 : (size_t)index > last ? last : (size_t)index;
    memmove(self.list->items + at + 1, self.list->items + at,
            (last - at) * sizeof *self.list->items);
    self.list->items[at] = arguments->items[1];
    return jinja_step(run, last - at);
}

static void take_out(struct jinja_list *list, size_t at) {
    list->count--;
    memmove(list->items + at, list->items + at + 1, (list->count - at) * sizeof *list->items);
}

static bool list_pop(struct jinja_run *run, struct jinja_value self,
                     const struct jinja_arguments *arguments, struct jinja_value *out) {
    int64_t index;
    if (!place(run, self, arguments, -1, &index)) {
        return false;
    }
    if (index < 0 || (size_t)index >= self.list->count) {
        return jinja_fail(run, "the list has no such item to pop");
    }
    *out = self.list->items[index];
    take_out(self.list, (size_t)index);
    return jinja_step(run, self.list->count / 16);
}

static bool list_remove(struct jinja_run *run, struct jinja_value self,
                        const struct jinja_arguments *arguments, struct jinja_value *out) {
    struct jinja_value index = {0};
    if (!may_change(run, self.list->fixed) || !list_index(run, self, arguments, &index)) {
        return false;
    }
    take_out(self.list, (size_t)index.integer);
    *out = jinja_none();
    return true;
}

static bool list_clear(struct jinja_run *run, struct jinja_value self,
                       const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)arguments;
    *out = jinja_none();
    if (!may_change(run, self.list->fixed)) {
        return false;
    }
    self.list->count = 0;
    return true;
}

static bool list_reverse(struct jinja_run *run, struct jinja_value self,
                         const struct jinja_arguments *arguments, struct jinja_value *out) {
    (void)arguments;
    *out = jinja_none();
    if (!may_change(run, self.list->fixed)) {
        return false;
    }
    for (size_t i = 0, k = self.list->count; i + 1 < k--; i++) {
        struct jinja_value item = self.list->items[i];
        self.list->items[i] = self.list->items[k];
        self.list->items[k] = item;
    }
    return jinja_step(run, self.list->count);
}

static const struct jinja_method list_methods[] = {
    {{"count", "/ value", list_count}, false},   {{"index", "/ value", list_index}, false},
    {{"copy", "", list_copy}, false},            {{"append", "/ value", list_append}, true},
    {{"extend", "/ values", list_extend}, true}, {{"insert", "/ index value", list_insert}, true},
    {{"pop", "/ | index", list_pop}, true},      {{"remove", "/ value", list_remove}, true},
    {{"clear", "", list_clear}, true},           {{"reverse", "", list_reverse}, true},
    {{"sort", NULL, NULL}, true},
};

static const struct jinja_method tuple_methods[] = {
    {{"count", "/ value", list_count}, false},
    {{"index", "/ value", list_index}, false},
};

// --- Numbers: Python has these and templates do without ------------------------------------------

static const struct jinja_method number_methods[] = {
    {{"real", NULL, NULL}, false},          {{"imag", NULL, NULL}, false},
    {{"numerator", NULL, NULL}, false},     {{"denominator", NULL, NULL}, false},
    {{"conjugate", NULL, NULL}, false},     {{"bit_length", NULL, NULL}, false},
    {{"bit_count", NULL, NULL}, false},     {{"to_bytes", NULL, NULL}, false},
    {{"is_integer", NULL, NULL}, false},    {{"hex", NULL, NULL}, false},
    {{"as_integer_ratio", NULL, NULL}, false},
};

static const struct {
    const struct jinja_method *methods;
    size_t count;
} tables[JINJA_KINDS] = {
    [JINJA_DICT] = {dict_methods, sizeof dict_methods / sizeof dict_methods[0]},
    [JINJA_LIST] = {list_methods, sizeof list_methods / sizeof list_methods[0]},
    [JINJA_TUPLE] = {tuple_methods, sizeof tuple_methods / sizeof tuple_methods[0]},
    [JINJA_RANGE] = {tuple_methods, sizeof tuple_methods / sizeof tuple_methods[0]},
    [JINJA_BOOL] = {number_methods, sizeof number_methods / sizeof number_methods[0]},
    [JINJA_INT] = {number_methods, sizeof number_methods / sizeof number_methods[0]},
    [JINJA_BIG] = {number_methods, sizeof number_methods / sizeof number_methods[0]},
    [JINJA_FLOAT] = {number_methods, sizeof number_methods / sizeof number_methods[0]},
};

const struct jinja_method *jinja_method_find(struct jinja_value object, struct slice name) {
    const struct jinja_method *methods = tables[object.kind].methods;
    size_t count = tables[object.kind].count;
    if (object.kind == JINJA_STRING) {
        methods = jinja_string_methods(&count);
    }
    for (size_t i = 0; i < count; i++) {
        if (slice_is(name, methods[i].builtin.name)) {
            return &methods[i];
        }
    }
    return NULL;
}
