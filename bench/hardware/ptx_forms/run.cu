// SPDX-License-Identifier: Apache-2.0
/// run_forms FORMS.cubin FORMS.txt > RESULTS.txt: runs each form on the GPU, a thread for each row of operands.

#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

void must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text ? text : "?");
  std::exit(1);
}

constexpr int kThreads = 64;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "run_forms FORMS.cubin FORMS.txt\n"), 2;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  must(cuInit(0), "cuInit"), must(cuDeviceGet(&device, 0), "cuDeviceGet");
  must(cuDevicePrimaryCtxRetain(&context, device), "context"), must(cuCtxSetCurrent(context), "context");
  must(cuModuleLoad(&module, argv[1]), argv[1]);
  CUdeviceptr in, out;
  must(cuMemAlloc(&in, kThreads * 64), "cuMemAlloc"), must(cuMemAlloc(&out, kThreads * 64), "cuMemAlloc");
  std::ifstream operands(argv[2]);
  for (std::string line; std::getline(operands, line);) {
    std::istringstream head(line);
    int number = 0, inputs = 0, outputs = 0;
    std::string name;
    if (!(head >> number >> name >> inputs >> outputs)) continue;
    std::vector<uint64_t> values, results(static_cast<size_t>(kThreads * outputs));
    for (int t = 0; t < kThreads && std::getline(operands, line); ++t) {
      std::istringstream row(line);
      for (uint64_t v = 0; row >> std::hex >> v;) values.push_back(v);
    }
    CUfunction function;
    must(cuModuleGetFunction(&function, module, ("form_" + std::to_string(number)).c_str()), name.c_str());
    must(cuMemcpyHtoD(in, values.data(), values.size() * 8), name.c_str());
    void* arguments[] = {&in, &out};
    must(cuLaunchKernel(function, 1, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr), name.c_str());
    must(cuMemcpyDtoH(results.data(), out, results.size() * 8), name.c_str());
    for (int t = 0; t < kThreads; ++t) {
      std::printf("%d %d", number, t);
      for (int i = 0; i < outputs; ++i)
        std::printf(" %llx", static_cast<unsigned long long>(results[static_cast<size_t>(t * outputs + i)]));
      std::printf("\n");
    }
  }
  return 0;
}
