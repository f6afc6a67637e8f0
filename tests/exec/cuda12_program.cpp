// SPDX-License-Identifier: Apache-2.0
extern "C" int cudaGetLastError();
int main() { return cudaGetLastError(); }
