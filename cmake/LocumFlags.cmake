# SPDX-License-Identifier: Apache-2.0
#
# Compiler flags, carried by interface targets: locum_flags (everything), locum_internal (adds the
# library's own headers), locum_strict (adds the conversion warnings). Instruction sets are flags of
# single files of lib/kernels/x86.

if(NOT CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    message(FATAL_ERROR "Locum is built with gcc or clang; found ${CMAKE_C_COMPILER_ID}")
endif()
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(locum_flags INTERFACE)
target_include_directories(locum_flags INTERFACE ${PROJECT_SOURCE_DIR}/include)

add_library(locum_internal INTERFACE)
target_link_libraries(locum_internal INTERFACE locum_flags)
target_include_directories(locum_internal INTERFACE ${PROJECT_SOURCE_DIR}/lib)

# The arithmetic contract: the same bits from every compiler and instruction set. A multiply and an
# add are fused only where the source says fmaf, and no value is assumed away. errno of <math.h> is
# never read; without it sqrtf is one instruction, with the same bits.
target_compile_options(locum_flags INTERFACE
    -ffp-contract=off -fno-fast-math -fno-math-errno)
# x87 keeps 80 bits between operations; every target that Locum supports computes in SSE registers.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i[3-6]86)$")
    target_compile_options(locum_flags INTERFACE -mfpmath=sse)
endif()

target_compile_options(locum_flags INTERFACE
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
    -Wmissing-declarations -Wvla -Wformat=2 -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef
    -Wredundant-decls -Wnested-externs -Wimplicit-fallthrough -Wdate-time)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(locum_flags INTERFACE
        -Wlogical-op -Wduplicated-cond -Wjump-misses-init)
else()
    # gcc knows that a format handed on beside a va_list was checked where it came in; clang does not.
    target_compile_options(locum_flags INTERFACE -Wno-format-nonliteral)
endif()
if(LOCUM_WERROR)
    target_compile_options(locum_flags INTERFACE -Werror)
endif()

# Lower layers count bytes that come from files: a silent truncation there is a bug. Changes of
# sign alone are left to review, the warning drowns the ones that lose bits.
add_library(locum_strict INTERFACE)
target_link_libraries(locum_strict INTERFACE locum_flags)
target_compile_options(locum_strict INTERFACE -Wconversion -Wno-sign-conversion)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    # clang counts LOCUM_ASSERT(!"why this cannot be") among the conversions.
    target_compile_options(locum_strict INTERFACE -Wno-string-conversion)
endif()

if(LOCUM_SANITIZE)
    target_compile_options(locum_flags INTERFACE
        -fsanitize=${LOCUM_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(locum_flags INTERFACE -fsanitize=${LOCUM_SANITIZE})
    target_compile_definitions(locum_flags INTERFACE LOCUM_SANITIZED) # kernels unroll less
    if(LOCUM_SANITIZE MATCHES "undefined")
        # Not part of "undefined" by default: a float that does not fit an integer, 1/0 in integers.
        target_compile_options(locum_flags INTERFACE -fsanitize=float-cast-overflow)
    endif()
endif()
if(LOCUM_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "LOCUM_FUZZ needs clang: use the preset fuzz")
    endif()
    target_compile_options(locum_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(LOCUM_COVERAGE)
    target_compile_options(locum_flags INTERFACE --coverage)
    target_link_options(locum_flags INTERFACE --coverage)
endif()

# A kernel's file name says which instruction set it is compiled for. Files of other folders are
# built for the plain architecture, so only code behind the tables can meet a missing instruction.
set(LOCUM_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi2)
set(LOCUM_ISA_FLAGS_avxvnni ${LOCUM_ISA_FLAGS_avx2} -mavxvnni)
set(LOCUM_ISA_FLAGS_avx512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c -mbmi2)
set(LOCUM_ISA_FLAGS_avx512vnni ${LOCUM_ISA_FLAGS_avx512} -mavx512vnni -mavx512vbmi)

# Sets out to the instruction set in the name of SOURCE ("avx2" of x86/dot_avx2.c), or to "".
function(locum_isa_of out source)
    set(isa "")
    if(source MATCHES "_(avx2|avxvnni|avx512|avx512vnni)\\.c$")
        set(isa ${CMAKE_MATCH_1})
    endif()
    set(${out} "${isa}" PARENT_SCOPE)
endfunction()
