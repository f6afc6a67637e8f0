// SPDX-License-Identifier: Apache-2.0
/// Chrome trace-event JSON as other people write it: checked, B and E paired, times in ticks, sorted by thread and
/// time.  What the spans mean is chrome_import's business.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sm100::traces {

/// One span: an X event, a B event with its E, or a B event that the file's end finds open.
struct ChromeSpan {
  size_t event = 0;                      ///< index into traceEvents, from 0; of the B
  std::string_view name;                 ///< these two lie in ChromeDocument
  const nlohmann::json* args = nullptr;  ///< null where it has none
  uint64_t begin = 0, end = 0;           ///< ticks
  bool open = false;                     ///< its E is missing: it ends with the last event of the file
};

/// The events of one (pid, tid).
struct ChromeThread {
  int64_t pid = 0, tid = 0;
  int rank = 0;  ///< of this tid among those of its process, from 0
  std::string process_name, thread_name;
  std::vector<ChromeSpan> spans;  ///< by begin; those of one time as in the file
};

/// The file, parsed.  An object with traceEvents or the bare array of events; plain or gzip-compressed.
class ChromeDocument {
 public:
  /// Throws std::runtime_error, one line, when it cannot be read, is no JSON or holds no array of events.
  explicit ChromeDocument(const std::filesystem::path& path);
  /// Events that somebody has made of another format.
  /// @param name  of the file
  ChromeDocument(std::string name, nlohmann::json events);
  ChromeDocument(const ChromeDocument&) = delete;
  ChromeDocument& operator=(const ChromeDocument&) = delete;

  /// Null where the file has none.
  const nlohmann::json* other_data() const;

  /// All threads that an event names, by pid and tid; metadata events (M) count as well and give the names.
  /// @param ticks_per_unit  ticks in one unit of ts and dur
  /// @param known    the span names that are wanted
  /// @param ignored  names whose events, of any phase, are left out
  /// Throws std::runtime_error, one line, at the first event that is neither or is malformed.
  std::vector<ChromeThread> threads(double ticks_per_unit, const std::vector<std::string>& known,
                                    const std::vector<std::string>& ignored) const;

  /// "FILE: event 17 "WAIT_MMA": WHAT", for std::runtime_error.
  std::string message(size_t event, std::string_view what) const;

 private:
  std::string name_;  ///< of the file
  nlohmann::json root_;
  const nlohmann::json* events_ = nullptr;
};

/// A file's JSON.  Throws std::runtime_error, one line that names the file, when it is none.
nlohmann::json parse_json(const std::string& text, const std::string& name);

/// "A", "B", "C"; the first few of many.
std::string quoted_list(const std::vector<std::string>& names);

}  // namespace sm100::traces
