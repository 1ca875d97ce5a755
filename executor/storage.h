// Files too large to hold in memory: read by ranges, or written once from front to back and on the disk when they are
// done. All problems are the operating system's words.
#pragma once

#include "plans/base.h"
#include "plans/crc32.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

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

// Must not exist before. What is half written when it goes away stays: the folder it is in is then thrown away.
class NewFile {
public:
    explicit NewFile(const std::string& path);
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile();

    void append(std::span<const std::byte> bytes); // does nothing after a problem
    void append(std::string_view text);
    bool finish(); // flushed to the disk and closed; false after any problem
    const std::string& problem() const { return problem_; }
    i64 bytes() const { return bytes_; }
    std::uint32_t crc32() const { return sum_.value(); }

private:
    int descriptor_ = -1;
    i64 bytes_ = 0;
    Crc32 sum_;
    std::string problem_;
};

// Names that were made, renamed or removed in a folder are on the disk.
bool sync_folder(const std::string& path, std::string& problem);

// One process at a time, as long as this lives. On file systems without locks everybody gets it.
class FolderLock {
public:
    explicit FolderLock(const std::string& path);
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    ~FolderLock();
    bool taken_by_other() const { return taken_by_other_; }

private:
    int descriptor_ = -1;
    bool taken_by_other_ = false;
};

} // namespace shard
