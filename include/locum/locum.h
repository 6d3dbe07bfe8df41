// SPDX-License-Identifier: Apache-2.0
//
// Locum: run Mixture-of-Experts language models that are bigger than memory.
//
// This is the whole stable API. Order of use:
//
//     locum_file_open       read the directory of a GGUF model (all shards, no weights)
//     locum_file_plan       what a set of options would cost in memory (optional)
//     locum_model_open      load dense weights, make the slot pool; the file handle may be closed after
//     locum_session_open    one conversation: its own KV cache
//     locum_generate        a prompt in, events out; several calls continue the same session
//     ..._close             in any order that closes sessions before their model
//
// Rules that hold for every function
//   Ownership  What a *_open or *_create returns is closed by the caller with the matching *_close,
//              which accepts NULL. Strings and arrays returned live as long as their handle.
//   Threads    Different models may be used from different threads. One model and its sessions
//              belong to one thread at a time; locum_session_cancel alone may come from any thread.
//   Errors     A status other than LOCUM_OK fills the caller's locum_error (if not NULL) with one
//              sentence that names the file, tensor, key or field. The library never prints, exits,
//              reads the environment or installs signal handlers.
//   Options    Every option structure begins with struct_size, filled by its *_init function.
//              A shorter one comes from an older caller; a longer one with a non-zero tail is refused.
//   Units      Bytes, seconds, tokens, unless the name says otherwise.
#ifndef LOCUM_LOCUM_H
#define LOCUM_LOCUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(LOCUM_BUILD_SHARED) && defined(__GNUC__)
#define LOCUM_API __attribute__((visibility("default")))
#else
#define LOCUM_API
#endif

// Codes are stable: numbers are never reused, new ones are appended within their group.
#define LOCUM_STATUS_LIST(X)                                                            \
    X(OK, 0, "success")                                                                 \
    X(E_ARGUMENT, 1, "an argument is invalid")                                          \
    X(E_OUT_OF_MEMORY, 2, "the system gave no memory")                                  \
    X(E_SYSTEM, 3, "a system call failed")                                              \
    X(E_NOT_FOUND, 10, "the file does not exist or cannot be opened")                   \
    X(E_IO, 11, "reading the file failed")                                              \
    X(E_FORMAT, 12, "the file is damaged or malformed")                                 \
    X(E_UNSUPPORTED, 13, "the file is valid but needs something that is not supported") \
    X(E_BUDGET, 20, "the memory budget is too small")                                   \
    X(E_CONTEXT, 21, "the text does not fit into the context")                          \
    X(E_NUMERIC, 30, "the computation met a value that is not a number")                \
    X(E_CANCELLED, 31, "the request was cancelled")

typedef enum locum_status {
#define LOCUM_STATUS_ENUM(name, code, sentence) LOCUM_##name = code,
    LOCUM_STATUS_LIST(LOCUM_STATUS_ENUM)
#undef LOCUM_STATUS_ENUM
} locum_status;

LOCUM_API const char *locum_status_name(locum_status status);     // "LOCUM_E_IO"
LOCUM_API const char *locum_status_sentence(locum_status status); // "reading the file failed"
LOCUM_API const char *locum_version(void);                        // "0.1.0"

enum { LOCUM_ERROR_TEXT_MAX = 1024 };
typedef struct locum_error {
    locum_status status;
    char text[LOCUM_ERROR_TEXT_MAX]; // one sentence, UTF-8, no newline
} locum_error;

typedef enum locum_log_level {
    LOCUM_LOG_DEBUG,
    LOCUM_LOG_INFO,
    LOCUM_LOG_NOTICE,
    LOCUM_LOG_WARN
} locum_log_level;
typedef void (*locum_log_fn)(void *user, locum_log_level level, const char *text);

// ---------------------------------------------------------------------------------------------
// Model files
// ---------------------------------------------------------------------------------------------
typedef struct locum_file locum_file;

// path: a GGUF file, any shard of a split one, or a folder that holds one model.
LOCUM_API locum_status locum_file_open(const char *path, locum_file **out, locum_error *error);
LOCUM_API void locum_file_close(locum_file *file);

