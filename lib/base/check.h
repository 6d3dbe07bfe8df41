// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the assertion of broken invariants, on in release builds.
// Called by: every folder, outside kernel loops (KERNEL_ASSERT there: debug builds only).
// Threads:   any.
// Errors:    ends the process: a state that the code itself forbids was reached. Input never gets
//            here.
// Not here:  bad input and failing system calls: those are a locum_status.
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

_Noreturn void check_failed(const char *expression, const char *file, int line);

#define LOCUM_ASSERT(expression) \
    ((expression) ? (void)0 : check_failed(#expression, __FILE__, __LINE__))

#ifdef NDEBUG
#define KERNEL_ASSERT(expression) ((void)0)
#else
#define KERNEL_ASSERT(expression) LOCUM_ASSERT(expression)
#endif

#endif
