# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Shared by the scripts of this folder: messages, installing what is missing, building.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
mkdir -p build

say() { printf '\n== %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

jobs=$(nproc 2>/dev/null || echo 2)
# A compiler cache is used where there is one; nothing needs it.
if command -v ccache >/dev/null 2>&1; then
    export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-ccache}
fi

# --- Packages -----------------------------------------------------------------------------------

# To build: the compiler and the libraries of the command. libcmocka is the tests'.
# shellcheck disable=SC2034 # used by the scripts that source this
packages_build=(gcc libc6-dev cmake ninja-build pkg-config
    libjansson-dev liburing-dev libcmocka-dev)
# To check, beyond that: the second compiler with its fuzzer, AVX-512 in portable C, the scripts;
# without OpenBLAS the float reference of the real models takes an hour.
# shellcheck disable=SC2034
packages_check=(clang-14 libclang-rt-14-dev libsimde-dev binutils git python3 python3-numpy
    libopenblas0-pthread ca-certificates)

missing_packages() {
    local package
    for package in "$@"; do
        [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
            printf '%s ' "$package"
    done
}

# Installs those of the named packages that are missing. Says what it does before it does it.
need_packages() {
    if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
        command -v cmake >/dev/null 2>&1 && command -v ninja >/dev/null 2>&1 && return
        die "this system has no apt; install the equivalents of: $*"
    fi
    local missing as_root=() log=build/setup.log
    missing=$(missing_packages "$@")
    [[ -n $missing ]] || return 0
    if [[ $(id -u) != 0 ]]; then
        command -v sudo >/dev/null 2>&1 ||
            die "packages are missing and there is no sudo; as root: apt-get install $missing"
        as_root=(sudo)
    fi
    say "installing: $missing"
    # An update that fails leaves older lists, which may do; the installation is what decides.
    # shellcheck disable=SC2086 # the list is words
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive bash -c '
        apt-get -q -o DPkg::Lock::Timeout=300 update
        apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@"
    ' setup $missing >"$log" 2>&1 </dev/null || {
        tail -n 20 "$log" >&2
        die "could not install: $missing (all of it: $log)"
    }
}

# --- Building -----------------------------------------------------------------------------------

# build_preset PRESET [TARGET...]: configures and builds; the output is shown only when it fails.
build_preset() {
    local preset=$1 log=build/$1.log
    shift
    local targets=()
    [[ $# == 0 ]] || targets=(--target "$@")
    # -k 0: all errors in one go.
    if ! { cmake --preset "$preset" &&
        cmake --build "build/$preset" -j "$jobs" "${targets[@]}" -- -k 0; } >"$log" 2>&1 </dev/null; then
        grep -E -m 40 -A 6 'error|warning|FAILED|CMake Error' "$log" >&2 || tail -n 40 "$log" >&2
        printf 'the build %s failed (all of it: %s)\n' "$preset" "$log" >&2
        return 1
    fi
}

# skipped_parts LOG [TEST]: what tests left out, "TEST: WHAT: WHY", each once. A test that passed may have
# said it of a part of itself. LOG is ctest's, or the output of TEST.
skipped_parts() {
    awk -v test="${2-}" '
        $2 == "Test:" && $1 ~ /^[0-9]+\/[0-9]+$/ { test = $3 }
        /^[ \t]*SKIP(PED)?[ :]/ {
            sub(/^[ \t]*SKIP(PED)?:?[ \t]*/, "")
            line = test ": " $0
            if (!seen[line]++) print line
        }
    ' "$1"
}

# bundled_model: the path of the model that comes with the tree; fails when there is none.
bundled_model() {
    local model
    for model in models/*.gguf; do
        [[ -f $model ]] && printf '%s\n' "$model" && return 0
    done
    return 1
}