// What the directory says, also for files that cannot be run. Zero or NULL: unknown / absent.
typedef struct locum_file_info {
    const char *path;         // first shard
    const char *architecture; // general.architecture
    const char *name;         // general.name
    const char *quantisation; // e.g. "Q4_K 62 %, Q6_K 24 %, F32 14 %", by bytes
    const char *tokenizer;    // e.g. "gpt2 / qwen2"
    const char *unsupported;  // NULL: `run` can run it; else one sentence why not
    uint32_t shards;
    uint32_t gguf_version;
    uint64_t file_bytes, tensors, unknown_tensors, metadata_count;
    uint64_t parameters_total, parameters_active; // active: used for one token
    uint32_t layers, moe_layers, embedding, context_trained, vocabulary;
    uint32_t heads, heads_kv, head_size; // of the first attention layer
    uint32_t experts, experts_used;
    uint64_t dense_bytes, expert_bytes_total, expert_bytes_max; // max: the largest single expert
    uint64_t demand_bytes_per_token; // expert bytes that one token touches, no reuse
    uint64_t kv_bytes_per_token;     // all layers, with the f16 cache
    bool has_chat_template;
} locum_file_info;
LOCUM_API void locum_file_get_info(const locum_file *file, locum_file_info *out);

typedef struct locum_tensor_info {
    const char *name;
    const char *type; // "Q4_K", or "type 200" if unknown
    uint32_t dims;
    uint64_t shape[4]; // shape[0] is contiguous
    uint64_t bytes;    // 0 if the type is unknown
    uint32_t shard;
    uint64_t offset; // absolute, within its shard
} locum_tensor_info;
LOCUM_API bool locum_file_get_tensor(const locum_file *file, uint64_t index,
                                     locum_tensor_info *out);

// Metadata value number `index` as text (arrays are shortened); false past the end.
LOCUM_API bool locum_file_get_metadata(const locum_file *file, uint64_t index, const char **key,
                                       char *value, size_t value_max);

typedef struct locum_setting {
    const char *name, *value, *source;
} locum_setting;
// How a request that gives nothing samples, as far as the file tells (sources: "file", "card", "default").
// False past the end, and for a file whose settings are out of range, which cannot be opened as a model.
LOCUM_API bool locum_file_get_sampling(const locum_file *file, uint32_t index, locum_setting *out);
// The page that a value of source "card" is from; NULL: there is none.
LOCUM_API const char *locum_file_sampling_card(const locum_file *file);

// ---------------------------------------------------------------------------------------------
// Options and memory plan
// ---------------------------------------------------------------------------------------------
typedef enum locum_io { LOCUM_IO_AUTO, LOCUM_IO_DIRECT, LOCUM_IO_BUFFERED } locum_io;
// Q8_0: half the memory of F16, at the price of exactness: an answer may be another one (told to log).
typedef enum locum_kv_type { LOCUM_KV_F16, LOCUM_KV_F32, LOCUM_KV_Q8_0 } locum_kv_type;
typedef enum locum_phase {
    LOCUM_PHASE_LOAD,
    LOCUM_PHASE_PROMPT,
    LOCUM_PHASE_ANSWER,
    LOCUM_PHASE_TOKENIZE // of a long text; done and total are bytes
} locum_phase;

#define LOCUM_MEMORY_AUTO UINT64_C(0) // available memory and container limit, minus headroom
#define LOCUM_MEMORY_ALL  UINT64_MAX  // whatever holds the whole model

// Return true to stop: the call then ends with LOCUM_E_CANCELLED.
typedef bool (*locum_progress_fn)(void *user, locum_phase phase, uint64_t done, uint64_t total);

typedef struct locum_tokenizer locum_tokenizer;

typedef struct locum_options {
    uint32_t struct_size;
    uint32_t context; // tokens a session can hold; 0: min(trained, 4096)
    uint64_t
        memory; // one ceiling in bytes for weights, KV, scratch, slots and fixed; or LOCUM_MEMORY_*
    uint32_t threads; // 0: from affinity, quota and core kinds; never more than processors
    uint32_t chunk;   // prompt tokens a step, 0: chosen by the plan; never changes the answer
    locum_io io;
    locum_kv_type kv_type;
    const char *cpu; // NULL or "auto", "ref", "avx2", "avxvnni", "avx512", "avx512vnni"
    locum_log_fn log;
    locum_progress_fn progress;
    void *user;             // for both callbacks
    const char *trace_path; // routing trace (CSV), NULL: none
    // Opened from the same file, to be used as the model's; the host closes it after the model.
    // NULL: the model makes its own.
    const locum_tokenizer *tokenizer;
    const char *op_trace_path; // time by operation (CSV), written when the model is closed; NULL: none
    // Do not read experts ahead that the next layer will probably choose. Never changes the answer.
    bool no_lookahead;
    // Written when the model is closed, NULL: none. A row for each step; a row for each read of experts.
    const char *metrics_path, *io_trace_path;
    // A folder of the host's for what is worth knowing in the next run, NULL: none. How often answers used
    // each expert is kept there when the model is closed, unless no_profile, and the next time the most used
    // ones are read while nothing else is. Never changes the answer. Folders are made as they are needed;
    // what cannot be read or written there is told to log.
    const char *cache_path;
    bool no_profile;
    // Compare the bytes of an expert with those of its first read, each time it is read again: another
    // result is LOCUM_E_IO. For a drive, memory or file that is not trusted.
    bool verify;
} locum_options;
LOCUM_API void locum_options_init(locum_options *options);

