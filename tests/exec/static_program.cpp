// SPDX-License-Identifier: Apache-2.0
// Holds CUDA code, as far as its sections say, and asks for no runtime library: as nvcc links by default.
__attribute__((section(".nv_fatbin"), used)) static const char code[16] = "no code";
int main() { return 0; }
