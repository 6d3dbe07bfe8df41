// SPDX-License-Identifier: Apache-2.0
//
// Proves every kernel of every tier against ref, bit for bit, and times them. Ref itself is bounded
// by sums in double precision. A case depends on seed, kernel and its number only, so a failure
// repeats under --filter and --tier.
#include "bench.h"
#include "check_case.h"
#include "kernel_list.h"

#include "platform/cpu.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_DIFFERENT = 1, EXIT_USAGE = 2 };

struct options {
    uint64_t seed;
    uint32_t cases;
    int tier; // -1: all
    const char *filter, *json;
    bool bench, list;
};

static const char usage[] =
    "Usage: checkkernel [options]\n"
    "Checks every kernel of every instruction set this processor has against the C reference.\n"
    "  --tier NAME      only ref, avx2, avxvnni, avx512 or avx512vnni\n"
    "  --filter TEXT    only kernels whose name contains TEXT (\"matmul Q4_K\")\n"
    "  --seed N         other random inputs (default 1)\n"
    "  --cases N        inputs per kernel (default 300)\n"
    "  --bench          time kernels instead of checking them\n"
    "  --json FILE      with --bench: the figures as a JSON array\n"
    "  --list           names of kernels\n"
    "  --help           this text\n"
    "Exit status: 0 equal, 1 different, 2 wrong usage.\n";

static bool parse_number(const char *text, uint64_t max, uint64_t *value) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    *value = number;
    return errno == 0 && end != text && *end == '\0' && *text != '-' && number <= max;
}

