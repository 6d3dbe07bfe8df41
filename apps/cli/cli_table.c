// SPDX-License-Identifier: Apache-2.0
//
// The tables behind parsing, help, the page docs/commands.md and the test that tries every flag.
#include "cli_flags.h"

#include <locum/locum.h>

#define RUN        (1U << CLI_RUN)
#define INSPECT    (1U << CLI_INSPECT)
#define TOKENIZE   (1U << CLI_TOKENIZE)
#define BENCH      (1U << CLI_BENCH)
#define REPORT     (1U << CLI_REPORT)
#define HELP       (1U << CLI_HELP)
#define VERSION    (1U << CLI_VERSION)
#define SAMPLES    RUN
#define MODEL_SETS (RUN | INSPECT | BENCH)
#define EVERY      (RUN | INSPECT | TOKENIZE | BENCH | REPORT | VERSION | HELP)

static const char *const sizes[] = {"auto", "all", NULL};
static const char *const ways[] = {"auto", "direct", "buffered", NULL};
static const char *const kv_types[] = {"f16", "f32", "q8_0", NULL};
static const char *const tiers[] = {"auto", "ref", "avx2", "avxvnni", "avx512", "avx512vnni", NULL};

#define U32_MOST 4294967294.0
#define I32_MOST 2147483647.0

