// Files too large to hold in memory, read by ranges, and locks of folders. All problems are the operating system's
// words.
#pragma once

#include "plans/base/base.h"

#include <optional>
#include <span>
#include <string>

namespace shard {

// A regular file that was opened to be read. Any thread may read.
class RangeFile {
public:
    static std::optional<RangeFile> open(const std::string& path, std::string& problem);
    RangeFile(RangeFile&& other) noexcept : descriptor_(other.descriptor_), bytes_(other.bytes_) {
        other.descriptor_ = -1;
    }
    RangeFile& operator=(RangeFile&&) = delete;
    ~RangeFile();

    i64 bytes() const { return bytes_; } // when it was opened
    // All of [offset, offset + to.size()); a file that ends before is a problem.
    bool read(i64 offset, std::span<std::byte> to, std::string& problem) const;

private:
    RangeFile(int descriptor, i64 bytes) : descriptor_(descriptor), bytes_(bytes) {}
    int descriptor_ = -1;
    i64 bytes_ = 0;
};

// The whole of a regular file, of at most `limit` bytes; nothing else is waited for.
std::optional<std::string> read_regular_file(const std::string& path, size_t limit, std::string& problem);

// As long as this lives: one process, or any number that only read. On file systems without locks everybody gets it,
// and nobody holds it.
class FolderLock {
public:
    enum Kind { one, readers };
    FolderLock(const std::string& path, Kind kind);
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    ~FolderLock();
    bool held() const { return held_; }
    bool taken_by_other() const { return taken_by_other_; }

private:
    int descriptor_ = -1;
    bool held_ = false, taken_by_other_ = false;
};

} // namespace shard
