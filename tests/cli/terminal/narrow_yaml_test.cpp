// A profile that is read in a narrow terminal is still the profile.
#include "cli/terminal/narrow_yaml.h"

#include "planner/text/embedded_texts.h"
#include "planner/text/yaml.h"
#include "plans/base/printable.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace shard {
namespace {

// The values, without where they stand.
std::string tree(const Yaml& yaml) {
    if (yaml.is_null()) return "~";
    if (const YamlScalar* scalar = yaml.scalar()) return (scalar->quoted ? "'" : "") + scalar->text;
    std::string out;
    if (yaml.list() != nullptr)
        for (const Yaml& item : *yaml.list()) out += "[" + tree(item) + "]";
    if (yaml.map() != nullptr)
        for (const YamlEntry& entry : *yaml.map()) out += "{" + entry.key + ": " + tree(entry.value) + "}";
    return out;
}

std::string tree_of(const std::string& text) {
    Sources sources;
    Diagnostics diagnostics;
    const YamlDocument yaml = parse_yaml(sources, sources.add("x.yaml", text), diagnostics);
    REQUIRE(yaml != nullptr);
    return tree(*yaml);
}

size_t longest_line(std::string_view text) {
    size_t most = 0;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        most = std::max(most, display_width(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return most;
}

} // namespace

TEST_CASE("every profile and file of the box fits a terminal and means what it meant") {
    for (const std::span<const EmbeddedText> texts : {embedded_hardware(), embedded_library()})
        for (const EmbeddedText& text : texts)
            for (const size_t width : {80, 100, 120}) {
                CAPTURE(text.name);
                const std::string narrow = narrow_yaml(text.text, width);
                CHECK(longest_line(narrow) <= width);
                CHECK(tree_of(narrow) == tree_of(std::string(text.text)));
            }
}

TEST_CASE("a comment that does not fit stands above its line, and the line goes on deeper") {
    CHECK(narrow_yaml("a: {value: 1, source: \"a # in quotes\"} # bytes a second\n", 30) ==
          "# bytes a second\na: {value: 1, source: \"a # in\n    quotes\"}\n");
    CHECK(narrow_yaml("  # a comment of some words\n", 20) == "  # a comment of\n  # some words\n");
    CHECK(narrow_yaml("a: abcdefghijk\n", 8) == "a:\n    abcdefghijk\n"); // no space to break at
    CHECK(narrow_yaml("a: 1 # short\n", 80) == "a: 1 # short\n");
    CHECK(narrow_yaml("a: 1 # as it is\n", 0) == "a: 1 # as it is\n");
}

} // namespace shard
