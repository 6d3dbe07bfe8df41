// SPDX-License-Identifier: Apache-2.0
//
// The patterns are facts of the models that use them, from their published tokenizer files. Where
// the ports of an expression to other programs approximate it (letter cases outside ASCII), this is
// the original.
#include "token/pretokenize.h"

#include "base/check.h"
#include "token/scan_runs.h"
#include "token/scan_words.h"

enum pass_kind { PASS_END, PASS_WORDS, PASS_RUNS, PASS_TRIPLES, PASS_BLANK_END, PASS_LINES };

struct pretokenize_pass {
    enum pass_kind kind;
    union {
        const struct scan_words *words;
        const struct scan_runs *runs;
        const struct scan_triples *triples;
    } rule;
};

// ---------------------------------------------------------------------------------------------
// Rules
// ---------------------------------------------------------------------------------------------
enum {
    ALL_LETTERS = UNICODE_L | UNICODE_M,
    NO_MARK = UNICODE_SPACE | UNICODE_L | UNICODE_N, // of [^\s\p{L}\p{N}]
    NO_MARK_BUT_PS = ~(UNICODE_P | UNICODE_S)        // of [\p{P}\p{S}]
};

static const struct scan_words words_gpt2 = {
    .contractions = SCAN_CONTRACTIONS_LOWER,
    .lead_space = true,
    .letters = UNICODE_L,
    .digits = UINT32_MAX,
    .digits_space = true,
    .marks_not = NO_MARK,
};

#define WORDS_LLAMA3(digits_max)                                                        \
    .contractions = SCAN_CONTRACTIONS_ANY, .lead_not = UNICODE_L | UNICODE_N,           \
    .letters = UNICODE_L, .digits = (digits_max), .marks_not = NO_MARK, .tail = "\r\n", \
    .tail_max = UINT32_MAX, .lines = true

static const struct scan_words words_llama3 = {WORDS_LLAMA3(3)};
static const struct scan_words words_qwen2 = {WORDS_LLAMA3(1)};
static const struct scan_words words_minicpm5 = {WORDS_LLAMA3(UINT32_MAX)};

static const struct scan_words words_qwen35 = {
    .contractions = SCAN_CONTRACTIONS_ANY,
    .lead_not = UNICODE_L | UNICODE_N,
    .letters = ALL_LETTERS,
    .digits = 1,
    .marks_not = NO_MARK | UNICODE_M,
    .tail = "\r\n",
    .tail_max = UINT32_MAX,
    .lines = true,
};

static const struct scan_words words_seed_coder = {
    .contractions = SCAN_CONTRACTIONS_ANY,
    .lead_not = UNICODE_L | UNICODE_N,
    .letters = UNICODE_L,
    .digits = 1,
    .marks_not = NO_MARK,
    .lines = true,
};

static const struct scan_words words_exaone_moe = {
    .contractions = SCAN_CONTRACTIONS_ANY,
    .lead_not = UNICODE_L | UNICODE_N,
    .phrases = true,
    .digits = 1,
    .marks_not = NO_MARK,
    .tail = "\r\n/",
    .tail_max = 1,
    .lines = true,
};

#define WORDS_CASED(contractions_kind, digits_max, tail_set)                                  \
    .contractions = (contractions_kind), .lead_not = UNICODE_L | UNICODE_N, .cased = true,    \
    .digits = (digits_max), .marks_not = NO_MARK, .tail = (tail_set), .tail_max = UINT32_MAX, \
    .lines = true

static const struct scan_words words_gpt4o = {WORDS_CASED(SCAN_CONTRACTIONS_SUFFIX, 3, "\r\n/")};
static const struct scan_words words_youtu = {WORDS_CASED(SCAN_CONTRACTIONS_SUFFIX, 1, "\r\n/")};
static const struct scan_words words_tekken = {WORDS_CASED(SCAN_CONTRACTIONS_NONE, 1, "\r\n/")};
static const struct scan_words words_kimi = {WORDS_CASED(SCAN_CONTRACTIONS_SUFFIX, 3, "\r\n"),
                                             .han = true};

