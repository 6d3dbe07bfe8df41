#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Puts upstream llama.cpp (prebuilt libraries and headers from npm) outside the tree and builds
# peer_logits and peer_speed against it. Repeating it costs nothing. Exit code 77: something is not
# to be had here.
#
# Where: $LOCUM_PEER_DIR, by default ~/.cache/locum-peer. Afterwards there are
#   peer_logits, peer_speed         the programs
#   speed-version                   what peer_speed measures, in words
#   libs/                           libggml-cpu-<tier>.so, libllama
#   llama.cpp/                      the source of that release (headers, vocabularies, templates)
set -euo pipefail

version=3.21.1
peer_name=llama.cpp
# shellcheck source=tools/peer/peer_setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/peer_setup.sh"
dir=$peer_base

fetch() {
    command -v npm >/dev/null || skip "npm is not installed (apt-get install npm)"
    command -v git >/dev/null || skip "git is not installed"
    npm install --prefix "$dir" --ignore-scripts --omit=optional --no-audit --no-fund \
        "node-llama-cpp@$version" "@node-llama-cpp/linux-x64@$version" >"$dir/npm.log" 2>&1 ||
        skip "npm could not install node-llama-cpp $version (see $dir/npm.log)"
    rm -rf "$dir/llama.cpp"
    git -c advice.detachedHead=false clone -q \
        "$dir/node_modules/node-llama-cpp/llama/gitRelease.bundle" "$dir/llama.cpp"
    ln -sfn "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64" "$dir/libs"
    echo "$version" >"$dir/version"
}

build() {
    local libs=$dir/libs
    peer_link "$1" "$dir" -I "$dir/llama.cpp/include" -I "$dir/llama.cpp/ggml/include" -L "$libs" \
        -l:libllama.v0.4.0.so -l:libggml.v0.4.0.so -l:libggml-base.so -Wl,-rpath,"$libs"
}

mkdir -p "$dir"
# One at a time: two that install into the same folder would clash.
exec 9>"$dir/lock"
flock 9
if [ "$(cat "$dir/version" 2>/dev/null || true)" != "$version" ]; then fetch; fi
for program in peer_logits.c peer_speed.c; do
    peer_is_built "$program" "$dir" || build "$program"
done
echo "llama.cpp $(git -C "$dir/llama.cpp" rev-parse --short=8 HEAD), prebuilt (npm node-llama-cpp" \
    "$version)" >"$dir/speed-version"
echo "$dir"
