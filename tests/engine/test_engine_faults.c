// SPDX-License-Identifier: Apache-2.0
//
// The n-th allocation fails, the n-th read fails, for every n: a clean status each time, and never
// another answer. And the decode path asks for no memory at all.
//
// The program is linked with --wrap for the calls below: those of the library and of this test pass
// through here, under every sanitizer.
#include "tests/engine/talk.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/platform/fake_disk.h"
#include "tests/platform/scratch.h"

// ---- allocations --------------------------------------------------------------------------------
static atomic_ulong asked;   // requests for memory or threads
static atomic_ulong fail_at; // this one is refused; 0: none

static bool refuse(void) {
    return atomic_fetch_add(&asked, 1) + 1 == atomic_load(&fail_at);
}

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_mmap(void *at, size_t bytes, int protect, int flags, int file, off_t offset);
int __real_mprotect(void *at, size_t bytes, int protect);
int __real_pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *user);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_mmap(void *at, size_t bytes, int protect, int flags, int file, off_t offset);
int __wrap_mprotect(void *at, size_t bytes, int protect);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *user);

void *__wrap_calloc(size_t count, size_t size) {
    return refuse() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *memory, size_t size) {
    return refuse() ? NULL : __real_realloc(memory, size);
}
void *__wrap_mmap(void *at, size_t bytes, int protect, int flags, int file, off_t offset) {
    if (!refuse()) return __real_mmap(at, bytes, protect, flags, file, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}
int __wrap_mprotect(void *at, size_t bytes, int protect) {
    if (!refuse()) return __real_mprotect(at, bytes, protect);
    errno = ENOMEM;
    return -1;
}
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *user) {
    return refuse() ? EAGAIN : __real_pthread_create(id, attributes, function, user);
}

// What libraries ask for by themselves, where it can be seen.
#if defined(__SANITIZE_ADDRESS__)
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
static void on_malloc(const volatile void *memory, size_t size) {
    (void)memory, (void)size;
    atomic_fetch_add(&asked, 1);
}
static void on_free(const volatile void *memory) {
    (void)memory;
}
static void watch_all(void) {
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}
#elif defined(__GLIBC__) && !defined(__SANITIZE_THREAD__)
void *__libc_malloc(size_t size);
static atomic_bool watching;
void *malloc(size_t size) {
    if (atomic_load(&watching)) atomic_fetch_add(&asked, 1);
    return __libc_malloc(size);
}
static void watch_all(void) {
    atomic_store(&watching, true);
}
#else
static void watch_all(void) {
}
#endif

// ---- the scenario -------------------------------------------------------------------------------
enum { PROMPT = 12, WORDS = 320, ANSWER = 5 };

static const char *path;
static locum_token prompt[PROMPT];
static locum_options options;
static struct talk base, talk;

static int make_model(void **state) {
    if (scratch_create(state)) return -1;
    struct toy_spec spec = toy_spec_of("qwen2moe");
    spec.layers = 2;
    spec.context = 256;
    static char kept[4096];
    snprintf(kept, sizeof kept, "%s", talk_save(&spec));
    path = kept;
    talk_text(1, WORDS, prompt, PROMPT);
    return 0;
}

static int set_up(void **state) {
    (void)state;
    locum_options_init(&options);
    options.threads = 2;
    options.chunk = 8;
    options.memory = house_floor(path, &options);
    talk_init(&base, prompt, PROMPT);
    talk_init(&talk, prompt, PROMPT);
    base.request.predict = talk.request.predict = ANSWER;
    return 0;
}

// From the path to the answer and back; the first status that is not OK. Everything is closed.
static locum_status whole_life(struct talk *t, locum_error *error) {
    locum_file *file = NULL;
    locum_memory_plan plan;
    locum_model *model = NULL;
    locum_session *session = NULL;
    t->status = LOCUM_E_ARGUMENT;
    locum_status status = locum_file_open(path, &file, error);
    if (status == LOCUM_OK) status = locum_file_plan(file, &options, &plan, error);
    if (status == LOCUM_OK) status = locum_model_open(file, &options, &model, error);
    if (status == LOCUM_OK) status = locum_session_open(model, &session, error);
    if (status == LOCUM_OK) {
        status = talk_run(t, session);
        *error = t->error;
    }
    if (status != LOCUM_OK && session) { // what failed can be tried again
        atomic_store(&fail_at, 0);
        talk_must(t, session);
        talk_same(&base, t, "the request after a failed one");
    }
    locum_session_close(session);
    locum_model_close(model);
    locum_file_close(file);
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    locum_error error;
    options.trace_path = scratch_path("trace.csv");
    options.memory +=
        1 << 20; // an arena that got smaller blocks than it asked for has more of them
    assert_int_equal(whole_life(&base, &error), LOCUM_OK);
    unsigned long failed = 0, n = 1;
    for (;; n++) {
        memset(&error, 0, sizeof error);
        atomic_store(&asked, 0);
        atomic_store(&fail_at, n);
        locum_status status = whole_life(&talk, &error);
        bool reached = atomic_load(&asked) >= n;
        atomic_store(&fail_at, 0);
        if (!reached) break;      // the scenario passed untouched
        if (status == LOCUM_OK) { // done without, e.g. other reads than hoped for
            talk_same(&base, &talk, "an answer in spite of a failed allocation");
            continue;
        }
        failed++;
        if (status != LOCUM_E_OUT_OF_MEMORY && status != LOCUM_E_SYSTEM)
            fail_msg("allocation %lu: status %d: %s", n, status, error.text);
        assert_int_equal(error.status, status);
        assert_true(error.text[0] != 0);
    }
    assert_true(failed > 30);
    print_message("%lu allocations, %lu of them needed\n", n - 1, failed);
}

