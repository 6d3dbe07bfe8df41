# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the scripts that set up a peer share; they source it with peer_name set. Peers live outside the
# tree, below $LOCUM_PEER_DIR, by default ~/.cache/locum-peer.
peer_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # used by the scripts that source this
peer_base=${LOCUM_PEER_DIR:-$HOME/.cache/locum-peer}

# Something is not to be had here: exit code 77, which tests take for a skip.
skip() {
    # shellcheck disable=SC2154 # set by those scripts
    echo "SKIP: no comparison with $peer_name: $1" >&2
    exit 77
}

# peer_link SOURCE DIR ARGUMENTS...: the program of that source of this folder, whole or not at all.
peer_link() {
    local source=$peer_here/$1 program=$2/${1%.c}
    shift 2
    "${CC:-cc}" -std=c11 -O2 -Wall -Wextra "$source" -o "$program.new" "$@"
    mv "$program.new" "$program"
}

# peer_is_built SOURCE DIR: the program there is as new as its sources.
peer_is_built() {
    local source=$peer_here/$1 program=$2/${1%.c}
    [ -x "$program" ] && [ ! "$source" -nt "$program" ] &&
        [ ! "$peer_here/peer_library.h" -nt "$program" ]
}

[ "$(uname -sm)" = "Linux x86_64" ] || skip "it is set up for Linux on x86-64 only"