// name, letter, kind, commands, value, least, most, choices, help
const struct cli_flag cli_flag_table[CLI_FLAGS] = {
    [CLI_PROMPT] = {"prompt", 'p', CLI_TEXT, RUN, "TEXT", 0, 0, NULL, "the prompt"},
    [CLI_FILE] = {"file", 'f', CLI_INPUT, RUN, "FILE", 0, 0, NULL, "read the prompt from FILE"},
    [CLI_PREDICT] = {"predict", 'n', CLI_INTEGER, RUN | BENCH, "N", 0, U32_MOST, NULL,
                     "tokens of the answer at most (run: until it ends or the context is full; "
                     "bench: 64)"},
    [CLI_SYSTEM] = {"system", 0, CLI_TEXT, RUN, "TEXT", 0, 0, NULL,
                    "system message; needs a chat template, which this version does not apply"},
    [CLI_RAW] = {"raw", 0, CLI_SWITCH, RUN, NULL, 0, 0, NULL,
                 "no chat template: the prompt is the whole text, and may name special tokens"},
    [CLI_IGNORE_EOS] = {"ignore-eos", 0, CLI_SWITCH, RUN, NULL, 0, 0, NULL,
                        "go on past tokens that end an answer"},
    [CLI_GRAMMAR] = {"grammar", 0, CLI_TEXT, RUN, "GBNF", 0, 0, NULL,
                     "hold the answer to a grammar: a text with ::= in it, or else a file"},
    [CLI_JSON_SCHEMA] = {"json-schema", 0, CLI_TEXT, RUN, "SCHEMA", 0, 0, NULL,
                         "hold the answer to a JSON schema: a text that begins with {, or a file"},
    [CLI_JSON_OBJECT] = {"json-object", 0, CLI_SWITCH, RUN, NULL, 0, 0, NULL,
                         "the answer is a JSON object"},
    [CLI_STRUCTURE_AFTER] = {"structure-after", 0, CLI_TEXT, RUN, "TEXT", 0, 0, NULL,
                             "the three above hold behind this text only, such as </think>"},
    [CLI_TEMP] = {"temp", 0, CLI_REAL, SAMPLES, "X", 0, 1e6, NULL,
                  "temperature (the model's own, else 0.8); 0 takes the likeliest token"},
    [CLI_TOP_K] = {"top-k", 0, CLI_INTEGER, SAMPLES, "N", -1, I32_MOST, NULL,
                   "keep the N likeliest tokens (the model's own, else 40); 0 or -1: all"},
    [CLI_TOP_P] = {"top-p", 0, CLI_REAL, SAMPLES, "X", 0, 1, NULL,
                   "keep the likeliest tokens that together have X (the model's own, else 0.95); "
                   "1: all"},
    [CLI_MIN_P] = {"min-p", 0, CLI_REAL, SAMPLES, "X", 0, 1, NULL,
                   "drop tokens below X times the likeliest (the model's own, else 0.05); 0: none"},
    [CLI_TYPICAL_P] = {"typical-p", 0, CLI_REAL, SAMPLES, "X", 0, 1, NULL,
                       "keep the tokens of most typical surprise that together have more than X "
                       "(1: all)"},
    [CLI_TOP_N_SIGMA] = {"top-n-sigma", 0, CLI_REAL, SAMPLES, "X", -1, 1e6, NULL,
                         "drop tokens more than X standard deviations of the logits below the best "
                         "(-1, as 0: none)"},
    [CLI_XTC_PROBABILITY] = {"xtc-probability", 0, CLI_REAL, SAMPLES, "X", 0, 1, NULL,
                             "how often to drop all but the least of the likely tokens (the "
                             "model's own, else 0)"},
    [CLI_XTC_THRESHOLD] = {"xtc-threshold", 0, CLI_REAL, SAMPLES, "X", 0, 1, NULL,
                           "what is likely for that (the model's own, else 0.1); above 0.5 nothing "
                           "is dropped"},
    [CLI_MIN_KEEP] = {"min-keep", 0, CLI_INTEGER, SAMPLES, "N", 0, I32_MOST, NULL,
                      "tokens that typ_p, top_p, min_p and xtc leave at least (0)"},
    [CLI_DYNATEMP_RANGE] = {"dynatemp-range", 0, CLI_REAL, SAMPLES, "X", 0, 1e6, NULL,
                            "let the temperature move by X up and down, with how open the choice "
                            "is (0)"},
    [CLI_DYNATEMP_EXP] = {"dynatemp-exp", 0, CLI_REAL, SAMPLES, "X", 0, 100, NULL,
                          "exponent of that (1)"},
    [CLI_REPEAT_LAST_N] = {"repeat-last-n", 0, CLI_INTEGER, SAMPLES, "N", -1, I32_MOST, NULL,
                           "tokens that the three penalties look back, the prompt's included (the "
                           "model's own, else 64); -1: all"},
    [CLI_REPEAT_PENALTY] = {"repeat-penalty", 0, CLI_REAL, SAMPLES, "X", 0.01, 100, NULL,
                            "divide the logits of tokens that were there by X (the model's own, "
                            "else 1)"},
    [CLI_FREQUENCY_PENALTY] = {"frequency-penalty", 0, CLI_REAL, SAMPLES, "X", -100, 100, NULL,
                               "take X from a token's logit for each time that it was there (0)"},
    [CLI_PRESENCE_PENALTY] = {"presence-penalty", 0, CLI_REAL, SAMPLES, "X", -100, 100, NULL,
                              "take X from the logits of tokens that were there (the model's own, "
                              "else 0)"},
    [CLI_DRY_MULTIPLIER] = {"dry-multiplier", 0, CLI_REAL, SAMPLES, "X", 0, 1000, NULL,
                            "take X times base ^ (length - allowed length) from tokens that would "
                            "continue a repetition (0)"},
    [CLI_DRY_BASE] = {"dry-base", 0, CLI_REAL, SAMPLES, "X", 1, 1000, NULL, "that base (1.75)"},
    [CLI_DRY_ALLOWED_LENGTH] = {"dry-allowed-length", 0, CLI_INTEGER, SAMPLES, "N", 0, I32_MOST,
                                NULL, "shorter repetitions cost nothing (2)"},
    [CLI_DRY_PENALTY_LAST_N] = {"dry-penalty-last-n", 0, CLI_INTEGER, SAMPLES, "N", -1, I32_MOST,
                                NULL, "tokens that DRY looks back (64); 0: off, -1: all"},
    [CLI_MIROSTAT] = {"mirostat", 0, CLI_INTEGER, SAMPLES, "N", 0, 2, NULL,
                      "1 or 2: mirostat of that version in place of all stages but the temperature "
                      "(the model's own, else 0)"},
    [CLI_MIROSTAT_ENT] = {"mirostat-ent", 0, CLI_REAL, SAMPLES, "X", 0, 100, NULL,
                          "surprise that it aims at, in bits (the model's own, else 5)"},
    [CLI_MIROSTAT_LR] = {"mirostat-lr", 0, CLI_REAL, SAMPLES, "X", 0, 10, NULL,
                         "how fast it learns (the model's own, else 0.1)"},
    [CLI_SAMPLERS] = {"samplers", 0, CLI_TEXT, SAMPLES, "LIST", 0, 0, NULL,
                      "the stages, in this order (the model's own, else "
                      "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature)"},
    [CLI_DRY_SEQUENCE_BREAKER] = {"dry-sequence-breaker", 0, CLI_TEXT, SAMPLES, "JSON", 0, 0, NULL,
                                  "list of texts that DRY does not look across (\"\\n\", \":\", "
                                  "\"\\\"\" and \"*\"); [] for none"},
    [CLI_LOGIT_BIAS] = {"logit-bias", 0, CLI_TEXT, SAMPLES, "LIST", 0, 0, NULL,
                        "add to logits of tokens: 15043+1.5,271-inf"},
    [CLI_LOGPROBS] = {"logprobs", 0, CLI_INTEGER, RUN, "N", 0, LOCUM_LOGPROBS_MAX, NULL,
                      "with --stats: log-probabilities of each token and of the N likeliest, as "
                      "the model itself gives them"},
    [CLI_SEED] =
        {"seed", 0, CLI_INTEGER, RUN | BENCH, "N", 0, 18446744073709551615.0, NULL,
         "seed of the random choices (run: drawn, and told in the last line and in --stats; "
         "bench: 1)"},
    [CLI_MEMORY] = {"memory", 0, CLI_SIZE, MODEL_SETS, "SIZE", 0, 0, sizes,
                    "ceiling for everything: 6G, 512MiB, a number of bytes, auto (what the machine "
                    "can spare; the default) or all (the whole model)"},
    [CLI_CTX] = {"ctx", 'c', CLI_INTEGER, MODEL_SETS, "N", 1, 4194304, NULL,
                 "tokens that prompt and answer may have together (4096, or what the model was "
                 "trained for if that is less)"},
    [CLI_THREADS] = {"threads", 't', CLI_INTEGER, MODEL_SETS, "N", 1, 256, NULL,
                     "computing threads, never more than processors (the machine's fast cores)"},
    [CLI_CHUNK] = {"chunk", 0, CLI_INTEGER, MODEL_SETS, "N", 1, 4096, NULL,
                   "tokens of the prompt in one step, never more than it has (chosen by the memory "
                   "plan)"},
    [CLI_IO] = {"io", 0, CLI_CHOICE, RUN | BENCH, "HOW", 0, 0, ways,
                "how experts are read (auto); direct goes past the page cache"},
    [CLI_KV_TYPE] = {"kv-type", 0, CLI_CHOICE, MODEL_SETS, "TYPE", 0, 0, kv_types,
                     "numbers in the KV cache (f16); q8_0 takes half the memory and is not exact"},
    [CLI_CPU] = {"cpu", 0, CLI_CHOICE, RUN | BENCH, "SET", 0, 0, tiers,
                 "instruction set (auto); the answer is the same with each"},
    [CLI_PROMPT_TOKENS] = {"prompt-tokens", 0, CLI_INTEGER, BENCH, "N", 1, 4194304, NULL,
                           "tokens of the prompt (256)"},
    [CLI_DEPTH] = {"depth", 0, CLI_INTEGER, BENCH, "N", 0, 4194304, NULL,
                   "tokens in the context before the prompt, computed and not measured (0)"},
    [CLI_WARM_UP] = {"warm-up", 0, CLI_INTEGER, BENCH, "N", 0, 4194304, NULL,
                     "tokens of a prompt that is computed first and not measured: it fills the "
                     "slots (0)"},
    [CLI_REPEAT] = {"repeat", 'r', CLI_INTEGER, BENCH, "N", 1, 10000, NULL, "repetitions (3)"},
    [CLI_PLAN] = {"plan", 0, CLI_SWITCH, RUN | BENCH, NULL, 0, 0, NULL,
                  "show the memory plan before loading"},
    [CLI_STATS] = {"stats", 0, CLI_OUTPUT, RUN, "FILE", 0, 0, NULL,
                   "write what was measured to FILE, as JSON"},
    [CLI_TRACE] = {"trace", 0, CLI_OUTPUT, RUN, "FILE", 0, 0, NULL,
                   "write which experts each token used to FILE, as CSV"},
    [CLI_OP_TRACE] = {"op-trace", 0, CLI_OUTPUT, RUN | BENCH, "FILE", 0, 0, NULL,
                      "write how long each operation took to FILE, as CSV"},
    [CLI_METRICS] = {"metrics", 0, CLI_OUTPUT, RUN | BENCH, "FILE", 0, 0, NULL,
                     "write time, reads, hits and memory of each token to FILE, as CSV"},
    [CLI_IO_TRACE] = {"io-trace", 0, CLI_OUTPUT, RUN | BENCH, "FILE", 0, 0, NULL,
                      "write each read of experts to FILE, as CSV"},
    [CLI_OUT] = {"out", 'o', CLI_OUTPUT, REPORT, "FILE", 0, 0, NULL,
                 "write the page to FILE; it must be given"},
    [CLI_NO_LOOKAHEAD] = {"no-lookahead", 0, CLI_SWITCH, RUN | BENCH, NULL, 0, 0, NULL,
                          "do not read experts ahead that the next layer will probably use; the "
                          "answer is the same"},
    [CLI_NO_PROFILE] = {"no-profile", 0, CLI_SWITCH, RUN, NULL, 0, 0, NULL,
                        "neither use nor keep which experts answers of this model use; the answer "
                        "is the same"},
    [CLI_VERIFY] = {"verify", 0, CLI_SWITCH, RUN, NULL, 0, 0, NULL,
                    "stop when an expert is read again with other bytes than the first time"},
    [CLI_TENSORS] = {"tensors", 0, CLI_SWITCH, INSPECT, NULL, 0, 0, NULL,
                     "list the tensors as well"},
    [CLI_IDS] = {"ids", 0, CLI_SWITCH, TOKENIZE, NULL, 0, 0, NULL,
                 "print the ids alone, on one line"},
    [CLI_SPECIAL] = {"special", 0, CLI_SWITCH, TOKENIZE, NULL, 0, 0, NULL,
                     "special tokens in the text become their single ids; otherwise they are text"},
    [CLI_NO_BOS] = {"no-bos", 0, CLI_SWITCH, TOKENIZE, NULL, 0, 0, NULL,
                    "no beginning-of-text token, also where the model wants one"},
    [CLI_JSON] = {"json", 0, CLI_SWITCH, INSPECT | TOKENIZE | BENCH | VERSION | HELP, NULL, 0, 0,
                  NULL, "print JSON"},
    [CLI_NO_COLOR] = {"no-color", 0, CLI_SWITCH, EVERY, NULL, 0, 0, NULL,
                      "no colour on a terminal (as does the variable NO_COLOR)"},
    [CLI_QUIET] =
        {"quiet", 'q', CLI_SWITCH, RUN | BENCH, NULL, 0, 0, NULL,
         "only warnings and errors beside the result: no numbers, and no seed that was drawn"},
    [CLI_VERBOSE] = {"verbose", 'v', CLI_SWITCH, RUN | BENCH, NULL, 0, 0, NULL,
                     "show each setting and where it came from, and what the library reports"},
    [CLI_SHOW_HELP] = {"help", 'h', CLI_SWITCH, EVERY, NULL, 0, 0, NULL, "show this text"},
};

