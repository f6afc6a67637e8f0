// SPDX-License-Identifier: Apache-2.0
/// What a program's runtime library (exec/shim) and the process that simulates its device (exec/) say to each other
/// over a socket: the library asks, the device answers, one at a time.
///
/// A message is a Header and that many bytes, which Writer appends and Reader takes in the same order.  Both ends
/// are of one build and one machine: numbers are as the processor has them.  Device memory is no part of it: it is
/// a file without a name that both have mapped.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sm100::exec {

/// Environment of the program: "SOCKET,MEMORY,BYTES", two file descriptors that it inherits and the size of the
/// second.
inline constexpr char kVariable[] = "SM100SIM_EXEC";
inline constexpr uint32_t kProtocolVersion = 5;
/// Where device memory begins in the address space of every process.
inline constexpr uint64_t kDeviceBase = 0x2000'0000'0000;
inline constexpr uint64_t kDeviceAlign = 256;  ///< of what cudaMalloc returns
/// Of a message: a module has a few megabytes.
inline constexpr uint32_t kMostBytes = 1u << 30;

enum class Request : uint32_t {
  hello,   ///< version, major of the library -> DeviceFacts
  module,  ///< text of PTX, empty: the program has none; number of entries with machine code, name and registers of
           ///< each -> 1, number, bytes of its variables; or 0
  variables,  ///< module, address -> name, address, bytes of each; they have their initial values
  entry,      ///< module, name -> EntryFacts
  occupancy,  ///< module, name, Shape -> CTAs of an SM, clusters of the device
  launch,     ///< module, name, Shape, parameters, Blocks, WorkOrder -> LaunchReply
  entries,    ///< module -> their number, names
  calls,      ///< names of functions that the program has called, if the device records them -> nothing
  measured,   ///< nanoseconds between two events of the program -> nothing
  note,       ///< a sentence for the user -> nothing
  refusal,    ///< a sentence: the program cannot run -> nothing
  moved,      ///< what copies or fills, WorkOrder, Blocks that are read, Blocks that are written, allocations ->
              ///< nothing
  freed,      ///< a Block that is no allocation any more -> nothing
};

struct Header {
  uint32_t request = 0;  ///< Request; 0 in an answer
  uint32_t bytes = 0;
};

/// Of the device as the program sees it.
struct DeviceFacts {
  char name[64] = {};
  uint64_t memory_bytes = 0, l2_bytes = 0;
  uint32_t compute_capability = 100;  ///< 10.0
  uint32_t sms = 0, clock_khz = 0;
  uint32_t smem_bytes_per_sm = 0, smem_bytes_per_cta = 0;
  uint32_t registers_per_sm = 0, threads_per_sm = 0, ctas_per_sm = 0;
  uint8_t records_calls = 0;
  uint8_t has_ptx = 0;        ///< of the user, for modules without
  uint8_t fresh_byte = 0xff;  ///< that allocations are full of
  uint8_t names_streams = 0;  ///< the program's file names functions that create streams
};

struct Parameter {
  uint32_t offset = 0, bytes = 0;
};

struct EntryFacts {
  uint32_t parameter_bytes = 0;
  uint32_t static_smem_bytes = 0, local_bytes = 0, constant_bytes = 0;
  uint32_t registers = 0;           ///< of a thread, by the machine code; 0: there is none
  uint32_t threads = 1024;          ///< of a CTA, at most
  uint32_t cluster[3] = {1, 1, 1};  ///< of the entry's directives
  uint8_t cluster_stated = 0;
};

struct Shape {
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  uint32_t dynamic_smem_bytes = 0;
  uint8_t cluster_stated = 0;  ///< as an attribute of the launch
  uint8_t cooperative = 0;     ///< all CTAs are on the device at once
  uint8_t programmatic = 0;    ///< it may begin before the launch ahead in its stream has completed
  uint64_t stream = 0;
  uint64_t grid_workspace = 0;  ///< of a cooperative launch: two words in device memory, zero
};

