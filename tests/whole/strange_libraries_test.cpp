// The program takes its libraries from the system, whatever lies in the folder that it is run in.
#include "test_paths.h"
#include "tests/support/child_process.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace shard {

TEST_CASE("libraries that lie in the folder of a run are not loaded") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(SHARDC_TEST_DIR) / ("strange_libraries_" + std::to_string(::getpid()));
    fs::create_directories(folder);
    int count = 0;
    std::ifstream maps("/proc/self/maps"); // of this process, which is linked with the same ones
    for (std::string line; std::getline(maps, line);) {
        const fs::path library = line.substr(std::min(line.find('/'), line.size()));
        if (library.string().find(".so") == std::string::npos) continue;
        std::ofstream(folder / library.filename()) << "no library";
        ++count;
    }
    CHECK(count > 0);
    const std::string code = in_child([&] {
        if (::chdir(folder.c_str()) != 0) return std::string("no such folder");
        return std::to_string(ChildProcess("--version").wait());
    });
    CHECK(code == "0");
    fs::remove_all(folder);
}

} // namespace shard