static const struct scan_words words_deepseek3 = {
    .mark_word = true,
    .lead_not = UNICODE_L | UNICODE_P | UNICODE_S,
    .letters = ALL_LETTERS,
    .marks_not = NO_MARK_BUT_PS,
    .tail = "\r\n",
    .tail_max = UINT32_MAX,
    .lines = true,
};

#define RANGES(list) .ranges = (list), .range_count = sizeof(list) / sizeof((list)[0])

static const struct scan_runs one_number = {.set = {.bits = UNICODE_N}, .min = 1, .max = 1};
static const struct scan_runs three_numbers = {.set = {.bits = UNICODE_N}, .min = 1, .max = 3};
static const struct scan_runs all_numbers = {
    .set = {.bits = UNICODE_N}, .min = 1, .max = UINT32_MAX};

static const struct scan_range ascii_digits[] = {{'0', '9'}};
static const struct scan_runs exactly_three_digits = {
    .set = {RANGES(ascii_digits)}, .min = 3, .max = 3};

static const struct scan_range newlines[] = {{'\n', '\n'}, {'\r', '\r'}};
static const struct scan_runs one_newline = {.set = {RANGES(newlines)}, .min = 1, .max = 1};

// [\p{P}$+<=>^~|] and, for Falcon, the backtick
static const struct scan_range default_marks[] = {{'$', '$'}, {'+', '+'}, {'<', '>'},
                                                  {'^', '^'}, {'|', '|'}, {'~', '~'}};
static const struct scan_range falcon_marks[] = {{'$', '$'}, {'+', '+'}, {'<', '>'}, {'^', '^'},
                                                 {'`', '`'}, {'|', '|'}, {'~', '~'}};
static const struct scan_runs runs_default_marks = {
    .set = {.bits = UNICODE_P, RANGES(default_marks)}, .min = 1, .max = UINT32_MAX};
static const struct scan_runs runs_falcon_marks = {
    .set = {.bits = UNICODE_P, RANGES(falcon_marks)}, .min = 1, .max = UINT32_MAX};

// The letters that DeepSeek's first tokenizers list one range at a time.
static const struct scan_range deepseek_letters[] = {
    {0x41, 0x5A},       {0x61, 0x7A},       {0xB5, 0xB5},       {0xC0, 0xD6},
    {0xD8, 0xF6},       {0xF8, 0x1BA},      {0x1BC, 0x1BF},     {0x1C4, 0x293},
    {0x295, 0x2AF},     {0x370, 0x373},     {0x376, 0x377},     {0x37B, 0x37D},
    {0x37F, 0x37F},     {0x386, 0x386},     {0x388, 0x38A},     {0x38C, 0x38C},
    {0x38E, 0x3A1},     {0x3A3, 0x3F5},     {0x3F7, 0x481},     {0x48A, 0x52F},
    {0x531, 0x556},     {0x10A0, 0x10C5},   {0x13A0, 0x13F5},   {0x13F8, 0x13FD},
    {0x1C90, 0x1CBA},   {0x1CBD, 0x1CBF},   {0x1D00, 0x1D2B},   {0x1D6B, 0x1D77},
    {0x1D79, 0x1D9A},   {0x1E00, 0x1F15},   {0x1F18, 0x1F1D},   {0x1F20, 0x1F45},
    {0x1F48, 0x1F4D},   {0x1F50, 0x1F57},   {0x1F59, 0x1F59},   {0x1F5B, 0x1F5B},
    {0x1F5D, 0x1F5D},   {0x1F5F, 0x1F7D},   {0x1F80, 0x1FB4},   {0x1FB6, 0x1FBC},
    {0x1FBE, 0x1FBE},   {0x1FC2, 0x1FC4},   {0x1FC6, 0x1FCC},   {0x1FD0, 0x1FD3},
    {0x1FD6, 0x1FDB},   {0x1FE0, 0x1FEC},   {0x1FF2, 0x1FF4},   {0x1FF6, 0x1FFC},
    {0x2102, 0x2102},   {0x2107, 0x2107},   {0x210A, 0x2113},   {0x2115, 0x2115},
    {0x2119, 0x211D},   {0x2124, 0x2124},   {0x2126, 0x2126},   {0x2128, 0x2128},
    {0x212A, 0x212D},   {0x212F, 0x2134},   {0x2139, 0x2139},   {0x213C, 0x213F},
    {0x2145, 0x2149},   {0x214E, 0x214E},   {0x2183, 0x2184},   {0x2C00, 0x2C7B},
    {0x2C7E, 0x2CE4},   {0x2CEB, 0x2CEE},   {0x2CF2, 0x2CF3},   {0xA640, 0xA66D},
    {0xA680, 0xA69B},   {0xA722, 0xA76F},   {0xA771, 0xA787},   {0xA78B, 0xA78E},
    {0xAB70, 0xABBF},   {0xFB00, 0xFB06},   {0xFB13, 0xFB17},   {0xFF21, 0xFF3A},
    {0xFF41, 0xFF5A},   {0x10400, 0x1044F}, {0x104B0, 0x104D3}, {0x104D8, 0x104FB},
    {0x10C80, 0x10CB2}, {0x10CC0, 0x10CF2}, {0x118A0, 0x118DF}, {0x1E900, 0x1E943},
};
static const struct scan_range deepseek_marks[] = {
    {0x21, 0x2F},     {0x3A, 0x7E},     {0x2018, 0x201F},
    {0x3000, 0x3002}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF5E},
};
// Far more than the "CJK" that its authors call it: the middle range begins at U+0800.
static const struct scan_range deepseek_cjk[] = {{0x800, 0x9FA5}, {0xAC00, 0xD7FF}};
static const struct scan_runs runs_deepseek_letters = {
    .set = {RANGES(deepseek_letters)}, .lead = SCAN_LEAD_BLANK, .min = 1, .max = UINT32_MAX};
