#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every clean scenario of the project under many jitter seeds: each must be clean and give the same bits.
#   bench/explore/clean.sh [SEEDS] [PROGRAM]
# Prints a line for each scenario; ends with 1 if one fails.  tests/sim/test_explore.cpp has a short version.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seeds=${1:-20}
program=$(realpath "${2:-build/release/sm100sim}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

failed=0 count=0
while read -r scenario; do
  begin=$EPOCHREALTIME
  status=0
  "$program" explore "$scenario" --seeds "$seeds" -o "$scratch/replay.toml" >"$scratch/out" 2>"$scratch/err" || status=$?
  count=$((count + 1))
  printf '%s  %6.1f s  %s\n' "$([ $status = 0 ] && echo clean || echo "EXIT $status")" \
    "$(echo "$EPOCHREALTIME - $begin" | bc)" "$scenario"
  if [ $status != 0 ]; then
    failed=$((failed + 1))
    cat "$scratch/out" "$scratch/err"
    [ ! -e "$scratch/replay.toml" ] || sed -n '/^# From here on/,$p' "$scratch/replay.toml"
    rm -f "$scratch/replay.toml"
  fi
done < <(find scenarios -name '*.toml' -not -path 'scenarios/explore/*' -not -path 'scenarios/ladder/*' -not -name '*_4096.toml' \
           \( -not -path 'scenarios/bugs/*' -o -path 'scenarios/bugs/sound/*' \) | sort)
echo "$count scenarios, $failed failed, $seeds seeds each"
[ $failed = 0 ]
