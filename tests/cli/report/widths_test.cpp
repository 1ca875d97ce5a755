// What terminals of 80 and 100 columns show of the examples: no line passes the width.
#include "cli/command/arguments.h"
#include "plans/base/printable.h"
#include "test_paths.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace shard {
namespace {

namespace fs = std::filesystem;

// On a terminal with colours, which are no columns.
std::string shown(const std::string& line, size_t width) {
    MemoryFiles files{SHARDC_SOURCE_DIR};
    std::istringstream in;
    std::ostringstream out, err;
    Env env{in, out, err, files, true, true, width, false};
    run_cli(split_words(line), env);
    std::string text, colored = out.str();
    for (size_t at = 0; at < colored.size(); ++at) {
        if (colored[at] == '\x1b')
            at = std::min(colored.find('m', at), colored.size());
        else
            text += colored[at];
    }
    return text;
}

// A model of each folder of examples, with two of its layouts.
std::vector<std::pair<std::string, std::vector<std::string>>> examples() {
    std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> folders;
    const fs::path root = SHARDC_SOURCE_DIR;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "examples")) {
        if (entry.path().extension() != ".yaml") continue;
        std::ifstream file(entry.path());
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        auto& [models, layouts] = folders[entry.path().parent_path().string()];
        const std::string path = fs::relative(entry.path(), root).string();
        if (text.starts_with("model: ") || text.find("\nmodel: ") != std::string::npos) models.insert(path);
        if (text.starts_with("mesh: ") || text.find("\nmesh: ") != std::string::npos) layouts.insert(path);
    }
    std::vector<std::pair<std::string, std::vector<std::string>>> found;
    for (const auto& [folder, texts] : folders) {
        if (texts.first.empty() || texts.second.empty()) continue;
        std::vector<std::string> layouts(texts.second.begin(), texts.second.end());
        layouts.resize(std::min<size_t>(layouts.size(), 2));
        found.emplace_back(*texts.first.begin(), std::move(layouts));
    }
    return found;
}

void check_width(const std::string& line, size_t width) {
    std::istringstream lines(shown(line, width));
    std::string longest;
    size_t count = 0;
    for (std::string each; std::getline(lines, each); ++count)
        if (display_width(each) > display_width(longest)) longest = each;
    CHECK(count > 0);
    CHECK_MESSAGE(display_width(longest) <= width, line, " in ", width, " columns: ", longest);
}

} // namespace

TEST_CASE("no line of plan, check, diff and show is wider than the terminal") {
    const std::vector<std::pair<std::string, std::vector<std::string>>> all = examples();
    CHECK(all.size() > 20);
    for (const auto& [model, layouts] : all)
        for (const size_t width : {80, 100}) {
            const std::string first = fmt::format("{} {}", model, layouts.front());
            check_width("plan --quick " + first, width);
            check_width("plan --quick --all " + first, width);
            check_width("show " + first, width);
            check_width("check " + first, width);
            check_width(fmt::format("diff {} {}", first, layouts.back()), width);
        }
}

TEST_CASE("no line about a code, a key or an op is wider than the terminal, examples apart") {
    for (const std::string line : {"explain E0313", "explain all_gather", "explain adamw", "explain min_size",
                                   "list ops dot", "list codes W0308"})
        for (const size_t width : {60, 80, 100}) check_width(line, width);
    CHECK(shown("explain E0313", 60).find("\nA dim is split over mesh axes") != std::string::npos);
}

TEST_CASE("a sharding is whole where a tensor's heading takes several lines") {
    const std::string text = shown("explain examples/llama3/model.yaml examples/llama3/layout.yaml llama_block.wq", 60);
    CHECK(text.starts_with("llama_block.wq  param"));
    CHECK(text.find("\n    [") != std::string::npos);
    CHECK(text.find("[-\n") == std::string::npos);
}

TEST_CASE("of keys of one name the one that lies highest in its file is explained first") {
    const std::string text = shown("explain rules", 80);
    CHECK(text.starts_with("layout.rules (key)"));
    CHECK(text.find("model.inputs.NAME.rules (key)") != std::string::npos);
}

TEST_CASE("no line of explain is wider than the terminal") {
    for (const char* folder : {"dot_relu_dot", "linen_guide", "layouts", "zero", "mlp"})
        for (const auto& [model, layouts] : examples()) {
            if (!model.starts_with(fmt::format("examples/{}/", folder))) continue;
            for (const size_t width : {80, 100}) check_width(fmt::format("explain {} {}", model, layouts[0]), width);
        }
}

} // namespace shard