static const struct scan_runs runs_deepseek_marks = {
    .set = {RANGES(deepseek_marks)}, .lead = SCAN_LEAD_BLANK, .min = 1, .max = UINT32_MAX};
static const struct scan_runs runs_deepseek_cjk = {
    .set = {RANGES(deepseek_cjk)}, .min = 1, .max = UINT32_MAX};
static const struct scan_runs runs_coder_letters = {
    .set = {.bits = UNICODE_L}, .lead = SCAN_LEAD_BLANK, .min = 1, .max = UINT32_MAX};
static const struct scan_runs runs_coder_marks = {
    .set = {.bits = UNICODE_P}, .lead = SCAN_LEAD_BLANK, .min = 1, .max = UINT32_MAX};

static const struct scan_range deepseek3_cjk[] = {{0x3040, 0x30FF}, {0x4E00, 0x9FA5}};
static const struct scan_runs runs_deepseek3_cjk = {
    .set = {RANGES(deepseek3_cjk)}, .min = 1, .max = UINT32_MAX};

static const struct scan_range korean[] = {{0x3131, 0x318E}, {0xAC00, 0xD7A3}};
static const struct scan_range wide_marks[] = {
    {0x2014, 0x2014}, {0x2018, 0x2019}, {0x201C, 0x201D}, {0x2026, 0x2026}, {0x3001, 0x303F},
    {0xFE30, 0xFE4F}, {0xFF01, 0xFF01}, {0xFF0C, 0xFF0C}, {0xFF1A, 0xFF1B},
};
static const struct scan_range bopomofo[] = {{0x3105, 0x312F}};
static const struct scan_runs runs_korean = {.set = {RANGES(korean)}, .min = 1, .max = UINT32_MAX};
static const struct scan_runs runs_wide_marks = {
    .set = {RANGES(wide_marks)}, .min = 1, .max = UINT32_MAX};
static const struct scan_runs runs_bopomofo = {
    .set = {RANGES(bopomofo)}, .min = 1, .max = UINT32_MAX};

// Han, kana, Thai, Lao, Khmer, Burmese, Hangul
static const struct scan_range afmoe_scripts[] = {
    {0xE40, 0xEFF},   {0x1000, 0x109F}, {0x1100, 0x11FF}, {0x1780, 0x17FF}, {0x2F00, 0x2FDF},
    {0x3040, 0x30FF}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xA9E0, 0xA9FF}, {0xAA60, 0xAA7F},
    {0xAC00, 0xD7AF}, {0xF900, 0xFAFF}, {0xFF65, 0xFF9F},
};
static const struct scan_runs runs_afmoe_scripts = {
    .set = {RANGES(afmoe_scripts)}, .min = 1, .max = UINT32_MAX};
