#include "plans/disk/read_inputs.h"

#include <mutex>
#include <set>
#include <utility>

namespace shard {

namespace {

// Of the process, as its open files are: inputs are opened by all of its parts.
struct Registry {
    std::mutex mutex;
    bool any_command = false;
    std::set<std::pair<dev_t, ino_t>> files;
};

Registry& registry() {
    static Registry registry;
    return registry;
}

void note(const struct stat& status) {
    if (!S_ISREG(status.st_mode)) return;
    const std::lock_guard<std::mutex> lock(registry().mutex);
    if (registry().any_command) registry().files.emplace(status.st_dev, status.st_ino);
}

} // namespace

ReadInputs::ReadInputs() {
    const std::lock_guard<std::mutex> lock(registry().mutex);
    registry().any_command = true;
}

ReadInputs::~ReadInputs() {
    const std::lock_guard<std::mutex> lock(registry().mutex);
    registry().any_command = false;
    registry().files.clear();
}

void note_input(int descriptor) {
    struct stat status = {};
    if (::fstat(descriptor, &status) == 0) note(status);
}

void note_input(const std::string& path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) == 0) note(status);
}

bool is_input(const struct stat& status) {
    const std::lock_guard<std::mutex> lock(registry().mutex);
    return registry().files.contains({status.st_dev, status.st_ino});
}

bool is_input(int descriptor) {
    struct stat status = {};
    return ::fstat(descriptor, &status) == 0 && is_input(status);
}

} // namespace shard