static const char *const run_notes[] = {
    "MODEL is a GGUF file, any shard of a split one, or a folder that holds one model. Without -p "
    "and -f the prompt is read from standard input (also when - stands there).",
    "The answer goes to standard output, byte for byte; everything else to standard error. Only on "
    "a terminal is the last line of an answer ended.",
    "This version applies no chat templates: the prompt is continued as it stands. Special tokens "
    "in it are plain text unless --raw is given.",
    NULL};
static const char *const run_examples[] = {
    "locum run model.gguf -p 'Once upon a time' -n 200",
    "at most 200 tokens",
    "locum run model.gguf -f letter.txt --memory 6G",
    "a prompt from a file, in 6 GiB of memory all together",
    "git diff | locum run model.gguf --temp 0 > review.txt",
    "a prompt from a pipe; always the likeliest token",
    "locum run model.gguf -p Hello --seed 7 --stats run.json",
    "an answer that can be repeated, with its numbers",
    NULL};
static const char *const inspect_notes[] = {
    "Also for files that `locum run` cannot run: it says why. The flags about memory change the "
    "plan only; nothing is loaded.",
    NULL};
static const char *const inspect_examples[] = {"locum inspect model.gguf",
                                               "what it is, and what it takes to run it",
                                               "locum inspect model.gguf --memory 8G -c 16384",
                                               "the plan for that budget and context",
                                               "locum inspect model.gguf --json --tensors",
                                               "everything, for programs",
                                               NULL};
