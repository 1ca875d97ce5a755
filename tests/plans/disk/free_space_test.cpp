// What has no room is known before it is written: on a disk of the test's own, and with a limit of file sizes.
#include "plans/disk/free_space.h"

#include "plans/disk/output_file.h"
#include "test_paths.h"
#include "tests/support/child_process.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

namespace shard {
namespace {

namespace fs = std::filesystem;

const std::string folder = std::string(SHARDC_TEST_DIR) + "/room_" + std::to_string(::getpid());
const struct Sweep {
    ~Sweep() { fs::remove_all(folder); }
} sweep;

// "fits", or which does not and why.
std::string room_for(const std::vector<PlannedFile>& files) {
    std::string path, problem;
    return have_room(files, path, problem) ? "fits" : path.substr(path.rfind('/') + 1) + ": " + problem;
}

} // namespace

TEST_CASE("files that a disk has no room for are known before, whatever they replace and wherever they lie on it") {
    fs::create_directories(folder);
    const std::string found = in_child([] {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("shardc_test", folder.c_str(), "tmpfs", 0, "size=128k") != 0)
            return std::string("cannot mount");
        std::string said, problem;
        const auto ask = [&said](const std::vector<PlannedFile>& files) { said += room_for(files) + "\n"; };
        ask({{folder + "/a", 131072}});
        ask({{folder + "/a", 131073}});
        ask({{folder + "/not/yet/a", 100000}, {folder + "/b", 40000}});
        ask({{folder + "/a", 100000}, {std::string(SHARDC_TEST_DIR) + "/b", 40000}}); // on another disk
        write_file_atomically(folder + "/a", std::string(65536, 'x'), problem);
        ask({{folder + "/a", 65536}, {folder + "/b", 65536}}); // beside the old one, which then goes
        ask({{folder + "/b", 65536}, {folder + "/a", 65536}});
        fs::create_hard_link(folder + "/a", folder + "/kept");
        ask({{folder + "/a", 65536}, {folder + "/b", 65536}}); // which does not go
        ask({{"/dev/null", i64{1} << 50}});
        return said;
    });
    if (found == "cannot mount")
        MESSAGE("no disk of our own");
    else
        CHECK(found ==
              "fits\n"
              "a: No space left on device: it will have 128 KiB (131,073 B), and 128 KiB (131,072 B) are free\n"
              "b: No space left on device: it will have 39.1 KiB (40,000 B), and 30.3 KiB (31,072 B) are free\n"
              "fits\n"
              "fits\n"
              "a: No space left on device: it will have 64.0 KiB (65,536 B), and 0 B are free\n"
              "b: No space left on device: it will have 64.0 KiB (65,536 B), and 0 B are free\n"
              "fits\n");
}

TEST_CASE("a file that is larger than a process may write is known before") {
    const std::string found = in_child([] {
        const rlimit limit = {65536, 65536};
        setrlimit(RLIMIT_FSIZE, &limit);
        return room_for({{folder + "/a", 65536}, {folder + "/b", 65537}});
    });
    CHECK(found == "b: File too large: it will have 64.0 KiB (65,537 B), and the process may write 64.0 KiB (65,536 B) "
                   "(ulimit -f)");
}

} // namespace shard
