// What diff calls the plans that it compares.
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

// The headers of the table, of layouts with these names.
std::string called(const std::string& first, const std::string& second) {
    MemoryFiles files;
    files.files["m.yaml"] = "model: m\naxes: {batch: 64}\ninputs: {x: {axes: [batch]}}\ngraph: [{y: {tanh: x}}]\n"
                            "outputs: [y]\n";
    files.files[first] = "mesh: {data: 2}\nrules: [{batch: data}]\n";
    files.files[second] = "mesh: {data: 4}\nrules: [{batch: data}]\n";
    const CommandResult result = run_command(files, fmt::format("diff m.yaml {} {}", first, second));
    CHECK(result.code == 0);
    const std::string& out = result.out; // "m, forward\n\n  a  data 2 = ...\n  b  ..."; the figures follow
    std::string words;
    size_t begin = out.find("\n\n") + 2;
    for (int line = 0; line < 2; ++line, begin = out.find('\n', begin) + 1)
        words += (line == 0 ? "" : " ") + split_words(out.substr(begin, out.find('\n', begin) - begin)).front();
    return words;
}

} // namespace

TEST_CASE("plans are called by what tells their files apart, and an absolute path keeps its slash") {
    CHECK(called("l/a.yaml", "l/b.yaml") == "a b");
    CHECK(called("l/a.yaml", "k/a.yaml") == "l/a k/a");
    CHECK(called("/l/a.yaml", "/l/b.yaml") == "a b");
    CHECK(called("/l/a.yaml", "/k/a.yaml") == "/l/a /k/a"); // the root is no folder that they share
    CHECK(called("/a.yaml", "/b.yaml") == "/a /b");
    CHECK(called("/l/a.yaml", "a.yaml") == "/l/a a");
}