static void parse_options(int argc, char **argv, struct options *o) {
    static const struct option table[] = {
        {"tier", required_argument, NULL, 't'},  {"filter", required_argument, NULL, 'f'},
        {"seed", required_argument, NULL, 's'},  {"cases", required_argument, NULL, 'c'},
        {"bench", no_argument, NULL, 'b'},       {"json", required_argument, NULL, 'j'},
        {"list", no_argument, NULL, 'l'},        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *o = (struct options){.seed = 1, .cases = 300, .tier = -1};
    for (int option; (option = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        uint64_t number = 0;
        enum kernels_tier tier = KERNELS_TIER_REF;
        bool right = true;
        switch (option) {
        case 't': right = kernels_tier_parse(optarg, &tier); o->tier = (int)tier; break;
        case 'f': o->filter = optarg; break;
        case 's': right = parse_number(optarg, UINT64_MAX, &o->seed); break;
        case 'c':
            right = parse_number(optarg, UINT32_MAX, &number);
            o->cases = (uint32_t)number;
            break;
        case 'b': o->bench = true; break;
        case 'j': o->json = optarg; break;
        case 'l': o->list = true; break;
        case 'h': fputs(usage, stdout); exit(0);
        default: fputs(usage, stderr); exit(EXIT_USAGE);
        }
        if (!right) {
            fprintf(stderr, "checkkernel: \"%s\" is no value for this option\n%s", optarg, usage);
            exit(EXIT_USAGE);
        }
    }
    if (optind < argc || (o->json && !o->bench)) {
        fputs(usage, stderr);
        exit(EXIT_USAGE);
    }
}

// A kernel that leaves its buffers or its instruction set ends here. Names the case.
static struct check check;
static void on_fault(int signal_number) {
    char text[512];
    int length = snprintf(text, sizeof text, "FAIL %s %s, %s: signal %d (%s)\n",
                          kernels_tier_name(check.tested->tier), check.kernel, check.text,
                          signal_number,
                          signal_number == SIGILL ? "instruction" : "access outside a buffer");
    if (write(STDERR_FILENO, text, (size_t)length) < 0) _exit(EXIT_DIFFERENT);
    _exit(EXIT_DIFFERENT);
}

static struct kernels_cpu detect(void) {
    struct cpu_features features;
    cpu_features_detect(&features);
    struct kernels_cpu cpu = {features.avx2, features.avxvnni, features.avx512,
                              features.avx512vnni};
#ifdef LOCUM_SIMDE
    cpu.avxvnni = cpu.avx512 = cpu.avx512vnni = cpu.avx2; // emulated with AVX2
#endif
    return cpu;
}

// Checks or times one kernel; false if it differs.
static bool run_kernel(const struct options *o, const struct kernel *kernel, FILE *json,
                       bool *first) {
    check.kernel = kernel->name;
    check.failures = 0;
    check_case(&check, 0);
    if (o->bench) {
        bench_kernel(&check, kernel, json, first);
        return true;
    }
    for (uint32_t i = 0; i < o->cases; i++) {
        check_case(&check, i);
        kernel->check(&check, kernel->argument);
    }
    if (check.failures > CHECK_REPORTS_MAX)
        fprintf(stderr, "FAIL %s %s: %" PRIu32 " of %" PRIu32 " cases differ\n",
                kernels_tier_name(check.tested->tier), kernel->name, check.failures, o->cases);
    return check.failures == 0;
}

// All kernels of `tested` that `below` does not have already; false if any differs.
static bool run_tier(const struct options *o, const struct kernels_table *below, FILE *json,
                     bool *first) {
    struct kernel list[KERNEL_LIST_MAX];
    size_t n = kernel_list(check.ref, list), run = 0, wrong = 0;
    const char *tier = kernels_tier_name(check.tested->tier);
    size_t unknown = kernel_list_unknown(check.tested, list, n);
    if (unknown) {
        fprintf(stderr, "FAIL %s: entry at byte %zu of the table has no check\n", tier, unknown);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        kernel_pointer pointer = kernel_list_pointer(check.tested, list[i].offset);
        bool inherited = below && pointer == kernel_list_pointer(below, list[i].offset);
        if (inherited || (o->filter && !strstr(list[i].name, o->filter))) continue;
        run++;
        if (o->list) printf("%s %s\n", tier, list[i].name);
        else if (!pointer) fprintf(stderr, "FAIL %s %s: not there\n", tier, list[i].name);
        if (!pointer || (!o->list && !run_kernel(o, &list[i], json, first))) wrong++;
    }
    if (!o->list && !o->bench)
        printf("%-10s %3zu kernels, %zu wrong (seed %" PRIu64 ", %" PRIu32 " cases each)\n", tier,
               run, wrong, o->seed, o->cases);
    return wrong == 0;
}

// Tiers upwards, each against ref; what it shares with the one below has been checked there.
static bool run_tiers(const struct options *o, const struct kernels_cpu *cpu, FILE *json) {
    static struct kernels_table ref, tables[KERNELS_TIER_COUNT];
    const struct kernels_table *below = NULL;
    bool right = true, first = true, any = false;
    kernels_init(&ref, KERNELS_TIER_REF, cpu);
    check.ref = &ref;
    if (o->bench && !o->filter) bench_memory(json, &first);
    for (int i = 0; i < KERNELS_TIER_COUNT; i++) {
        enum kernels_tier tier = (enum kernels_tier)i;
        bool there = kernels_init(&tables[i], tier, cpu);
        if (there) check.tested = &tables[i];
        check.oracle = tier == KERNELS_TIER_REF;
        if (o->tier != -1 && o->tier != i) {
            if (there) below = &tables[i];
            continue;
        }
        if (!there) {
            printf("SKIP %s: not in this processor or not in this build\n",
                   kernels_tier_name(tier));
            continue;
        }
        any = true;
        right = run_tier(o, below, json, &first) && right;
        below = &tables[i];
    }
    if (!any) fputs("checkkernel: nothing was checked\n", stderr);
    return right && any;
}

int main(int argc, char **argv) {
    struct options options;
    parse_options(argc, argv, &options);
    const int faults[] = {SIGSEGV, SIGBUS, SIGILL};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) signal(faults[i], on_fault);
    FILE *json = options.json ? fopen(options.json, "w") : NULL;
    if (options.json && !json) {
        fprintf(stderr, "checkkernel: %s: %s\n", options.json, strerror(errno));
        return EXIT_USAGE;
    }
    if (json) fputs("[", json);
    check.seed = options.seed;
    check_open(&check);
    struct kernels_cpu cpu = detect();
    bool right = run_tiers(&options, &cpu, json);
    check_close(&check);
    if (json) fputs("\n]\n", json);
    if (json && fclose(json) != 0) {
        fprintf(stderr, "checkkernel: %s: %s\n", options.json, strerror(errno));
        return EXIT_USAGE;
    }
    return right ? 0 : EXIT_DIFFERENT;
}