typedef struct locum_memory_plan {
    uint64_t floor;       // least budget that can run this file with these options
    uint64_t recommended; // past this, more memory brings little
    uint64_t budget;      // what was asked for, or chosen for AUTO/ALL
    uint64_t dense, kv, scratch, slots, fixed; // their sum is at most budget
    uint64_t recurrent; // state of recurrent layers and its checkpoint; belongs to the sum as well
    uint64_t slots_floor, experts_total;       // least slot bytes; bytes of all experts
    uint32_t context, chunk, threads;
    uint32_t context_max; // the largest context that the budget allows
    bool streaming;       // experts are read on demand: not all of them fit
} locum_memory_plan;

// LOCUM_E_BUDGET when the budget is below the floor: the text has the arithmetic, and *out is filled with
// what the floor is made of.
LOCUM_API locum_status locum_file_plan(const locum_file *file, const locum_options *options,
                                       locum_memory_plan *out, locum_error *error);

// ---------------------------------------------------------------------------------------------
// Tokenizer: also from files that hold a vocabulary and no tensors
// ---------------------------------------------------------------------------------------------
typedef int32_t locum_token;

// options (may be NULL): log, progress and user count. A text that the vocabulary cannot say is told
// to log, and locum_tokenize calls progress now and then for a long text, on the calling thread.
LOCUM_API locum_status locum_tokenizer_open(const locum_file *file, const locum_options *options,
                                            locum_tokenizer **out, locum_error *error);
LOCUM_API void locum_tokenizer_close(locum_tokenizer *tokenizer);

enum {
    LOCUM_TOKENIZE_SPECIAL = 1, // text may hold special tokens: each becomes its single id
    LOCUM_TOKENIZE_BOS = 2,     // add BOS if the model wants one and the text did not begin with it
};
// Writes at most max ids and the full count to *count; a count above max means: call again with room.
LOCUM_API locum_status locum_tokenize(const locum_tokenizer *tokenizer, const char *text,
                                      size_t size, uint32_t flags, locum_token *ids, size_t max,
                                      size_t *count, locum_error *error);
// Bytes of one token (not always whole UTF-8 characters). Control tokens give 0 bytes unless special.
LOCUM_API size_t locum_token_bytes(const locum_tokenizer *tokenizer, locum_token id, bool special,
                                   const char **bytes);
LOCUM_API uint32_t locum_tokenizer_size(const locum_tokenizer *tokenizer);
LOCUM_API bool locum_token_ends_answer(const locum_tokenizer *tokenizer, locum_token id);

// ---------------------------------------------------------------------------------------------
// Model and session
// ---------------------------------------------------------------------------------------------
typedef struct locum_model locum_model;
typedef struct locum_session locum_session;

LOCUM_API locum_status locum_model_open(const locum_file *file, const locum_options *options,
                                        locum_model **out, locum_error *error);
LOCUM_API void locum_model_close(locum_model *model);
LOCUM_API const locum_tokenizer *locum_model_tokenizer(const locum_model *model);
LOCUM_API void locum_model_get_plan(const locum_model *model, locum_memory_plan *out);
// Another budget while the model is open, from any thread; before the next step experts are evicted, or
// room for more is made, at most what the model was opened with. What others than experts take stays.
// Answers are the same. LOCUM_E_BUDGET below what this model needs to run; the text has the number. Not
// LOCUM_MEMORY_AUTO, and not while the model is closed. locum_model_get_plan and the summary keep telling
// what the model was opened with; locum_stats.slots_bytes what there is.
// While it computes, the model also makes room by itself where memory is short (told to log), and takes it
// back slowly.
LOCUM_API locum_status locum_model_set_memory(locum_model *model, uint64_t memory,
                                              locum_error *error);
// One line for people: mode, budget, slots, kind of I/O, threads, instruction set.
LOCUM_API const char *locum_model_summary(const locum_model *model);

