// SPDX-License-Identifier: Apache-2.0
// A host for learn-cuda's 02e_matmul_sm100: calls the functions of one of its files as its Python script does and
// compares their products.  -DSOURCE="matmul_v4.cu" -DFUNCTIONS=ONE(matmul_v4); without arguments 512 x 512 x 512.
#include SOURCE

#include <cstdlib>

#include "product.h"

namespace {

using Function = void (*)(const nv_bfloat16*, const nv_bfloat16*, nv_bfloat16*, int, int, int);
struct Named {
  const char* name;
  Function function;
};
#define ONE(function) \
  Named { #function, function }
constexpr Named kFunctions[] = {FUNCTIONS};

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(code));
  std::exit(1);
}

nv_bfloat16* copy_of(const std::vector<uint16_t>& matrix) {
  nv_bfloat16* device;
  check(cudaMalloc(&device, matrix.size() * 2));
  check(cudaMemcpy(device, matrix.data(), matrix.size() * 2, cudaMemcpyHostToDevice));
  return device;
}

}  // namespace

int main(int argc, char** argv) {
  const int m = argc > 1 ? std::atoi(argv[1]) : 512, n = argc > 2 ? std::atoi(argv[2]) : 512,
            k = argc > 3 ? std::atoi(argv[3]) : 512;
  const std::vector<uint16_t> a = operand(m, k, 1), b = operand(n, k, 2);
  std::vector<uint16_t> c(size_t(m) * size_t(n));
  bool passed = true;
  for (const Named& matmul : kFunctions) {
    nv_bfloat16 *da = copy_of(a), *db = copy_of(b), *dc;
    check(cudaMalloc(&dc, c.size() * 2));
    matmul.function(da, db, dc, m, n, k);
    check(cudaGetLastError());
    check(cudaMemcpy(c.data(), dc, c.size() * 2, cudaMemcpyDeviceToHost));
    passed &= is_product(matmul.name, a, b, c, m, n, k);
    for (nv_bfloat16* matrix : {da, db, dc}) check(cudaFree(matrix));
  }
  return passed ? 0 : 1;
}