// ---- decode -------------------------------------------------------------------------------------
static unsigned long at_fifth, at_last;

static void note(struct talk *t, const locum_event *event) {
    if (event->kind != LOCUM_EVENT_TOKEN) return;
    if (t->count == 5) at_fifth = atomic_load(&asked);
    at_last = atomic_load(&asked);
}

static void decoding_asks_for_no_memory(const char *trace, bool floor, int32_t top_k) {
    struct house house;
    options.trace_path = trace;
    if (!floor) options.memory = LOCUM_MEMORY_ALL;
    house_open(&house, path, &options);
    locum_session *session = house_session(&house);
    talk.request.predict = 200; // over three borders of pages
    talk.sampling.temperature = 1;
    talk.sampling.top_k = top_k;
    talk.on_event = note;
    talk_must(&talk, session);
    assert_int_equal(talk.count, 200);
    assert_int_equal(at_last - at_fifth, 0);
    locum_session_close(session);
    house_close(&house);
}

static void decoding_allocates_nothing(void **state) {
    (void)state;
    watch_all();
    unsigned long before = atomic_load(&asked);
    heap_free(heap_resize(NULL, 10));
    assert_true(atomic_load(&asked) > before); // the counter counts
    decoding_asks_for_no_memory(NULL, true, 40);
    decoding_asks_for_no_memory(scratch_path("trace.csv"), true, 40);
    decoding_asks_for_no_memory(NULL, false, 0); // the whole vocabulary is sorted
}

// ---- reads --------------------------------------------------------------------------------------
// The engine over a disk that can fail; through the port, since file methods are not public.
struct plant {
    locum_file *file;
    struct fake_disk disk;
    struct engine *engine;
    struct engine_session *session;
    locum_error error;
};
static struct plant plant;

static locum_status plant_open(void) {
    options.struct_size = sizeof options;
    locum_status status =
        engine_native_open(plant.file, &options, &plant.disk.methods, &plant.engine, &plant.error);
    if (status == LOCUM_OK)
        status = plant.engine->methods->session_open(plant.engine, &plant.session, &plant.error);
    return status;
}

static void plant_close(void) {
    if (!plant.engine) return;
    plant.engine->methods->session_close(plant.engine, plant.session);
    plant.engine->methods->close(plant.engine);
    plant.engine = NULL;
}

static locum_status plant_talk(struct talk *t) {
    atomic_bool cancel = false;
    t->events = t->texts = t->count = t->rows = 0;
    t->text_size = 0;
    t->request.sampling = &t->sampling;
    t->status = plant.engine->methods->generate(plant.engine, plant.session, &t->request, &cancel,
                                                &t->finish, &t->stats, &t->error);
    return t->status;
}

static void plant_begin(void) {
    memset(&plant, 0, sizeof plant);
    fake_disk_init(&plant.disk, NULL, 0);
    assert_int_equal(locum_file_open(path, &plant.file, &plant.error), LOCUM_OK);
    if (plant_open() != LOCUM_OK) fail_msg("%s", plant.error.text);
    assert_int_equal(plant_talk(&base), LOCUM_OK);
    assert_true(base.stats.bytes_read > 0);
}

static void plant_end(void) {
    plant_close();
    locum_file_close(plant.file);
}

// Opens and asks with the disk as it is set now; the base's answer, or E_IO.
static locum_status answer_or_error(const char *what, size_t n) {
    locum_status status = plant_open();
    const locum_error *error = &plant.error;
    if (status == LOCUM_OK) {
        status = plant_talk(&talk);
        error = &talk.error;
        if (status == LOCUM_OK) talk_same(&base, &talk, what);
    }
    if (status == LOCUM_OK) return status;
    if (status != LOCUM_E_IO) fail_msg("%s %zu: status %d: %s", what, n, status, error->text);
    if (!strstr(error->text, path)) fail_msg("%s %zu: no file in: %s", what, n, error->text);
    return status;
}

