#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What tests leave out is found in the log of a real run: also of a test that passed after much
# output, and each line once.
#
#     skips.sh CTEST FOLDER
set -euo pipefail
ctest=$1 work=$2
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

rm -rf "$work"
mkdir -p "$work"
cat >"$work/CTestTestfile.cmake" <<'END'
add_test(in_part sh -c "seq 20000; echo 'SKIP direct reads: why'; echo 'SKIP direct reads: why'")
add_test(indented sh -c "echo '  SKIPPED avx512: not here'; echo SKIPPING; echo 'I SKIP: no'")
add_test(whole sh -c "echo 'SKIP: no numpy'; exit 77")
set_tests_properties(whole PROPERTIES SKIP_RETURN_CODE 77)
add_test(complete echo "0 skipped")
END
"$ctest" --test-dir "$work" -j 2 >"$work/out" 2>&1
found=$(skipped_parts "$work/Testing/Temporary/LastTest.log" | sort)
wanted="in_part: direct reads: why
indented: avx512: not here
whole: no numpy"
[[ $found == "$wanted" ]] || { printf 'found:\n%s\nwanted:\n%s\n' "$found" "$wanted"; exit 1; }
