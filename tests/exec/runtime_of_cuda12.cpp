// SPDX-License-Identifier: Apache-2.0
// A library with the name of another major version's runtime.
extern "C" int cudaGetLastError() { return 0; }