static void every_read_fails_once(void **state) {
    (void)state;
    plant_begin();
    plant_close();
    size_t reads = atomic_load(&plant.disk.reads), refused = 0;
    for (size_t n = 1; n <= reads; n++) {
        atomic_store(&plant.disk.reads, 0);
        plant.disk.fail_at = n;
        refused += answer_or_error("failed read", n) != LOCUM_OK;
        plant_close();
    }
    // The probe does without; experts are read again; only dense weights have one attempt.
    assert_true(refused > 0 && refused < 20);
    plant_end();
}

static void every_read_fails_from_there_on(void **state) {
    (void)state;
    plant_begin();
    plant_close();
    size_t reads = atomic_load(&plant.disk.reads), in_answer = 0;
    for (size_t n = 1; n <= reads; n += 3) {
        atomic_store(&plant.disk.reads, 0);
        plant.disk.fail_from = n;
        locum_status status = answer_or_error("failed read from", n);
        plant.disk.fail_from = 0;
        if (!plant.engine) continue;
        if (status != LOCUM_OK) { // an expert: the session lives, and the next answer is right
            in_answer++;
            if (!strstr(talk.error.text, "offset") && !strstr(talk.error.text, "byte"))
                fail_msg("no offset in: %s", talk.error.text);
            if (plant_talk(&talk) != LOCUM_OK) fail_msg("%s", talk.error.text);
            talk_same(&base, &talk, "the request after a failed read");
        }
        plant_close();
    }
    assert_true(in_answer > 10);
    plant_end();
}

static void short_and_interrupted_reads(void **state) {
    (void)state;
    plant_begin();
    plant_close();
    for (size_t every = 2; every < 12; every++) {
        atomic_store(&plant.disk.reads, 0);
        plant.disk.short_every = every;
        plant.disk.interrupt_every = every + 1;
        assert_int_equal(answer_or_error("short reads, every", every), LOCUM_OK);
        plant_close();
    }
    plant_end();
}

// A fault in the middle of an answer: what was said before it stays, and the rest can be had.
static void answer_goes_on_after_a_fault(void **state) {
    (void)state;
    plant_begin();
    size_t done = atomic_load(&plant.disk.reads);
    plant_close();
    atomic_store(&plant.disk.reads, 0);
    assert_int_equal(plant_open(), LOCUM_OK);
    plant.disk.fail_from = done - 4;
    assert_int_equal(plant_talk(&talk), LOCUM_E_IO);
    plant.disk.fail_from = 0;
    assert_true(talk.count > 0 && talk.count < ANSWER);
    assert_int_equal(talk.stats.generated_tokens, talk.count);
    assert_memory_equal(talk.ids, base.ids, talk.count * sizeof *talk.ids);
    locum_token longer[PROMPT + ANSWER];
    memcpy(longer, prompt, sizeof prompt);
    memcpy(longer + PROMPT, talk.ids, talk.count * sizeof *talk.ids);
    uint32_t said = talk.count;
    talk.request.prompt = longer;
    talk.request.prompt_count = PROMPT + said;
    talk.request.predict = ANSWER - said;
    assert_int_equal(plant_talk(&talk), LOCUM_OK);
    assert_int_equal(talk.stats.computed_tokens, 1);
    assert_memory_equal(talk.ids, base.ids + said, talk.count * sizeof *talk.ids);
    plant_end();
}

// Between reading the directory and the weights somebody cuts the file: no weight is taken for zeros.
static void changed_file_is_refused(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    const char *cut = talk_save(&spec);
    struct stat about;
    locum_file *file;
    locum_model *model = NULL;
    locum_error error;
    assert_int_equal(stat(cut, &about), 0);
    assert_int_equal(locum_file_open(cut, &file, &error), LOCUM_OK);
    assert_int_equal(truncate(cut, about.st_size - 20000), 0);
    assert_int_equal(locum_model_open(file, NULL, &model, &error), LOCUM_E_IO);
    if (!strstr(error.text, cut) || !strstr(error.text, "has changed")) fail_msg("%s", error.text);
    assert_null(model);
    locum_file_close(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_allocation_fails_once, set_up),
        cmocka_unit_test_setup(every_read_fails_once, set_up),
        cmocka_unit_test_setup(every_read_fails_from_there_on, set_up),
        cmocka_unit_test_setup(short_and_interrupted_reads, set_up),
        cmocka_unit_test_setup(answer_goes_on_after_a_fault, set_up),
        cmocka_unit_test(changed_file_is_refused),
        cmocka_unit_test_setup(decoding_allocates_nothing, set_up), // last: its hooks stay
    };
    return cmocka_run_group_tests(tests, make_model, scratch_remove);
}
