// Every document of the repository that shows commands is a test. SHARDC_REWRITE=1 in the environment writes what the
// commands really print into the documents instead: then read the difference as you would read code.
#include "tests/support/documents.h"

#include "plans/base/base.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "test_paths.h"

using namespace shard;

namespace {

const std::filesystem::path root = SHARDC_SOURCE_DIR;

std::string read_text(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

// The Markdown files below a folder, sorted.
std::vector<std::filesystem::path> documents_below(const std::string& folder) {
    std::vector<std::filesystem::path> documents;
    if (!std::filesystem::exists(root / folder)) return documents;
    for (const std::filesystem::directory_entry& entry : std::filesystem::recursive_directory_iterator(root / folder))
        if (entry.path().extension() == ".md") documents.push_back(entry.path());
    std::sort(documents.begin(), documents.end());
    return documents;
}

// Returns the number of commands that the document runs.
i64 check(const std::filesystem::path& document) {
    const std::string text = read_text(document);
    const std::filesystem::path folder =
        std::filesystem::path(SHARDC_TEST_DIR) / "documents" / document.lexically_relative(root);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const DocumentResult result = check_document(text, root.string(), folder.string());
    std::filesystem::remove_all(folder);
    if (std::getenv("SHARDC_REWRITE") != nullptr) {
        if (result.rewritten != text) std::ofstream(document, std::ios::binary) << result.rewritten;
        return result.commands;
    }
    for (const DocumentFailure& failure : result.failures)
        FAIL_CHECK(document.lexically_relative(root).generic_string(), ":", failure.line, ": ", failure.command,
                   "\n--- the document says\n", failure.expected, "--- the program prints\n", failure.actual);
    return result.commands;
}

i64 check_all(const std::vector<std::filesystem::path>& documents) {
    i64 commands = 0;
    for (const std::filesystem::path& document : documents) commands += check(document);
    return commands;
}

} // namespace

TEST_CASE("README.md and docs/ show what the program prints") {
    CHECK(check(root / "README.md") > 0);
    check_all(documents_below("docs"));
}

TEST_CASE("every example's README shows what the program prints, and its plans run and verify") {
    for (const std::filesystem::path& document : documents_below("examples"))
        CHECK_MESSAGE(check(document) > 0, document.lexically_relative(root).generic_string());
}

TEST_CASE("tests/cases: documents of what the program does") { check_all(documents_below("tests/cases")); }
