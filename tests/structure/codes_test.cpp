// Every diagnostic code is shown by some test: a code that nothing reaches is a promise that nobody keeps.
#include "plans/diagnostics/codes.h"
#include "plans/diagnostics/diagnostic.h"
#include "test_paths.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace shard {
namespace {

namespace fs = std::filesystem;

// The codes that a text mentions: E0101, W0202, P0105.
void add_codes(const std::string& text, std::set<std::string>& codes) {
    constexpr size_t length = 5;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (size_t at = text.find_first_of("EWP"); at != std::string::npos; at = text.find_first_of("EWP", at + 1)) {
        const std::string word = text.substr(at, length);
        if (word.size() == length && std::all_of(word.begin() + 1, word.end(), is_digit)) codes.insert(word);
    }
}

// Of the sources and documents below a folder, without what fuzzers and validators are fed with.
std::set<std::string> codes_below(const fs::path& folder) {
    std::set<std::string> codes;
    for (fs::recursive_directory_iterator entry(folder), end; entry != end; ++entry) {
        const fs::path& path = entry->path();
        if (entry->is_directory() && path.filename() == "corpus") entry.disable_recursion_pending();
        if (path.extension() != ".cpp" && path.extension() != ".md" && path.extension() != ".py") continue;
        if (path.filename() == fs::path(__FILE__).filename()) continue;
        std::ifstream stream(path, std::ios::binary);
        add_codes(std::string(std::istreambuf_iterator<char>(stream), {}), codes);
    }
    return codes;
}

} // namespace

TEST_CASE("every diagnostic code is mentioned by a test or by a document that is one") {
    const std::set<std::string> mentioned = codes_below(fs::path(SHARDC_SOURCE_DIR) / "tests");
    CHECK(mentioned.size() > 50);
    std::vector<std::string> missing;
    for (const CodeDoc& code : all_codes())
        if (!mentioned.contains(std::string(code.code))) missing.push_back(std::string(code.code));
    CHECK(fmt::format("{}", fmt::join(missing, " ")) == "");
}

TEST_CASE("no test and no document mentions a code that does not exist") {
    std::set<std::string> mentioned = codes_below(fs::path(SHARDC_SOURCE_DIR) / "tests");
    for (const std::string folder : {"docs", "examples"})
        mentioned.merge(codes_below(fs::path(SHARDC_SOURCE_DIR) / folder));
    for (const CodeDoc& code : all_codes()) mentioned.erase(std::string(code.code));
    mentioned.erase("W0399"); // shows what is said of a code that does not exist
    CHECK(fmt::format("{}", fmt::join(mentioned, " ")) == "");
}

} // namespace shard
