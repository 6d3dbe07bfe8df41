#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares Locum with llama.cpp (npm), with real models (PyPI) and with the float reference.
# Usage: run.sh [section ...]; run.sh --list. Exit code 1: a bound is broken; 77: nothing could run.
# LOCUM_BUILD: folder of the build to test (default build/release).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo "SKIP all: /usr/bin/python3 has no numpy (apt-get install python3-numpy)" >&2
    exit 77
fi
if ! /usr/bin/python3 -c 'import numpy, sys
sys.exit(not any("openblas" in line for line in open("/proc/self/maps")))'; then
    echo "note: NumPy runs without OpenBLAS (apt-get install libopenblas0-pthread);" \
        "the float reference of the real models will take an hour" >&2
fi
exec /usr/bin/python3 "$here/peer_test.py" "$@"
