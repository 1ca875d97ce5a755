// The one way in which files are written.
//
// A regular file, or one that is not there yet, appears whole: it is written beside its place, brought to the disk and
// renamed, so that every other process, and the one after a power cut, finds the old file or the new one. It keeps its
// mode, and its owner where that is allowed; symbolic links stay and what they lead to is replaced. A file without any
// write permission is not replaced, by root neither, and none that was read as an input (plans/disk/read_inputs.h).
//
// What is no file (a pipe, a terminal, a device) cannot be replaced: it is opened and written to. So is a descriptor of
// this process by its name: /dev/stdout, /dev/fd/3.
//
//     -o plan.json      a new file beside it, renamed
//     -o latest.json    -> plans/5.json: plans/5.json is replaced, the link stays
//     -o /dev/null      written to
//     -o /dev/stdout    written to descriptor 1, after what was written there before
//
// All problems are the operating system's words, or go where these would: "cannot write X: it is read-only".
#pragma once

#include "plans/base/base.h"
#include "plans/base/crc32.h"
#include "plans/disk/disk.h"
#include "plans/disk/output_path.h"

#include <cstddef>
#include <memory>
#include <span>

namespace shard {

// False, with `problem`, if it cannot be written; then nothing is left behind and an old file stays as it was.
bool write_file_atomically(const std::string& path, std::string_view contents, std::string& problem,
                           Disk& disk = shard::disk(), OutputUse use = OutputUse::replace);

// A file that grows by whole lines, or a pipe or device that they are sent to; stays open.
class LogFile {
public:
    static std::unique_ptr<LogFile> open(const std::string& path, std::string& problem, Disk& disk = shard::disk());
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;
    ~LogFile();
    // All of it is there, or nothing. It begins a line, also where the last one of the file has no end.
    bool append(std::string_view text, std::string& problem);

private:
    LogFile(int descriptor, bool regular, bool in_a_line, Disk& disk)
        : descriptor_(descriptor), regular_(regular), in_a_line_(in_a_line), disk_(&disk) {}
    int descriptor_;
    bool regular_, in_a_line_;
    Disk* disk_;
};

// A file that must not exist before, written once from front to back, and on the disk when it is finished. What is half
// written when it goes away stays: it is a temporary.
class NewFile {
public:
    explicit NewFile(const std::string& path, Disk& disk = shard::disk(), mode_t mode = 0666);
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile();

    void append(std::span<const std::byte> bytes); // does nothing after a problem
    void append(std::string_view text);
    bool finish(); // flushed to the disk and closed; false after any problem
    const std::string& problem() const { return problem_; }
    int error() const { return error_; }           // errno, if it could not be opened
    int descriptor() const { return descriptor_; } // -1 if there is none
    i64 bytes() const { return bytes_; }
    std::uint32_t crc32() const { return sum_.value(); }

private:
    Disk* disk_;
    int descriptor_ = -1, error_ = 0;
    i64 bytes_ = 0;
    Crc32 sum_;
    std::string problem_;
};

} // namespace shard