static const struct scan_triples triples_of_numbers = {.bits = UNICODE_N};
static const struct scan_triples triples_of_whole_digits = {.bits = UNICODE_ND, .whole = true};

// [^(\s|.,!?...)]: what ends a word
static const struct scan_range bloom_ends[] = {
    {0x21, 0x21},   {0x28, 0x29},     {0x2C, 0x2C},     {0x2E, 0x2E},
    {0x3F, 0x3F},   {0x7C, 0x7C},     {0x60C, 0x60C},   {0x6D4, 0x6D4},
    {0x964, 0x964}, {0x2026, 0x2026}, {0x3001, 0x3002}, {0xFF0C, 0xFF0C},
};
static const struct scan_runs runs_bloom = {
    .set = {.bits = UNICODE_SPACE, RANGES(bloom_ends), .inverted = true},
    .lead = SCAN_LEAD_SPACE,
    .min = 1,
    .max = UINT32_MAX};

// ---------------------------------------------------------------------------------------------
// Patterns: the passes of a family
// ---------------------------------------------------------------------------------------------
#define WORDS(rules) \
    { .kind = PASS_WORDS, .rule.words = &(rules) }
#define RUNS(rules) \
    { .kind = PASS_RUNS, .rule.runs = &(rules) }
#define TRIPLES(rules) \
    { .kind = PASS_TRIPLES, .rule.triples = &(rules) }
#define PATTERN(name, ...) \
    static const struct pretokenize_pass pattern_##name[] = {__VA_ARGS__, {.kind = PASS_END}}

PATTERN(gpt2, WORDS(words_gpt2));
PATTERN(default, RUNS(runs_default_marks), WORDS(words_gpt2), RUNS(all_numbers),
        RUNS(exactly_three_digits));
PATTERN(falcon, RUNS(runs_falcon_marks), WORDS(words_gpt2), RUNS(exactly_three_digits));
PATTERN(starcoder, RUNS(one_number), WORDS(words_gpt2));
PATTERN(llama3, WORDS(words_llama3));
PATTERN(qwen2, WORDS(words_qwen2));
PATTERN(qwen35, WORDS(words_qwen35));
PATTERN(laguna, {.kind = PASS_LINES}, WORDS(words_qwen2));
PATTERN(minicpm5, RUNS(three_numbers), WORDS(words_minicpm5));
PATTERN(seed_coder, WORDS(words_seed_coder));
PATTERN(exaone_moe, WORDS(words_exaone_moe));
PATTERN(gpt4o, WORDS(words_gpt4o));
PATTERN(tekken, WORDS(words_tekken));
PATTERN(kimi_k2, WORDS(words_kimi));
PATTERN(tiny_aya, TRIPLES(triples_of_whole_digits), WORDS(words_gpt4o));
PATTERN(youtu, RUNS(runs_korean), RUNS(runs_wide_marks), RUNS(runs_bopomofo),
        RUNS(runs_deepseek3_cjk), WORDS(words_youtu));
PATTERN(deepseek_llm, RUNS(one_newline), RUNS(runs_deepseek_letters), RUNS(runs_deepseek_marks),
        {.kind = PASS_BLANK_END}, RUNS(runs_deepseek_cjk), RUNS(all_numbers));
PATTERN(deepseek_coder, RUNS(one_newline), RUNS(runs_coder_letters), RUNS(runs_coder_marks),
        RUNS(runs_deepseek_cjk), RUNS(one_number));
PATTERN(deepseek3, RUNS(three_numbers), RUNS(runs_deepseek3_cjk), WORDS(words_deepseek3));
PATTERN(afmoe, TRIPLES(triples_of_numbers), RUNS(runs_afmoe_scripts), WORDS(words_deepseek3));
PATTERN(bloom, RUNS(runs_bloom));
PATTERN(viking, RUNS(runs_bloom), RUNS(one_number));
PATTERN(lines, {.kind = PASS_LINES});

