// SPDX-License-Identifier: Apache-2.0
// SystemC's library brings a main() that calls sc_main().  Our programs have a main() of their own and
// elaborate when they are ready, so this is never called; the library's reference only has to resolve.
#include <systemc>

int sc_main(int, char*[]) { return 0; }
