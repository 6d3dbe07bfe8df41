#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Holds our token ids against those of llama.cpp's own vocabulary files: every models/ggml-vocab-*.gguf of
# its release that has texts (.inp) and ids (.out), BERT-type ones aside. Lists them all; fails when an id
# differs or when fewer than 13 were there. Ends with 77 when the package cannot be had.
#
#   external_vocab_bundle.sh [VOCAB_CHECK]    the program, by default that of build/release
#
# The files come with the npm package node-llama-cpp and are kept in $LOCUM_PEER_DIR (~/.cache/locum-peer),
# which tools/peer/setup.sh shares.
set -euo pipefail

version=3.21.1
least=13
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
vocab_check=${1:-$root/build/release/tests/token/vocab_check}
dir=${LOCUM_PEER_DIR:-$HOME/.cache/locum-peer}
models=$dir/llama.cpp/models

skip() {
    echo "SKIP token ids of llama.cpp's vocabulary files: $1" >&2
    exit 77
}

[[ -x $vocab_check ]] || { echo "there is no program $vocab_check: build the target vocab_check" >&2; exit 1; }
mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
if ! compgen -G "$models/ggml-vocab-*.gguf" >/dev/null; then
    command -v npm >/dev/null || skip "npm is not installed (apt-get install npm)"
    command -v git >/dev/null || skip "git is not installed (apt-get install git)"
    npm install --prefix "$dir" --ignore-scripts --omit=optional --no-audit --no-fund \
        "node-llama-cpp@$version" >"$dir/npm.log" 2>&1 ||
        skip "npm could not install node-llama-cpp $version (see $dir/npm.log)"
    rm -rf "$dir/llama.cpp.part" "$dir/llama.cpp"
    git -c advice.detachedHead=false clone -q \
        "$dir/node_modules/node-llama-cpp/llama/gitRelease.bundle" "$dir/llama.cpp.part"
    mv "$dir/llama.cpp.part" "$dir/llama.cpp"
fi
flock -u 9

files=()
for file in "$models"/ggml-vocab-*.gguf; do
    case $file in
    *bert*) echo "left out (BERT): ${file##*/}" ;;
    *) if [[ -f $file.inp && -f $file.out ]]; then
           files+=("$file")
       else
           echo "left out (no texts): ${file##*/}"
       fi ;;
    esac
done
"$vocab_check" "${files[@]}"
if ((${#files[@]} < least)); then
    echo "only ${#files[@]} vocabularies were found, at least $least are expected" >&2
    exit 1
fi
echo "${#files[@]} vocabularies agree"
