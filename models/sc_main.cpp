// SPDX-License-Identifier: Apache-2.0
// What a program that simulates owes to others: SystemC's library and the sanitizers.
#include <systemc>

/// The library brings a main() that calls this.  Our programs have a main() of their own and elaborate when they
/// are ready, so it is never called; the library's reference only has to resolve.
int sc_main(int, char*[]) { return 0; }

#ifdef __SANITIZE_ADDRESS__
/// SystemC switches stacks without telling AddressSanitizer: frames kept after their return would be taken for
/// those of another process.  What a simulation holds lives as long as the program.  ASAN_OPTIONS overrides this.
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=0:detect_leaks=0"; }
#endif
