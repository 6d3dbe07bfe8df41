#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Parses back what the chat templates of about 64 models write (round_trip.py). Ends with 77 when they cannot be had.
#
#   external_round_trip.sh [BUILD_DIR]    with the programs jinja_render and stream_parse; by default build/release
#
# The templates come with llama.cpp in the npm package node-llama-cpp; they are kept in $LOCUM_PEER_DIR
# (~/.cache/locum-peer), which tests/jinja/external_templates.sh shares.
set -euo pipefail

version=3.21.1
least=60
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:-$here/../../build/release}
dir=${LOCUM_PEER_DIR:-$HOME/.cache/locum-peer}
templates=$dir/llama.cpp/models/templates

skip() {
    echo "SKIP answers of real chat templates: $1" >&2
    exit 77
}

for program in "$build/tools/jinja_render" "$build/tests/chat/stream_parse"; do
    [[ -x $program ]] || { echo "there is no program $program" >&2; exit 1; }
done
mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
if ! compgen -G "$templates/*.jinja" >/dev/null; then
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

exec /usr/bin/python3 -B "$here/round_trip.py" --least "$least" "$build/tools/jinja_render" \
    "$build/tests/chat/stream_parse" "$here/external_losses.txt" "$templates"
