// Links of the documents lead to files that are there, and to headings that are in them; and every document is linked to.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "test_paths.h"

namespace {

const std::filesystem::path root = SHARDC_SOURCE_DIR;

std::vector<std::filesystem::path> documents() {
    std::vector<std::filesystem::path> found;
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(root))
        if (entry.path().extension() == ".md") found.push_back(entry.path());
    for (const char* const folder : {"docs", "examples", "tests/cases"})
        for (const std::filesystem::directory_entry& entry :
             std::filesystem::recursive_directory_iterator(root / folder))
            if (entry.path().extension() == ".md") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

// The lines outside of code blocks.
std::vector<std::string> prose_of(const std::filesystem::path& document) {
    std::vector<std::string> lines;
    std::ifstream stream(document);
    bool code = false;
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with("```")) code = !code;
        if (!code) lines.push_back(line);
    }
    return lines;
}

// `## Who makes it, and when?` is linked to as #who-makes-it-and-when.
std::set<std::string> anchors_of(const std::filesystem::path& document) {
    std::set<std::string> anchors;
    for (const std::string& line : prose_of(document)) {
        if (!line.starts_with('#')) continue;
        std::string anchor;
        for (const char c : line.substr(std::min(line.size(), line.find(' ') + 1))) {
            const unsigned char byte = static_cast<unsigned char>(c);
            if (c == ' ') anchor += '-';
            if (std::isalnum(byte) != 0 || c == '-' || c == '_') anchor += static_cast<char>(std::tolower(byte));
        }
        anchors.insert(anchor);
    }
    return anchors;
}

// What stands in the brackets of a document's links, but for those that leave the repository.
std::vector<std::string> links_of(const std::filesystem::path& document) {
    std::vector<std::string> links;
    for (const std::string& line : prose_of(document)) {
        for (size_t at = 0; (at = line.find("](", at)) != std::string::npos;) {
            at += 2;
            const std::string link = line.substr(at, line.find(')', at) - at);
            if (!link.starts_with("http")) links.push_back(link);
        }
    }
    return links;
}

} // namespace

TEST_CASE("links between the documents lead somewhere") {
    int links = 0;
    for (const std::filesystem::path& document : documents()) {
        for (const std::string& link : links_of(document)) {
            ++links;
            const size_t mark = std::min(link.size(), link.find('#'));
            const std::filesystem::path target = mark == 0 ? document : document.parent_path() / link.substr(0, mark);
            INFO(document.lexically_relative(root).generic_string(), ": ", link);
            CHECK(std::filesystem::exists(target));
            if (mark < link.size()) CHECK(anchors_of(target).contains(link.substr(mark + 1)));
        }
    }
    CHECK(links > 100);
}

TEST_CASE("the indexes of docs/ and examples/ lead to every document there") {
    std::set<std::string> linked;
    for (const char* const index : {"docs/README.md", "docs/guide/README.md", "examples/README.md"})
        for (const std::string& link : links_of(root / index))
            linked.insert((std::filesystem::path(index).parent_path() / link).lexically_normal().generic_string());
    for (const std::filesystem::path& document : documents()) {
        const std::string path = document.lexically_relative(root).generic_string();
        if (path.starts_with("docs/") || path.starts_with("examples/"))
            CHECK_MESSAGE((linked.contains(path) || path == "docs/README.md" || path == "examples/README.md"), path);
    }
}