static const char *const tokenize_notes[] = {
    "Without TEXT, or with -, the text is read from standard input. Works on files that hold a "
    "vocabulary and no tensors.",
    NULL};
static const char *const tokenize_examples[] = {"locum tokenize model.gguf 'Hello, world'",
                                                "a line for each token: id and text",
                                                "locum tokenize model.gguf --ids - < book.txt",
                                                "the ids, on one line",
                                                "locum tokenize model.gguf --special '<|im_end|>'",
                                                "the single id of a special token",
                                                NULL};
static const char *const bench_notes[] = {
    "Each repetition reads a fresh prompt of random tokens and generates, greedily and past the "
    "end of the answer. The first begins with empty slots, unless --warm-up or --depth filled "
    "them.",
    "The context holds all of it: without -c it grows, as far as the model was trained for.", NULL};
static const char *const bench_examples[] = {
    "locum bench model.gguf --memory 6G",
    "256 tokens of prompt, 64 of answer, three times",
    "locum bench model.gguf --prompt-tokens 2000 -n 500 -r 5",
    "longer, five times",
    "locum bench model.gguf --depth 4000 --prompt-tokens 1 -c 4096",
    "how fast an answer is written behind a long text",
    "locum bench model.gguf --json > bench.json",
    "for programs",
    NULL};
