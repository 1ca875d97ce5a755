// The border to the disk: what the program does when it writes, call by call. All that it leaves on a disk goes through
// here, so that a test can record it, lose what was not synced, or let any call fail.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

namespace shard {

// The system's calls of these names: -1 with errno if they fail.
class Disk {
public:
    virtual ~Disk() = default;
    virtual int open(const std::string& path, int flags, mode_t mode); // to write, or a folder to sync
    virtual ssize_t write(int descriptor, const char* from, size_t bytes);
    virtual int ftruncate(int descriptor, off_t bytes);
    virtual int fsync(int descriptor);
    virtual int close(int descriptor);
    virtual int rename(const std::string& from, const std::string& to);
    virtual int unlink(const std::string& path);
    virtual int mkdir(const std::string& path);
    virtual int rmdir(const std::string& path);
};

// The machine's own.
Disk& disk();

// False, with the system's words in `problem`.
bool write_all(Disk& disk, int descriptor, std::string_view bytes, std::string& problem);
// Names that were made, renamed or removed in a folder are on the disk.
bool sync_folder(Disk& disk, const std::string& path, std::string& problem);
// Makes a folder and those that it lies in, and brings their names to the disk; fine if it is there.
bool make_folders(Disk& disk, const std::string& path, std::string& problem);

// "a" of "a/b", "." of "b", "/" of "/b".
std::string folder_of(const std::string& path);

} // namespace shard
