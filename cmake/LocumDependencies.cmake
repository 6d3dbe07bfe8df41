# SPDX-License-Identifier: Apache-2.0
#
# Libraries of the distribution, each with its reason. The inference core needs libc and threads
# only; liburing is used where it is found.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)     # JSON: model.json, --json
pkg_check_modules(URING IMPORTED_TARGET liburing)               # asynchronous reads on Linux

find_path(SIMDE_INCLUDE_DIR simde/x86/avx512.h)                 # AVX-512 on machines without it
if(LOCUM_TESTS)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)   # tests
endif()
