// SPDX-License-Identifier: Apache-2.0
//
// drive_rate FILE DEPTH SECONDS RANGES: what the drive gives to direct reads of random ranges of a
// file, DEPTH of them in flight: one thread each, blocked in pread. RANGES: a file of lines "offset
// bytes", in whole blocks. Prints bytes, reads and seconds as one line of JSON. bench/reads.py compares Locum with
// it, so it shares no code with the library.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    BLOCK = 4096,
    LARGE_PAGE = 1 << 21,
    DEPTH_MAX = 256,
    SECONDS_MAX = 3600,
    RANGES_MAX = 1 << 20
};

struct range {
    uint64_t offset, bytes;
};

struct drive {
    int file;
    struct range *ranges;
    size_t count;
    uint64_t longest;
    double until; // of the clock
};

struct reader {
    const struct drive *drive;
    pthread_t thread;
    uint64_t random; // never 0
    uint64_t bytes, reads;
    int problem; // errno of a read that failed
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t xorshift(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void *read_until(void *user) {
    struct reader *reader = user;
    const struct drive *drive = reader->drive;
    size_t room = (drive->longest + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    void *buffer = aligned_alloc(LARGE_PAGE, room);
    if (!buffer) reader->problem = ENOMEM;
    if (buffer) madvise(buffer, room, MADV_HUGEPAGE); // fewer pieces for the drive, where it is had
    while (!reader->problem && now() < drive->until) {
        const struct range *range = &drive->ranges[xorshift(&reader->random) % drive->count];
        ssize_t got = pread(drive->file, buffer, range->bytes, (off_t)range->offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) reader->problem = errno;
        if (got > 0) reader->bytes += (uint64_t)got;
        reader->reads++;
    }
    free(buffer);
    return NULL;
}

// false: there are none, or a line is no range of whole blocks.
static bool read_ranges(struct drive *drive, FILE *from) {
    unsigned long long offset, bytes;
    drive->ranges = malloc(RANGES_MAX * sizeof *drive->ranges);
    int fields = 0;
    while (drive->ranges && drive->count < RANGES_MAX &&
           (fields = fscanf(from, "%llu %llu", &offset, &bytes)) == 2) {
        if (bytes == 0 || (offset | bytes) % BLOCK != 0 || bytes > INT32_MAX) return false;
        drive->ranges[drive->count++] = (struct range){offset, bytes};
        if (bytes > drive->longest) drive->longest = bytes;
    }
    return drive->count > 0 && fields == EOF;
}

static bool measure(struct drive *drive, int depth, int seconds) {
    static struct reader readers[DEPTH_MAX];
    struct reader sum = {0};
    double start = now();
    int started = 0;
    drive->until = start + seconds;
    for (; started < depth && !sum.problem; started++) {
        struct reader *reader = &readers[started];
        *reader = (struct reader){.drive = drive, .random = 0x9e3779b97f4a7c15 * (started + 1)};
        sum.problem = pthread_create(&reader->thread, NULL, read_until, reader);
        if (sum.problem) break;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(readers[i].thread, NULL);
        sum.bytes += readers[i].bytes;
        sum.reads += readers[i].reads;
        if (readers[i].problem) sum.problem = readers[i].problem;
    }
    if (sum.problem) {
        fprintf(stderr, "drive_rate: reading fails: %s\n", strerror(sum.problem));
        return false;
    }
    printf("{\"bytes\": %llu, \"reads\": %llu, \"seconds\": %.6f}\n", (unsigned long long)sum.bytes,
           (unsigned long long)sum.reads, now() - start);
    return fflush(stdout) == 0;
}

static bool run(const char *path, const char *ranges_path, int depth, int seconds) {
    struct drive drive = {.file = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC)};
    FILE *ranges = fopen(ranges_path, "r");
    bool done = false;
    if (drive.file < 0 || !ranges) {
        fprintf(stderr, "drive_rate: %s: %s\n", drive.file < 0 ? path : ranges_path,
                strerror(errno));
    } else if (!read_ranges(&drive, ranges)) {
        fprintf(stderr, "drive_rate: %s: no ranges, or not of whole blocks\n", ranges_path);
    } else {
        done = measure(&drive, depth, seconds);
    }
    free(drive.ranges);
    if (ranges) fclose(ranges);
    if (drive.file >= 0) close(drive.file);
    return done;
}

// 1 to most; 0: it is no such number.
static int number(const char *text, long most) {
    char *end;
    long value = strtol(text, &end, 10);
    return end != text && *end == 0 && value >= 1 && value <= most ? (int)value : 0;
}

int main(int argc, char **argv) {
    int depth = argc == 5 ? number(argv[2], DEPTH_MAX) : 0;
    int seconds = argc == 5 ? number(argv[3], SECONDS_MAX) : 0;
    if (depth == 0 || seconds == 0) {
        fprintf(stderr, "usage: drive_rate FILE DEPTH SECONDS RANGES\n");
        return 2;
    }
    return run(argv[1], argv[4], depth, seconds) ? 0 : 1;
}
