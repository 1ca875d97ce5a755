// Where a path that is to be written leads: what is found out without writing anything.
#pragma once

#include <optional>
#include <string>

#include <sys/stat.h>

namespace shard {

struct OutputPath {
    enum Kind {
        file,       // a regular file, or nothing yet, in a folder where files can be made
        in_place,   // a pipe, a terminal, a device
        descriptor, // of this process: /dev/stdout
    };
    Kind kind = file;
    std::string path;   // symbolic links followed
    bool exists = true; // false: of a file that is not there yet
    struct stat status = {};
    int number = -1; // of a descriptor
};

enum class OutputUse {
    replace, // a new file in the place of the old one
    append,
    renew,  // as `replace`, and it may have been read: what names the newest of something, a text in another form
    folder, // new files in it; it may have to be made first
};

// nullopt, with `problem`, if it could not be written now, as far as can be told without writing; also if it is an
// input (plans/disk/read_inputs.h).
std::optional<OutputPath> find_output(const std::string& path, OutputUse use, std::string& problem);
bool check_output(const std::string& path, OutputUse use, std::string& problem);

// What a path leads to, links followed: paths of one file have one identity, and paths that would make one file. So has
// a descriptor of this process by its name, /dev/stdin, or by its number. nullopt if that is no regular file, or cannot
// be told.
struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    std::string name = {}; // in the folder that these are of, if the file is not there yet
    bool operator==(const FileIdentity&) const = default;
};
std::optional<FileIdentity> identity_of(const std::string& path);
std::optional<FileIdentity> identity_of(int descriptor);
bool is_descriptor(const std::string& path);
// An input by this path, or its other paths, was read.
bool is_input(const std::string& path);

} // namespace shard
