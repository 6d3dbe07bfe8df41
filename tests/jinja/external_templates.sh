#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Holds our chat templates against Python's jinja2, set up as Hugging Face's transformers does it: about 900
# constructs, and every template that comes with llama.cpp (about 64 models') over a matrix of
# conversations. Takes a minute. Ends with 77 when a package cannot be had.
#
#   external_templates.sh [JINJA_RENDER]    the program, by default that of build/release
#
# jinja2 comes from PyPI, the templates with the npm package node-llama-cpp; both are kept in
# $LOCUM_PEER_DIR (~/.cache/locum-peer), which tools/peer/setup.sh shares.
set -euo pipefail

version=3.21.1
jinja2=3.1.6
least=60
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${1:-$here/../../build/release/tools/jinja_render}
dir=${LOCUM_PEER_DIR:-$HOME/.cache/locum-peer}
templates=$dir/llama.cpp/models/templates
modules=$dir/jinja2-$jinja2

skip() {
    echo "SKIP chat templates against jinja2: $1" >&2
    exit 77
}

[[ -x $program ]] || { echo "there is no program $program: build the target jinja_render" >&2; exit 1; }
mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
if [[ ! -d $modules ]]; then
    rm -rf "$modules.part"
    /usr/bin/python3 -m pip install --quiet --target "$modules.part" "jinja2==$jinja2" \
        >"$dir/jinja2.log" 2>&1 || skip "pip could not install jinja2 $jinja2 (see $dir/jinja2.log)"
    mv "$modules.part" "$modules"
fi
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

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$modules \
    exec /usr/bin/python3 "$here/template_peer.py" --least "$least" "$program" "$templates"