LOCUM_API locum_status locum_session_open(locum_model *model, locum_session **out,
                                          locum_error *error);
LOCUM_API void locum_session_close(locum_session *session);
// From any thread at any time, and from a signal handler.
LOCUM_API void locum_session_cancel(locum_session *session);
LOCUM_API void locum_session_reset(locum_session *session);  // forget all tokens

// How a token is chosen from the logits; docs/sampling.md says what each number does. locum_sampling_init
// leaves all of them "not given": then the file's general.sampling.* value is used, then what the model's
// makers recommend, then the default that stands here. Ranges are checked, errors name the field.
#define LOCUM_NOT_GIVEN INT32_MIN // of a whole number; of a float: NAN (any NaN)

typedef struct locum_logit_bias {
    locum_token token;
    float bias; // is added to its logit; -INFINITY: never
} locum_logit_bias;

typedef enum locum_thinking { LOCUM_THINKING_UNKNOWN, LOCUM_THINKING_OFF, LOCUM_THINKING_ON } locum_thinking;

typedef struct locum_sampling {
    uint32_t struct_size;
    float temperature;         // 0.8; 0 is greedy: the largest logit, lowest id on ties
    float dynatemp_range;      // 0: off
    float dynatemp_exponent;   // 1
    int32_t top_k;             // 40; 0 or -1: off
    float top_p;               // 0.95; 1: off
    float min_p;               // 0.05; 0: off
    float typical_p;           // 1: off
    float top_n_sigma;         // -1: off, as is 0
    float xtc_probability;     // 0: off
    float xtc_threshold;       // 0.1; above 0.5: off
    int32_t penalty_last_n;    // 64 tokens, the prompt's included; 0: off, -1: the whole sequence
    float repeat_penalty;      // 1: off
    float frequency_penalty;   // 0: off
    float presence_penalty;    // 0: off
    float dry_multiplier;      // 0: off
    float dry_base;            // 1.75
    int32_t dry_allowed_length; // 2
    int32_t dry_penalty_last_n; // 64; 0: off, -1: the whole sequence
    int32_t mirostat;          // 0: off; 1 or 2 take the place of all stages but the temperature
    float mirostat_tau;        // 5
    float mirostat_eta;        // 0.1
    int32_t min_keep;          // 0; candidates that typ_p, top_p, min_p and xtc leave at least
    bool has_seed;
    uint64_t seed;             // absent: drawn from the system, and reported in the result
    const char *stages;        // "top_k;top_p;temperature": these, in that order; NULL: the usual ones
    const locum_logit_bias *biases;
    size_t bias_count;
    // Texts that DRY does not look across. NULL: "\n", ":", "\"" and "*"; not NULL and none: none.
    const char *const *dry_breakers;
    size_t dry_breaker_count;
    // Which recommendation counts, where the makers have one for each way to answer. Unknown: the one for
    // the way in which the model answers by itself.
    locum_thinking thinking;
} locum_sampling;
LOCUM_API void locum_sampling_init(locum_sampling *sampling);

typedef struct locum_logprob {
    locum_token token;
    float logprob; // natural logarithm; -INFINITY: it has no chance
} locum_logprob;
enum { LOCUM_LOGPROBS_MAX = 256 };

typedef enum locum_event_kind {
    LOCUM_EVENT_TEXT, // text/text_size: whole UTF-8 characters of the answer, invalid bytes as U+FFFD
    LOCUM_EVENT_TOKEN, // token, position; with locum_request.logprobs also logprob and top
    LOCUM_EVENT_LOGITS // logits[vocabulary] of `position`, valid during the call only
} locum_event_kind;
typedef struct locum_event {
    locum_event_kind kind;
    const char *text;
    size_t text_size;
    locum_token token;
    uint32_t position;
    const float *logits;
    uint32_t vocabulary;
    // Of the model's own distribution: at temperature 1, before biases, masks and stages.
    float logprob;            // of token
    const locum_logprob *top; // the likeliest, best first, valid during the call only
    uint32_t top_count;
} locum_event;
// Return true to stop after this event (not an error).
typedef bool (*locum_event_fn)(void *user, const locum_event *event);

typedef enum locum_logits {
    LOCUM_LOGITS_NONE,
    LOCUM_LOGITS_SAMPLED,
    LOCUM_LOGITS_ALL
} locum_logits;

