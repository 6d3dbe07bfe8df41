#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Is tests/sample/llama_cpp.txt what llama.cpp's samplers say? Their library comes with the npm package
# node-llama-cpp (tools/peer/setup.sh, which keeps it in $LOCUM_PEER_DIR). Takes seconds once it is there.
# Ends with 77 when it cannot be had.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
status=0
dir=$(bash "$here/../../tools/peer/setup.sh") || status=$?
if [[ $status == 77 ]]; then
    echo "SKIP samplers against llama.cpp: its library is not to be had" >&2
    exit 77
fi
[[ $status == 0 ]] || exit "$status"
dir=$(tail -n 1 <<<"$dir")
library=$(compgen -G "$dir/libs/libllama.v*.so" | head -n 1)
LD_LIBRARY_PATH=$dir/libs exec /usr/bin/python3 -B "$here/sampler_peer.py" "$library" \
    --check "$here/llama_cpp.txt"
