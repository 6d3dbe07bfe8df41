// SPDX-License-Identifier: Apache-2.0
//
// Only what the makers themselves publish: model cards, READMEs, the generation_config.json beside the weights.
// The first row that fits counts. Of two rows for one name the first is the way in which the model answers by
// itself.
#include "engine/engine_card.h"

#define HF "https://huggingface.co/"

static const struct engine_card cards[] = {
    {"qwen3.6",
     LOCUM_THINKING_ON,
     {{"temp", 1}, {"top-p", 0.95f}, {"top-k", 20}, {"min-p", 0}, {"presence-penalty", 0}},
     HF "Qwen/Qwen3.6-27B"},
    {"qwen3.6",
     LOCUM_THINKING_OFF,
     {{"temp", 0.7f}, {"top-p", 0.8f}, {"top-k", 20}, {"min-p", 0}, {"presence-penalty", 1.5f}},
     HF "Qwen/Qwen3.6-27B"},
    {"qwen3.5",
     LOCUM_THINKING_ON,
     {{"temp", 1}, {"top-p", 0.95f}, {"top-k", 20}, {"min-p", 0}, {"presence-penalty", 1.5f}},
     HF "Qwen/Qwen3.5-27B"},
    {"qwen3.5",
     LOCUM_THINKING_OFF,
     {{"temp", 0.7f}, {"top-p", 0.8f}, {"top-k", 20}, {"min-p", 0}, {"presence-penalty", 1.5f}},
     HF "Qwen/Qwen3.5-27B"},
    {"deepseek r1",
     LOCUM_THINKING_UNKNOWN,
     {{"temp", 0.6f}, {"top-p", 0.95f}},
     HF "deepseek-ai/DeepSeek-R1"},
    {"qwen3 coder",
     LOCUM_THINKING_UNKNOWN,
     {{"temp", 0.7f}, {"top-p", 0.8f}, {"top-k", 20}, {"repeat-penalty", 1.05f}},
     HF "Qwen/Qwen3-Coder-30B-A3B-Instruct"},
    {"qwen3 instruct 2507",
     LOCUM_THINKING_UNKNOWN,
     {{"temp", 0.7f}, {"top-p", 0.8f}, {"top-k", 20}, {"min-p", 0}},
     HF "Qwen/Qwen3-30B-A3B-Instruct-2507"},
    {"qwen3 next instruct",
     LOCUM_THINKING_UNKNOWN,
     {{"temp", 0.7f}, {"top-p", 0.8f}, {"top-k", 20}, {"min-p", 0}},
     HF "Qwen/Qwen3-Next-80B-A3B-Instruct"},
    {"qwen3",
     LOCUM_THINKING_ON,
     {{"temp", 0.6f}, {"top-p", 0.95f}, {"top-k", 20}, {"min-p", 0}},
     HF "Qwen/Qwen3-30B-A3B"},
    {"qwen3",
     LOCUM_THINKING_OFF,
     {{"temp", 0.7f}, {"top-p", 0.8f}, {"top-k", 20}, {"min-p", 0}},
     HF "Qwen/Qwen3-30B-A3B"},
    {"gpt oss",
     LOCUM_THINKING_UNKNOWN,
     {{"temp", 1}, {"top-p", 1}},
     "https://github.com/openai/gpt-oss"},
    {"gemma 4 it",
     LOCUM_THINKING_UNKNOWN,
     {{"temp", 1}, {"top-p", 0.95f}, {"top-k", 64}},
     HF "google/gemma-4-31B-it"},
    {"gemma 3 it",
     LOCUM_THINKING_UNKNOWN,
     {{"temp", 1}, {"top-p", 0.95f}, {"top-k", 64}},
     HF "google/gemma-3-27b-it"},
    {"deepseek v4",
     LOCUM_THINKING_UNKNOWN,
     {{"temp", 1}, {"top-p", 1}},
     HF "deepseek-ai/DeepSeek-V4-Flash"},
    {"glm 4.6",
     LOCUM_THINKING_UNKNOWN,
     {{"temp", 1}, {"top-p", 0.95f}},
     "https://docs.z.ai/api-reference/llm/chat-completion"},
    {"glm 4.7",
     LOCUM_THINKING_UNKNOWN,
     {{"temp", 1}, {"top-p", 0.95f}},
     "https://docs.z.ai/api-reference/llm/chat-completion"},
    {"minimax m2",
     LOCUM_THINKING_UNKNOWN,
     {{"temp", 1}, {"top-p", 0.95f}, {"top-k", 40}},
     HF "MiniMaxAI/MiniMax-M2"},
};

// Letters as in the table: small, and one kind of separator.
static char plain(char c) {
    if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
    return c == '-' || c == '_' ? ' ' : c;
}

// Does the word stand there, between separators?
static bool stands_at(struct slice name, size_t at, struct slice word) {
    size_t end = at + word.size;
    if (end > name.size || (at > 0 && plain(name.data[at - 1]) != ' ')) return false;
    if (end < name.size && plain(name.data[end]) != ' ') return false;
    for (size_t i = 0; i < word.size; i++) {
        if (plain(name.data[at + i]) != plain(word.data[i])) return false;
    }
    return true;
}

// The rest of the name behind the word; false: it does not hold it.
static bool skip_word(struct slice *name, struct slice word) {
    for (size_t at = 0; at + word.size <= name->size; at++) {
        if (!stands_at(*name, at, word)) continue;
        *name = slice_from(*name, at + word.size);
        return true;
    }
    return false;
}

static bool holds(struct slice name, const char *words) {
    while (*words) {
        size_t size = strcspn(words, " ");
        if (!skip_word(&name, slice_make(words, size))) return false;
        words += size;
        if (*words) words++;
    }
    return true;
}

// Relatives of these names that the recommendations are not for: what continues texts instead of answering,
// reads pictures, or gives no text.
static const char *const others[] = {"base",      "vl",       "omni",  "audio",
                                     "embedding", "reranker", "guard", "safeguard"};

const struct engine_card *engine_card_find(struct slice name, locum_thinking thinking) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (holds(name, others[i])) return NULL;
    }
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        if (!holds(name, cards[i].name)) continue;
        bool any =
            cards[i].thinking == LOCUM_THINKING_UNKNOWN || thinking == LOCUM_THINKING_UNKNOWN;
        if (any || cards[i].thinking == thinking) return &cards[i];
    }
    return NULL;
}
