#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every scenario of scenarios/copy on this machine's GPU: checks the data, times it, records a trace and a JSON
# result of each in OUT.   usage: copy_traces.sh SM100_RUN OUT
set -u
run=$1 out=$2
mkdir -p "$out"
failed=0
for scenario in "$(dirname "$0")"/../../scenarios/copy/*.toml; do
  name=$(basename "$scenario" .toml)
  "$run" "$scenario" --trace "$out/$name.pftrace" --json "$out/$name.json" --repeat 20 || failed=1
done
exit $failed