static const char *const report_notes[] = {
    "A page for a browser, from what a run wrote with --metrics, --trace, --io-trace and "
    "--op-trace: "
    "where the time went, which experts were used, what more memory would bring, how long reads "
    "took. "
    "It takes whichever of the files there are, each at most once; in a folder it looks for them.",
    "The page is one file that needs no others, and shows nothing but what these files have.",
    NULL};
static const char *const report_examples[] = {
    "locum run model.gguf -p Hello --metrics run/m.csv --trace run/t.csv",
    "two of the files, into the folder run",
    "locum report run -o report.html",
    "a page from what is in it",
    "locum report m.csv io.csv -o report.html",
    "from two files",
    NULL};
static const char *const version_examples[] = {"locum version", "name and version", NULL};
static const char *const help_examples[] = {"locum help run", "one command", "locum help --json",
                                            "all commands and flags, for programs", NULL};
#define MODEL "MODEL", "a GGUF file, or a folder that holds one"
static const char *const none[] = {NULL};

const struct cli_command cli_command_table[CLI_COMMANDS] = {
    [CLI_RUN] = {"run", "MODEL [-]", 1, 2, MODEL, "continue a prompt", run_notes, run_examples},
    [CLI_INSPECT] = {"inspect", "MODEL", 1, 1, MODEL, "say what a model file holds and needs",
                     inspect_notes, inspect_examples},
    [CLI_TOKENIZE] = {"tokenize", "MODEL [TEXT | -]", 1, 2, MODEL, "turn text into token ids",
                      tokenize_notes, tokenize_examples},
    [CLI_BENCH] = {"bench", "MODEL", 1, 1, MODEL, "measure speed", bench_notes, bench_examples},
    [CLI_REPORT] = {"report", "FILES | FOLDER", 1, CLI_OPERANDS, "FILES",
                    "what a run wrote, or a folder of it",
                    "make a page with charts from what a run wrote", report_notes, report_examples},
    [CLI_VERSION] = {"version", "", 0, 0, NULL, NULL, "print the version", none, version_examples},
    [CLI_HELP] = {"help", "[COMMAND]", 0, 1, NULL, NULL, "explain a command", none, help_examples},
};