// ---------------------------------------------------------------------------------------------
// Names, as in tokenizer.ggml.pre
// ---------------------------------------------------------------------------------------------
enum {
    LLAMA3 = PRETOKENIZE_WHOLE | PRETOKENIZE_BOS,
    GEMMA4 = PRETOKENIZE_SPACES | PRETOKENIZE_WHOLE_LINES
};

static const struct pretokenizer pretokenizers[] = {
    {"default", pattern_default, 0},
    {"gpt-2", pattern_gpt2, 0},
    {"olmo", pattern_gpt2, 0},
    {"mpt", pattern_gpt2, 0},
    {"phi-2", pattern_gpt2, 0},
    {"jais", pattern_gpt2, 0},
    {"trillion", pattern_gpt2, 0},
    {"granite-docling", pattern_gpt2, 0},
    {"exaone4", pattern_gpt2, 0},
    {"gigachat", pattern_gpt2, 0},
    {"a.x-4.0", pattern_gpt2, 0},
    {"mellum", pattern_gpt2, 0},
    {"modern-bert", pattern_gpt2, 0},
    {"jina-es", pattern_gpt2, 0},
    {"jina-de", pattern_gpt2, 0},
    {"jina-v2-es", pattern_gpt2, 0},
    {"jina-v2-de", pattern_gpt2, 0},
    {"starcoder", pattern_starcoder, 0},
    {"refact", pattern_starcoder, 0},
    {"command-r", pattern_starcoder, 0},
    {"smollm", pattern_starcoder, 0},
    {"codeshell", pattern_starcoder, 0},
    {"exaone", pattern_starcoder, 0},
    {"minerva-7b", pattern_starcoder, 0},
    {"mellum2", pattern_starcoder, 0},
    {"falcon", pattern_falcon, 0},
    {"llama-bpe", pattern_llama3, LLAMA3},
    {"llama3", pattern_llama3, LLAMA3},
    {"llama-v3", pattern_llama3, LLAMA3},
    {"falcon3", pattern_llama3, LLAMA3},
    {"falcon-h1", pattern_llama3, LLAMA3},
    {"pixtral", pattern_llama3, LLAMA3},
    {"midm-2.0", pattern_llama3, LLAMA3},
    {"lfm2", pattern_llama3, LLAMA3},
    {"jina-v5-nano", pattern_llama3, LLAMA3},
    {"dbrx", pattern_llama3, 0},
    {"smaug-bpe", pattern_llama3, 0},
    {"glm4", pattern_llama3, 0},
    {"chatglm-bpe", pattern_llama3, 0},
    {"qwen2", pattern_qwen2, 0},
    {"deepseek-r1-qwen", pattern_qwen2, 0},
    {"kormo", pattern_qwen2, 0},
    {"f2llmv2", pattern_qwen2, 0},
    {"megrez", pattern_qwen2, 0},
    {"stablelm2", pattern_qwen2, 0},
    {"hunyuan", pattern_qwen2, 0},
    {"solar-open", pattern_qwen2, 0},
    {"grok-2", pattern_qwen2, 0},
    {"bailingmoe", pattern_qwen2, 0},
    {"bailingmoe2", pattern_qwen2, 0},
    {"llada-moe", pattern_qwen2, 0},
    {"qwen35", pattern_qwen35, 0},
    {"laguna", pattern_laguna, 0},
    {"minicpm5", pattern_minicpm5, PRETOKENIZE_WHOLE},
    {"seed-coder", pattern_seed_coder, 0},
    {"exaone-moe", pattern_exaone_moe, 0},
    {"gpt-4o", pattern_gpt4o, 0},
    {"llama4", pattern_gpt4o, 0},
    {"kanana2", pattern_gpt4o, 0},
    {"talkie", pattern_gpt4o, 0},
    {"minimax-m2", pattern_gpt4o, 0},
    {"granite-embed-multi-97m", pattern_gpt4o, PRETOKENIZE_WHOLE},
    {"tekken", pattern_tekken, LLAMA3},
    {"kimi-k2", pattern_kimi_k2, PRETOKENIZE_BY_ID},
    {"tiny_aya", pattern_tiny_aya, 0},
    {"cohere2moe", pattern_tiny_aya, 0},
    {"youtu", pattern_youtu, PRETOKENIZE_WHOLE},
    {"deepseek-llm", pattern_deepseek_llm, 0},
    {"deepseek-coder", pattern_deepseek_coder, 0},
    {"deepseek-v3", pattern_deepseek3, 0},
    {"hunyuan-dense", pattern_deepseek3, 0},
    {"joyai-llm", pattern_deepseek3, 0},
    {"afmoe", pattern_afmoe, 0},
    {"bloom", pattern_bloom, 0},
    {"poro-chat", pattern_bloom, 0},
    {"gpt3-finnish", pattern_bloom, 0},
    {"viking", pattern_viking, 0},
    {"gemma4", pattern_lines, GEMMA4},
    {"granite-embed-multi-311m", pattern_lines, GEMMA4},
    {"sarvam-moe", pattern_lines, PRETOKENIZE_SPACES},
};

