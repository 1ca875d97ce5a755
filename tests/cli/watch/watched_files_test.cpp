#include "cli/watch/watched_files.h"

#include "test_paths.h"
#include "tests/support/child_process.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

namespace shard {

TEST_CASE("watched files: what was read and is another now, appears or goes") {
    MemoryFiles memory;
    memory.files = {{"a", "1"}, {"b", "2"}, {"unread", "3"}};
    WatchedFiles files(memory);
    std::string error;
    CHECK(files.read("a", error) == "1");
    CHECK(files.read("b", error) == "2");
    CHECK_FALSE(files.read("none", error).has_value());
    files.remember("c", "4");
    memory.files["c"] = "4";
    CHECK(files.changed().empty());
    memory.files["unread"] = "5";
    CHECK(files.changed().empty());
    memory.files["b"] = "2 ";
    memory.files["none"] = "";
    memory.files.erase("a");
    CHECK(files.changed() == std::vector<std::string>{"a", "b", "none"});
    memory.files = {{"a", "1"}, {"b", "2"}, {"c", "4"}};
    CHECK(files.changed().empty());
    files.remember("late", std::nullopt);
    CHECK(files.changed().empty());
    memory.files["late"] = "6";
    CHECK(files.changed() == std::vector<std::string>{"late"});
}

namespace {

namespace fs = std::filesystem;

const std::string folder = std::string(SHARDC_TEST_DIR) + "/watch_" + std::to_string(::getpid());
const struct Sweep {
    ~Sweep() { fs::remove_all(folder); }
} sweep;

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// As editors do: beside it, then in its place.
void put(const std::string& name, const std::string& text) {
    std::ofstream(folder + "/new") << text;
    fs::rename(folder + "/new", folder + "/" + name);
}

// Whether a file comes to hold a text in time.
bool comes(const std::string& name, const std::string& text) {
    for (int i = 0; i < 3000; ++i) {
        if (text_of(folder + "/" + name).find(text) != std::string::npos) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    MESSAGE(name << " holds " << text_of(folder + "/" + name));
    return false;
}

} // namespace

TEST_CASE(
    "watch plans again when a model, a layout or an included file changes, survives mistakes, and ends with 130") {
    fs::create_directories(folder);
    const std::string model = "model: m\ninclude: [blocks.yaml]\naxes: {batch: 8, in: 4}\n"
                              "inputs: {x: {axes: [batch, in]}}\ngraph: [{y: {act: x}}]\noutputs: [y]\n",
                      blocks = "modules:\n  act: {inputs: [x], graph: [{y: {exp: x}}], outputs: [y]}\n";
    put("model.yaml", model);
    put("blocks.yaml", blocks);
    put("layout.yaml", "mesh: {data: 2}\nrules: [{batch: data}]\n");
    ChildProcess shardc("watch " + folder + "/model.yaml " + folder + "/layout.yaml", folder + "/out", folder + "/err");
    REQUIRE(comes("out", "no collectives; peak"));
    put("layout.yaml", "mesh: {data: 4}\nrules: [{batch: data}]\n");
    REQUIRE(comes("out", "/layout.yaml changed\n"));
    REQUIRE(comes("out", "* best of the row"));
    CHECK(text_of(folder + "/out").find("before") != std::string::npos);
    put("layout.yaml", "mesh: {data: 4}\nrules: [{batch: dta}]\n");
    REQUIRE(comes("err", "error[E0310]"));
    fs::remove(folder + "/layout.yaml");
    REQUIRE(comes("err", "error[E0702]"));
    put("layout.yaml", "mesh: {data: 4}\nrules: [{batch: data}]\n");
    REQUIRE(comes("out", "The plan is as it was.\n"));
    put("layout.yaml", "mesh: {data: 4}\nrules: [{batch: data}]\nhardware: own.yaml\n");
    REQUIRE(comes("err", "own.yaml cannot be read"));
    put("own.yaml", "hardware: own\nlinks: {fast: {bandwidth: 1e9}}\n");
    REQUIRE(comes("out", "/own.yaml changed\n"));
    // A pipe is not waited for, and what takes its place is read.
    fs::remove(folder + "/layout.yaml");
    REQUIRE(::mkfifo((folder + "/layout.yaml").c_str(), 0600) == 0);
    REQUIRE(comes("err", "it is a pipe or a device"));
    put("layout.yaml", "mesh: {data: 8}\nrules: [{batch: data}]\n");
    REQUIRE(comes("out", "8 devices"));
    put("blocks.yaml", "modules:\n  act: {inputs: [x], graph: [{y: {tanh: x}}], outputs: [y]}\n");
    REQUIRE(comes("out", "/blocks.yaml changed\n"));
    put("model.yaml", model + "# changed\n");
    REQUIRE(comes("out", "/model.yaml changed\n"));
    CHECK_FALSE(shardc.ended());
    shardc.signal(SIGINT);
    CHECK(shardc.wait() == 130);
}

} // namespace shard
