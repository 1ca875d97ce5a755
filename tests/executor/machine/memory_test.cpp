// How much memory there is, from files as Linux has them.
#include "executor/machine/memory.h"

#include "plans/disk/output_file.h"
#include "test_paths.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

namespace shard {
namespace {

constexpr i64 mebibyte = i64{1} << 20;

// A folder that stands for /.
class FakeRoot {
public:
    FakeRoot() { std::filesystem::remove_all(root_); }
    ~FakeRoot() { std::filesystem::remove_all(root_); }
    void file(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        std::string problem;
        REQUIRE(write_file_atomically(root_ + path, text, problem));
    }
    void meminfo(i64 mebibytes) const {
        file("/proc/meminfo", "MemTotal:       99999999 kB\nMemFree:            1000 kB\nMemAvailable:   " +
                                  std::to_string(mebibytes * 1024) + " kB\nBuffers:        1 kB\n");
    }
    Memory available(const ProcessLimits& limits = {}) const { return available_memory(root_, limits); }
    std::optional<Memory> too_little(i64 needed) const { return too_little_memory(needed, root_, {}); }

private:
    std::string root_ = std::string(SHARDC_TEST_DIR) + "/memory_test_root." + std::to_string(::getpid());
};

std::string bytes(i64 mebibytes) { return std::to_string(mebibytes * mebibyte) + "\n"; }

} // namespace

TEST_CASE("available memory: the machine's own estimate, or nothing where it says nothing") {
    const FakeRoot root;
    CHECK(root.available().bytes == -1);
    root.meminfo(300);
    CHECK(root.available().bytes == 300 * mebibyte);
    CHECK(root.available().limited_by == "this machine has");
}

TEST_CASE("too little memory: more than there is, if anything says what there is, and a mebibyte is not asked for") {
    const FakeRoot root;
    CHECK_FALSE(root.too_little(i64{1} << 60));
    root.meminfo(300);
    CHECK_FALSE(root.too_little(300 * mebibyte));
    const std::optional<Memory> available = root.too_little(300 * mebibyte + 1);
    REQUIRE(available);
    CHECK(available->bytes == 300 * mebibyte);
    CHECK(available->limited_by == "this machine has");
    root.meminfo(0);
    CHECK_FALSE(root.too_little(mebibyte));
    CHECK(root.too_little(mebibyte + 1));
}

TEST_CASE("available memory: a cgroup of version 2, and those around it, limit it") {
    const FakeRoot root;
    root.meminfo(300);
    root.file("/proc/self/cgroup", "0::/user.slice/job\n");
    root.file("/proc/self/mountinfo",
              "24 30 0:22 / /proc rw - proc proc rw\n"
              "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
    const std::string top = "/sys/fs/cgroup";
    root.file(top + "/user.slice/job/memory.max", "max\n");
    root.file(top + "/user.slice/job/memory.current", bytes(90));
    CHECK(root.available().bytes == 300 * mebibyte);
    root.file(top + "/user.slice/job/memory.max", bytes(250));
    CHECK(root.available().bytes == 160 * mebibyte);
    CHECK(root.available().limited_by == "its cgroup has");
    root.file(top + "/user.slice/job/memory.stat", "anon 1\ninactive_file " + bytes(40) + "active_file 5\n");
    CHECK(root.available().bytes == 200 * mebibyte); // the cache can be dropped
    root.file(top + "/user.slice/memory.max", bytes(120));
    root.file(top + "/user.slice/memory.current", bytes(100));
    CHECK(root.available().bytes == 20 * mebibyte);
    root.file(top + "/user.slice/memory.current", bytes(130)); // above its limit, as may be for a moment
    CHECK(root.available().bytes == 0);
}

TEST_CASE(
    "available memory: a memory cgroup of version 1 limits it, also where the path begins outside of a container") {
    const FakeRoot root;
    root.meminfo(300);
    root.file("/proc/self/cgroup", "9:name=systemd:/\n8:cpu,memory:/docker/12ab/inner\n0::/\n");
    root.file("/proc/self/mountinfo",
              "34 31 0:31 /docker/12ab /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
              "35 31 0:32 /docker/12ab /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,cpu,memory\n");
    const std::string top = "/sys/fs/cgroup/memory";
    root.file(top + "/memory.limit_in_bytes", bytes(200));
    root.file(top + "/memory.usage_in_bytes", bytes(150));
    root.file(top + "/memory.stat", "inactive_file 1\ntotal_inactive_file " + bytes(20));
    CHECK(root.available().bytes == 70 * mebibyte);
    root.file(top + "/inner/memory.limit_in_bytes", bytes(12));
    root.file(top + "/inner/memory.usage_in_bytes", bytes(2));
    CHECK(root.available().bytes == 10 * mebibyte);
    root.file(top + "/inner/memory.limit_in_bytes", "9223372036854771712\n"); // no limit
    CHECK(root.available().bytes == 70 * mebibyte);
}

TEST_CASE("available memory: what ulimit leaves of address space and of data") {
    const FakeRoot root;
    root.meminfo(300);
    const i64 page = 4096;
    root.file("/proc/self/statm", "25600 100 90 10 0 5120 0\n"); // pages: 100 MiB mapped, 20 MiB of data
    CHECK(root.available({.address_space = 140 * mebibyte}).bytes == 140 * mebibyte - 25600 * page);
    CHECK(root.available({.address_space = 140 * mebibyte}).limited_by == "`ulimit -v` leaves");
    CHECK(root.available({.data = 21 * mebibyte}).bytes == mebibyte);
    CHECK(root.available({.data = 10 * mebibyte}).bytes == 0);
    CHECK(root.available({.address_space = i64{1} << 40, .data = i64{1} << 40}).bytes == 300 * mebibyte);
}

TEST_CASE("available memory: this machine says something, and mapping more than there is of it fails") {
    CHECK(available_memory("", process_limits()).bytes > 0);
    CHECK_FALSE(too_little_memory(2 * mebibyte));
    CHECK(too_little_memory(i64{1} << 60));
    CHECK(can_map(mebibyte));
    CHECK_FALSE(can_map(i64{1} << 60));
}

} // namespace shard