enum { PRETOKENIZERS = sizeof pretokenizers / sizeof pretokenizers[0] };

const struct pretokenizer *pretokenize_at(size_t index) {
    return index < PRETOKENIZERS ? &pretokenizers[index] : NULL;
}

const struct pretokenizer *pretokenize_find(struct slice name) {
    if (name.size == 0) {
        return &pretokenizers[0];
    }
    for (size_t i = 0; i < PRETOKENIZERS; i++) {
        if (slice_is(name, pretokenizers[i].name)) {
            return &pretokenizers[i];
        }
    }
    return NULL;
}

void pretokenize_names(char text[PRETOKENIZE_NAMES_BYTES]) {
    size_t size = 0;
    for (size_t i = 0; i < PRETOKENIZERS; i++) {
        const char *name = pretokenizers[i].name;
        size_t name_size = strlen(name), gap = i > 0 ? 2 : 0;
        LOCUM_ASSERT(size + gap + name_size < PRETOKENIZE_NAMES_BYTES);
        memcpy(text + size, ", ", gap);
        memcpy(text + size + gap, name, name_size);
        size += gap + name_size;
    }
    text[size] = '\0';
}

// ---------------------------------------------------------------------------------------------
// The cursor
// ---------------------------------------------------------------------------------------------
static size_t pass_next(const struct pretokenize_pass *pass, struct scan *scan, size_t position) {
    switch (pass->kind) {
    case PASS_WORDS:
        return scan_words_next(pass->rule.words, scan, position);
    case PASS_RUNS:
        return scan_runs_next(pass->rule.runs, scan, position);
    case PASS_TRIPLES:
        return scan_triples_next(pass->rule.triples, scan, position);
    case PASS_BLANK_END:
        return scan_blank_end_next(scan, position);
    case PASS_LINES:
        return scan_lines_next(scan, position);
    case PASS_END:
        break;
    }
    LOCUM_ASSERT(false);
    return position;
}

void pretokenize_begin(struct pretokenize_cursor *cursor, const struct pretokenizer *pretokenizer,
                       struct slice text) {
    *cursor = (struct pretokenize_cursor){
        .pretokenizer = pretokenizer, .scan = {.text = text.data}, .size = text.size};
}

bool pretokenize_next(struct pretokenize_cursor *cursor, struct slice *piece) {
    size_t begin = cursor->position;
    if (begin == cursor->size) {
        return false;
    }
    const struct pretokenize_pass *pass = cursor->pretokenizer->passes;
    size_t limit = cursor->size;
    for (uint32_t i = 0; pass->kind != PASS_END; i++, pass++) {
        LOCUM_ASSERT(i < PRETOKENIZE_PASSES_MAX);
        if (cursor->ends[i] <= begin) { // the piece of this pass is used up
            cursor->scan.limit = limit;
            cursor->ends[i] = pass_next(pass, &cursor->scan, begin);
            LOCUM_ASSERT(cursor->ends[i] > begin && cursor->ends[i] <= limit);
        }
        limit = cursor->ends[i];
    }
    *piece = slice_make(cursor->scan.text + begin, limit - begin);
    cursor->position = limit;
    return true;
}
