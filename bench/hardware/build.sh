#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds hw_latency and hw_semantics into $1 (default: build/hardware under the current folder).
#   NVCC=/path/to/nvcc ARCH=90a JOBS=8 sh bench/hardware/build.sh build/hardware
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-build/hardware}
nvcc=${NVCC:-nvcc}
arch=${ARCH:-90a}
jobs=${JOBS:-8}
mkdir -p "$out"
flags="-std=c++20 --expt-relaxed-constexpr --extended-lambda -O3 -lineinfo -gencode arch=compute_${arch},code=sm_${arch} -I$here -I$here/../.."
latency="latency_sync latency_tma latency_sm latency_launch"
semantics="semantics_mbarrier semantics_tma semantics_group semantics_cluster semantics_matrix semantics_tensormap semantics_warp_wide semantics_registers semantics_seam"
{
  echo "harness.cpp"
  for f in $latency $semantics; do [ -f "$here/$f.cu" ] && echo "$f.cu"; done
} | xargs -P "$jobs" -I{} sh -c "$nvcc $flags -c '$here/{}' -o '$out/{}.o'"
objects() { for f in "$@"; do [ -f "$out/$f.cu.o" ] && echo "$out/$f.cu.o"; done; }
$nvcc $flags $(objects $latency) "$out/harness.cpp.o" -o "$out/hw_latency"
$nvcc $flags $(objects $semantics) "$out/harness.cpp.o" -o "$out/hw_semantics"
echo "built $out/hw_latency $out/hw_semantics"
