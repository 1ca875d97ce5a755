// Whether what is to be written has room, as far as can be told before.
#pragma once

#include "plans/base/base.h"

#include <span>
#include <string>

namespace shard {

// A file that will be written whole, beside the one that it replaces; or a folder that many will be written into. Its
// folder need not be there yet.
struct PlannedFile {
    std::string path;
    i64 bytes = 0;
};

// Written in this order. False, with `problem` and the path of the first that has no room, where it is sure: a file is
// larger than the process may write (ulimit -f), or its file system has not so many bytes free for this user. What
// another process takes or frees until then, quotas, and what is no file say nothing.
bool have_room(std::span<const PlannedFile> files, std::string& path, std::string& problem);

} // namespace shard
