// A disk that remembers every call, and what could be left of them when the machine stops.
#pragma once

#include "plans/disk/disk.h"

#include <map>
#include <set>
#include <vector>

namespace shard {

// Carries everything out, below a folder, and lists what was carried out.
class RecordedDisk : public Disk {
public:
    explicit RecordedDisk(std::string root) : root_(std::move(root)) {}
    int open(const std::string& path, int flags, mode_t mode) override;
    ssize_t write(int descriptor, const char* from, size_t bytes) override;
    int ftruncate(int descriptor, off_t bytes) override;
    int fsync(int descriptor) override;
    int rename(const std::string& from, const std::string& to) override;
    int unlink(const std::string& path) override;
    int mkdir(const std::string& path) override;
    int rmdir(const std::string& path) override;

    struct Call {
        enum Kind { new_file, new_folder, written, synced, renamed, removed } kind;
        std::string path;       // from the root
        std::string other = {}; // renamed: the new path; written: the bytes
    };
    std::vector<Call> calls;

private:
    std::string below(const std::string& path) const;
    std::string root_;
    std::map<int, std::string> open_;
};

// What may be on a disk after calls, as POSIX promises it: the bytes of a file are there once the file was synced, a
// name in a folder once the folder was; what was not synced may be there too, in any selection and order.
class CrashedDisk {
public:
    CrashedDisk();
    void apply(const RecordedDisk::Call& call);
    // The trees that may be found, written as text, each once: all selections of unsynced names if they are few, else
    // those with one or all but one, those in order, and some at random; with unsynced bytes and without.
    std::set<std::string> states() const;

private:
    struct Node {
        bool folder = false;
        std::string synced, now;               // of a file
        std::map<std::string, int> kept, seen; // of a folder: names that are on the disk, and that processes see
        std::vector<std::pair<std::string, int>> pending; // names that were set since, -1: removed; one call's are one
        std::vector<int> calls;                           // that the pending names are of
    };
    int find(const std::string& path) const;
    int parent_of(const std::string& path, std::string& name) const;
    void set(int folder, const std::string& name, int node);
    void write_state(int node, const std::string& path, const std::set<int>& kept, bool bytes, std::string& out) const;

    std::vector<Node> nodes_;
    int call_ = 0;
};

// Makes the files and folders of a state below a folder that is empty.
void make_state(const std::string& state, const std::string& root);

} // namespace shard
