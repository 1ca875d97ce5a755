// Manual pages are made of what --help prints; groff has nothing to say about them.
#include "cli/command/command.h"
#include "test_paths.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace shard {

TEST_CASE("man: a page of each command says all that --help says of it") {
    MemoryFiles files;
    const CommandResult all = run_command(files, "shardc man --folder man1");
    CHECK(all.code == 0);
    CHECK(files.files.size() == all_commands().size() + 1);
    for (const CommandDef* command : all_commands()) {
        const std::string page = run_command(files, fmt::format("shardc man {}", command->name)).out;
        CHECK(page == files.files.at(fmt::format("man1/shardc-{}.1", command->name)));
        CHECK(page.starts_with(".TH "));
        for (const OptionDef& option : command->options) {
            std::string name(option.name);
            for (size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) name.insert(at, "\\");
            CHECK_MESSAGE(page.find(".B ") != std::string::npos, name);
            CHECK_MESSAGE(page.find(name) != std::string::npos, command->name, " ", name);
        }
        CHECK(run_command(files, "shardc man").out.find(fmt::format("shardc\\-{} (1)", command->name)) !=
              std::string::npos);
    }
    const CommandResult wrong = run_command(files, "shardc man plam");
    CHECK(wrong.code == 2);
    CHECK(wrong.err.find("did you mean 'plan'?") != std::string::npos);
}

TEST_CASE("man: a page that cannot be written leaves no other") {
    struct Refusing : MemoryFiles {
        bool writable(const std::string& path, OutputUse, std::string& error) override {
            error = "it is read-only";
            return !path.ends_with("shardc-show.1");
        }
    } files;
    const CommandResult refused = run_command(files, "shardc man --folder man1");
    CHECK(refused.code == 2);
    CHECK(refused.err.starts_with("error[E0703]: cannot write 'man1/shardc-show.1': it is read-only\n"
                                  "  = note: nothing was written\n"));
    CHECK(files.files.empty());
}

TEST_CASE("man: groff renders every page without a warning") {
    if (std::system("command -v groff > /dev/null 2>&1") != 0) return;
    namespace fs = std::filesystem;
    const std::string folder = std::string(SHARDC_TEST_DIR) + "/man_" + std::to_string(::getpid());
    REQUIRE(std::system(fmt::format("'{}' man --folder '{}'", SHARDC_EXECUTABLE, folder).c_str()) == 0);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const std::string path = entry.path().string();
        if (!path.ends_with(".1")) continue;
        CAPTURE(path);
        CHECK(std::system(fmt::format("groff -man -Tutf8 -rLL=100n -ww -z '{0}' > '{0}.said' 2>&1", path).c_str()) ==
              0);
        std::ifstream said(path + ".said");
        CHECK(std::string(std::istreambuf_iterator<char>(said), {}) == "");
    }
    fs::remove_all(folder);
}

} // namespace shard
