// SPDX-License-Identifier: Apache-2.0
#include "sample/sample_dry.h"

#include "kernels/kmath.h"

#include <math.h>

bool sample_dry_is_on(const struct sample_settings *s) {
    return s->dry_multiplier != 0 && s->dry_base >= 1 && s->dry_penalty_last_n != 0;
}

// ---- sequence breakers -------------------------------------------------------------------------------
static bool breaks_alone(const struct sample_breakers *breakers, locum_token token) {
    return breakers && breakers->single[token / 64] >> token % 64 & 1;
}

// Do the tokens after the one that stands `back` from the end continue like this?
static bool follows(const struct sample_breaker *breaker, const struct sample_history *history,
                    uint32_t back) {
    if (breaker->tail_count > back) return false;
    for (uint32_t i = 0; i < breaker->tail_count; i++) {
        if (sample_history_at(history, back - 1 - i) != breaker->tail[i]) return false;
    }
    return true;
}

// Tokens of the breaker that begins there, 0: none does.
static uint32_t breaker_at(const struct sample_breakers *breakers,
                           const struct sample_history *history, uint32_t back) {
    locum_token token = sample_history_at(history, back);
    uint32_t longest = breaks_alone(breakers, token) ? 1 : 0;
    size_t low = 0, high = breakers->sequence_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (breakers->sequences[middle].head < token)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < breakers->sequence_count && breakers->sequences[low].head == token; low++) {
        const struct sample_breaker *breaker = &breakers->sequences[low];
        if (breaker->tail_count + 1 > longest && follows(breaker, history, back))
            longest = breaker->tail_count + 1;
    }
    return longest;
}

// Tokens behind the last breaker among the last `window`.
static uint32_t tokens_unbroken(const struct sample_breakers *breakers,
                                const struct sample_history *history, uint32_t window) {
    for (uint32_t back = 0; breakers && back < window; back++) {
        uint32_t tokens = breaker_at(breakers, history, back);
        if (tokens > 0) return back + 1 - tokens;
    }
    return window;
}

// ---- repetitions ---------------------------------------------------------------------------------------
// repeats[k]: how many of the last tokens also end k tokens before the end, the Z function of the reversed
// sequence (Gusfield 1997): linear, because the rightmost stretch that is known to be equal is never
// compared again.
static void find_repeats(const struct sample_history *history, uint32_t window, uint32_t *repeats) {
    uint32_t left = 0, right = 0; // [left, right) equals the beginning
    for (uint32_t k = 1; k < window; k++) {
        uint32_t n = 0;
        if (k < right) n = repeats[k - left] < right - k ? repeats[k - left] : right - k;
        while (k + n < window && sample_history_at(history, n) == sample_history_at(history, k + n))
            n++;
        repeats[k] = n;
        if (k + n > right) {
            left = k;
            right = k + n;
        }
    }
}

static float penalty_of(const struct sample_settings *s, uint32_t repeats) {
    double base = (double)s->dry_base, exponent = (double)repeats - s->dry_allowed_length;
    const double largest = 88.7228391; // ln of the largest float32
    if (base > 1.000001 && exponent > floor(largest / kmath_log(base)))
        exponent = floor(largest / kmath_log(base));
    return s->dry_multiplier * (float)kmath_pow(base, exponent);
}

void sample_dry_apply(const struct sample_stage_input *in) {
    const struct sample_settings *s = in->settings;
    struct sample_list *list = in->list;
    const struct sample_history *history = in->history;
    uint32_t window = sample_history_count(history);
    if (window > in->window) window = in->window;
    if (s->dry_penalty_last_n >= 0 && (uint32_t)s->dry_penalty_last_n < window)
        window = (uint32_t)s->dry_penalty_last_n;
    if (window <= (uint32_t)s->dry_allowed_length) return;
    uint32_t limit = tokens_unbroken(s->breakers, history, window);
    if (limit < (uint32_t)s->dry_allowed_length) return;
    find_repeats(history, window, in->repeats);
    sample_list_index(list);
    for (uint32_t k = 1; k < window; k++)
        sample_list_set_note(list, sample_history_at(history, k - 1), 0);
    for (uint32_t k = 1; k < window; k++) {
        locum_token next = sample_history_at(history, k - 1); // it followed there
        uint32_t n = in->repeats[k] < limit ? in->repeats[k] : limit;
        if (n >= (uint32_t)s->dry_allowed_length && n + 1 > sample_list_note(list, next))
            sample_list_set_note(list, next, n + 1);
    }
    for (uint32_t k = 1; k < window; k++) {
        locum_token next = sample_history_at(history, k - 1);
        uint32_t note = sample_list_note(list, next), place = sample_list_place_of(list, next);
        if (note == 0 || place == SAMPLE_LIST_ABSENT || breaks_alone(s->breakers, next)) continue;
        list->logits[place] -= penalty_of(s, note - 1);
        sample_list_set_note(list, next, 0);
    }
    if (list->sorted) sample_list_sort(list);
}