// What an answer is held to: docs/structured-output.md.
typedef enum locum_structure {
    LOCUM_STRUCTURE_NONE,
    LOCUM_STRUCTURE_GRAMMAR, // structure_text is GBNF
    LOCUM_STRUCTURE_SCHEMA,  // structure_text is a JSON schema
    LOCUM_STRUCTURE_OBJECT   // any JSON object
} locum_structure;
// Is the text one that a request can have? The errors are those of locum_generate.
LOCUM_API locum_status locum_structure_check(locum_structure structure, const char *text,
                                             size_t size, locum_error *error);

typedef struct locum_request {
    uint32_t struct_size;
    // The whole text of the sequence, as ids. What the session already computed and is a prefix of it
    // is not computed again.
    const locum_token *prompt;
    size_t prompt_count;
    uint32_t predict; // tokens to generate at most; UINT32_MAX: until the context is full
    bool ignore_end;  // do not stop at end-of-answer tokens
    const locum_sampling *sampling; // NULL: nothing is given
    locum_logits logits; // which positions give LOCUM_EVENT_LOGITS
    locum_event_fn event;
    void *user;
    bool logprobs;         // of each token
    uint32_t top_logprobs; // and of so many of the likeliest, at most LOCUM_LOGPROBS_MAX
    locum_structure structure;
    const char *structure_text; // structure_size bytes
    size_t structure_size;
    // The structure begins behind this text (the end of thinking); the answer is free up to there, and
    // does not end before. NULL: at once.
    const char *structure_after;
    // Texts that end the answer, also when they come in several tokens: neither they nor what follows is
    // given to event as text. UTF-8, not empty.
    const char *const *stops;
    uint32_t stop_count;
    // Tokens that end it as those do that the vocabulary marks; ignore_end covers them too.
    const locum_token *ends;
    uint32_t end_count;
} locum_request;
LOCUM_API void locum_request_init(locum_request *request);

typedef enum locum_finish {
    LOCUM_FINISH_END,
    LOCUM_FINISH_LENGTH,
    LOCUM_FINISH_STOPPED, // by event
    LOCUM_FINISH_STOP_TEXT // one of request.stops; locum_stats.stop says which
} locum_finish;

typedef struct locum_stats {
    uint64_t prompt_tokens, computed_tokens, generated_tokens;
    uint64_t logits_hash; // running hash of the bits of every computed row of logits
    uint64_t seed;
    uint64_t decode_steps; // computed in decode_s: the first token comes from the prompt's last row
    double load_s, prefill_s, decode_s, first_token_s;
    double compute_s, io_wait_s, sample_s;
    double io_wait_prefill_s, io_wait_decode_s; // their sum is io_wait_s
    uint64_t hits_prefill, misses_prefill, hits_decode, misses_decode, bytes_read;
    uint64_t bytes_read_prefill, bytes_read_decode; // their sum is bytes_read
    uint64_t slots_bytes, demand_bytes_per_token;
    uint64_t peak_rss;      // of the process; 0: the system does not say
    uint64_t reads;         // that bytes_read came in
    uint32_t reads_at_once; // most that were asked for and not yet taken in, since opening
    double reading_s;       // time with such a read: an upper bound of what the drive was busy
    uint64_t evictions;     // experts that gave up their slot to another, or to a smaller budget
    // Experts read because they would probably be needed; of all of those judged by now, needed or not
    // before they gave up their slot. A needed one is a hit.
    uint64_t read_ahead, read_ahead_used, read_ahead_wasted;
    uint64_t verified; // reads compared with the first one of their expert, with `verify`
    uint64_t warmed; // experts read because earlier runs used them, since opening
    // What memory holds when the request ends, counted: dense weights, KV pages of all sessions, and
    // slots that have an expert in them.
    uint64_t resident_dense, resident_kv, resident_slots;
    uint32_t stop; // index in request.stops, with LOCUM_FINISH_STOP_TEXT
} locum_stats;

// LOCUM_E_CONTEXT before anything is computed if the prompt does not fit. On any error the session
// keeps what it had computed and can be used again. *stats (may be NULL) is filled also for a request
// that was cancelled or failed on its way.
LOCUM_API locum_status locum_generate(locum_session *session, const locum_request *request,
                                      locum_finish *finish, locum_stats *stats, locum_error *error);

// Where each setting came from ("given", "file", "card" for what the model's makers recommend, "default"), for
// --verbose. False past the end. The settings of sampling are those of a request that gives none.
LOCUM_API bool locum_model_get_setting(const locum_model *model, uint32_t index,
                                       locum_setting *out);

#ifdef __cplusplus
}
#endif
#endif
