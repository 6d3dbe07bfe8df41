// SPDX-License-Identifier: Apache-2.0
//
// Owns:      every named limit, with its reason. A file or request that exceeds one gets an error.
// Called by: everyone.
// Threads:   constants.
// Errors:    none.
// Not here:  tuning values (they live beside the code that they tune).
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
    LIMIT_GGUF_STRING = 64 << 20,    // chat templates are about 20 KiB; a token is below 1 KiB
    LIMIT_GGUF_KEY = 65535,          // longest key, as the format's text says
    LIMIT_GGUF_NAME = 64,            // tensor names, terminating zero included
    LIMIT_GGUF_DIMS = 4,             // as the format has
    LIMIT_GGUF_ALIGNMENT = 1 << 20,  // general.alignment; 32 is usual
    LIMIT_GGUF_HEADER = 512 << 20,   // metadata and tensor table of a shard; largest known: 30 MB
    LIMIT_GGUF_KEYS = 65536,         // metadata entries; most known: a few hundred
    LIMIT_GGUF_TENSORS = 1 << 20,    // per shard; most known, an expert each: 70 thousand
    LIMIT_SHARDS = 10000,            // the five digits of a shard's name
    LIMIT_LAYERS = 512,              // deepest known model: 94
    LIMIT_EXPERTS = 1024,            // most experts known: 512
    LIMIT_EXPERTS_USED = 64,         // most known: 22
    LIMIT_HEADS = 1024,              // most known: 128
    LIMIT_HEAD_SIZE = 1024,          // largest known: 576
    LIMIT_EMBEDDING = 1 << 17,       // widest known: 16384
    LIMIT_VOCABULARY = 1 << 22,      // largest known: 262144
    LIMIT_TOKEN_BYTES = 4096,        // one token's text
    LIMIT_MERGES = 1 << 22,          // merges of a byte-pair vocabulary; most known: 514906
    LIMIT_CONTEXT = 1 << 22,         // tokens of one sequence
    LIMIT_THREADS = 256,             // compute threads
    LIMIT_CHUNK = 4096,              // tokens of one step; scratch grows with it
    LIMIT_PATH = 4096,               // as the system has
    LIMIT_FOLDER_ENTRIES = 1 << 20,  // names in one folder that is looked through
    LIMIT_PLAN_OPERATIONS = 65536,   // 512 layers of 128 operations
    LIMIT_JINJA_SOURCE = 4 << 20,    // bytes of a chat template; largest known: 35 KiB
    LIMIT_JINJA_NESTING = 200,       // expressions and blocks in each other, values and JSON too
    LIMIT_JINJA_DEPTH = 1200,        // nodes being evaluated at a time; recursive macros take a few each
    LIMIT_JINJA_STEPS = 20000000,    // of one rendering; a conversation of 1000 turns takes about 1e6
    LIMIT_JINJA_OUTPUT = 64 << 20,   // bytes of a prompt; a context of 4M tokens is about 16 MiB
    LIMIT_JINJA_MEMORY = 512 << 20,  // bytes of values that one rendering makes
    LIMIT_STOPS = 256,               // stop texts or further end tokens of a request; APIs allow 4
    LIMIT_STOP_BYTES = 4096,         // of one; they are looked for at each byte of an answer
    LIMIT_JINJA_RANGE = 100000,      // numbers of one range(), as jinja2's sandbox has it
    LIMIT_GRAMMAR_SOURCE = 4 << 20,  // bytes of a grammar or a schema; large ones: 100 KiB
    LIMIT_GRAMMAR_NESTING = 200,     // groups and schemas in each other: recursion of the readers
    LIMIT_GRAMMAR_RULES = 10000,     // of a text in GBNF; large ones: a few hundred
    LIMIT_GRAMMAR_OPERATIONS = 1 << 20, // of a compiled grammar; a schema of 100 KiB: 50 thousand
    LIMIT_GRAMMAR_PLACES = 1 << 16,  // where an ambiguous grammar may stand at a time
    LIMIT_GRAMMAR_DEPTH = 1000,      // rules in each other, as a text goes: JSON takes 3 for a level
    LIMIT_CHAT_CALL = 4 << 20,       // bytes of one tool call in an answer; longer ones stay text
    LIMIT_CHAT_CALLS = 128,          // of one block of calls
    LIMIT_CHAT_NAME = 256,           // bytes of the name of a tool or parameter, of an id, of a message's header
    LIMIT_CHAT_NESTING = 128,        // of values in the arguments of a call
    LIMIT_CHAT_BLANKS = 256,         // white space held back because a block may follow
};

#endif
