// Files and folders that are not yet what they will be. They have a name that is nobody else's, ".shardc.tmp." and 16
// hex digits, and go away with what makes them:
//   - it fails: it removes them itself;
//   - a signal ends the process: its handler calls remove_temporaries();
//   - the process is killed: the next one that writes into the folder removes them. A temporary that somebody is still
//     writing is locked, and a lock ends with its process, in whatever container that was.
#pragma once

#include <string>
#include <string_view>

namespace shard {

class Disk;

std::string temporary_name(); // ".shardc.tmp.0123456789abcdef", of random digits
bool is_temporary_name(std::string_view name);

// A path that must not outlive the process, as long as this object lives. It is made before the path is; it removes
// nothing itself.
class Temporary {
public:
    explicit Temporary(std::string path);
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary();
    const std::string& path() const;

    struct Entry;

private:
    Entry* entry_;
};

// Files, then empty folders. A signal handler may call it.
void remove_temporaries();

// Temporary files in a folder whose writers are gone. What cannot be told, or removed, stays: it does no harm.
void remove_stale_temporaries(Disk& disk, const std::string& folder);

// A temporary is its writer's from the moment it can be seen until it has a name of its own: beyond its closing.
class TemporaryLock {
public:
    explicit TemporaryLock(int descriptor);
    TemporaryLock(const TemporaryLock&) = delete;
    TemporaryLock& operator=(const TemporaryLock&) = delete;
    ~TemporaryLock();
    bool is_held() const { return held_; } // false if somebody took the file for stale in between

private:
    int descriptor_; // another one of the same open file
    bool held_ = false;
};

} // namespace shard