/// An allocation.
struct Block {
  uint64_t address = 0, bytes = 0;
};

/// So much of a stream's work.
struct WorkCount {
  uint64_t stream = 0, count = 0;
};
/// Where a piece of work stands among that of all streams.
struct WorkOrder {
  uint8_t watched = 0;             ///< the program may have several streams; nothing else holds if it has not
  uint8_t stream_flags = 0;        ///< of cudaStreamCreateWithFlags
  uint64_t stream = 0, count = 0;  ///< the stream's number, 0: the default stream; which of its pieces, from 1
  std::vector<WorkCount> after;    ///< it begins when so much of other streams is over
  std::vector<WorkCount> waited;   ///< what the host has waited for
};

/// What CUDA has an error of its own for.
enum class LaunchFault : uint8_t { other, assertion, illegal_address, misaligned_address };

struct LaunchReply {
  uint8_t carried_out = 0;  ///< to its end; its numbers are what the kernel computed
  uint8_t refused = 0;      ///< it was never begun: a shape that the device does not take
  uint8_t fault = 0;        ///< LaunchFault, of one that was not carried out
  double nanoseconds = 0;
};

class Writer {
 public:
  template <class T>
  Writer& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return append(&value, sizeof value);
  }
  Writer& text(std::string_view value) { return put(uint32_t(value.size())).append(value.data(), value.size()); }
  template <class T>
  Writer& list(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return put(uint32_t(values.size())).append(values.data(), values.size() * sizeof(T));
  }
  Writer& order(const WorkOrder& o) {
    return put(o.watched).put(o.stream_flags).put(o.stream).put(o.count).list(o.after).list(o.waited);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Writer& append(const void* from, size_t count) {
    if (count > 0) bytes_.append(static_cast<const char*>(from), count);
    return *this;
  }
  std::string bytes_;
};

/// Throws std::runtime_error where the message is shorter than what is asked of it.
class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}
  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  WorkOrder order() {
    WorkOrder o;
    o.watched = get<uint8_t>(), o.stream_flags = get<uint8_t>();
    o.stream = get<uint64_t>(), o.count = get<uint64_t>();
    o.after = list<WorkCount>(), o.waited = list<WorkCount>();
    return o;
  }
  std::string text() {
    const uint32_t size = get<uint32_t>();
    return {take(size), size};
  }
  template <class T>
  std::vector<T> list() {
    const uint64_t count = get<uint32_t>();
    const char* const from = take(count * sizeof(T));
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), from, count * sizeof(T));
    return values;
  }

 private:
  const char* take(uint64_t count) {
    if (count > bytes_.size() - at_) throw std::runtime_error("a message is too short");
    const char* const from = bytes_.data() + at_;
    at_ += count;
    return from;
  }
  std::string bytes_;
  size_t at_ = 0;
};

/// False: the other end is gone.
inline bool send_all(int socket, const void* from, size_t count) {
  for (size_t at = 0; at < count;) {
    const ssize_t n = ::send(socket, static_cast<const char*>(from) + at, count - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += size_t(n);
  }
  return true;
}
inline bool receive_all(int socket, void* to, size_t count) {
  for (size_t at = 0; at < count;) {
    const ssize_t n = ::recv(socket, static_cast<char*>(to) + at, count - at, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += size_t(n);
  }
  return true;
}
inline bool send_message(int socket, Request request, const Writer& body) {
  const Header header{uint32_t(request), uint32_t(body.bytes().size())};
  return send_all(socket, &header, sizeof header) && send_all(socket, body.bytes().data(), body.bytes().size());
}
inline bool receive_message(int socket, Header& header, std::string& body) {
  if (!receive_all(socket, &header, sizeof header) || header.bytes > kMostBytes) return false;
  body.resize(header.bytes);
  return receive_all(socket, body.data(), body.size());
}

}  // namespace sm100::exec
