// SPDX-License-Identifier: Apache-2.0
// What CC.CF holds behind add.cc, sub.cc, addc.cc, subc.cc and mad.lo.cc, as addc and subc read it: PTX 9.7.2 calls
// it carry-out and borrow-out, and does not say whether a borrow is kept as it is or inverted.
//
//   nvcc -arch=native -o carry bench/hardware/carry.cu && ./carry        a line for each pair: 0 or 1 by addc, 0 or
//   ffffffff by subc
#include <cstdio>

#define PAIR(out, first, second) \
  asm volatile("{.reg .u32 d;" first " d, %1, %2;" second " %0, 0, 0;}" : "=r"(out) : "r"(a), "r"(b))
#define PAIR64(out, first, second)                                                                     \
  asm volatile("{.reg .u64 d, x, y, r; cvt.u64.u32 x, %1; cvt.u64.u32 y, %2;" first " d, x, y;" second \
               " r, 0, 0; cvt.u32.u64 %0, r;}"                                                         \
               : "=r"(out)                                                                             \
               : "r"(a), "r"(b))
#define CHAIN(out, first, second, third)                                                       \
  asm volatile("{.reg .u32 d, e;" first " d, %1, %2;" second " e, %1, %2;" third " %0, 0, 0;}" \
               : "=r"(out)                                                                     \
               : "r"(a), "r"(b))

__global__ void pairs(unsigned a, unsigned b, unsigned* out) {
  PAIR(out[0], "add.cc.u32", "addc.u32");
  PAIR(out[1], "add.cc.u32", "subc.u32");
  PAIR(out[2], "sub.cc.u32", "addc.u32");
  PAIR(out[3], "sub.cc.u32", "subc.u32");
  PAIR64(out[4], "add.cc.u64", "addc.u64");
  PAIR64(out[5], "add.cc.u64", "subc.u64");
  PAIR64(out[6], "sub.cc.u64", "addc.u64");
  PAIR64(out[7], "sub.cc.u64", "subc.u64");
  CHAIN(out[8], "sub.cc.u32", "subc.cc.u32", "addc.u32");
  CHAIN(out[9], "sub.cc.u32", "addc.cc.u32", "subc.u32");
  CHAIN(out[10], "add.cc.u32", "subc.cc.u32", "addc.u32");
  asm volatile("{.reg .u32 d; mad.lo.cc.u32 d, %1, 1, %2; subc.u32 %0, 0, 0;}" : "=r"(out[11]) : "r"(a), "r"(b));
  asm volatile("{.reg .u32 d; sub.cc.u32 d, %1, %2; madc.lo.u32 %0, 0, 0, 0;}" : "=r"(out[12]) : "r"(a), "r"(b));
}

int main() {
  const char* const names[] = {"add.cc addc",         "add.cc subc",         "sub.cc addc",
                               "sub.cc subc",         "add.cc.u64 addc.u64", "add.cc.u64 subc.u64",
                               "sub.cc.u64 addc.u64", "sub.cc.u64 subc.u64", "sub.cc subc.cc addc",
                               "sub.cc addc.cc subc", "add.cc subc.cc addc", "mad.lo.cc subc",
                               "sub.cc madc.lo"};
  unsigned* out;
  if (cudaMallocManaged(&out, sizeof names) != cudaSuccess) return std::puts("no device"), 1;
  const unsigned inputs[][2] = {{5, 3}, {3, 5}, {0xffffffff, 1}, {0, 0}, {7, 7}};
  for (const auto& in : inputs) {
    pairs<<<1, 1>>>(in[0], in[1], out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 13; ++i) std::printf("%x %x %s: %x\n", in[0], in[1], names[i], out[i]);
  }
}
