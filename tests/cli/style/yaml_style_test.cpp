// What fmt makes of texts, and that it changes nothing: styled_yaml reads its result again and compares.
#include "cli/style/yaml_style.h"

#include "test_paths.h"
#include "tests/support/case_writer.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace shard {
namespace {

std::string styled(const std::string& text) {
    Sources sources;
    Diagnostics diagnostics;
    const int file = sources.add("test.yaml", text);
    const std::optional<std::string> once = styled_yaml(sources, file, diagnostics);
    CHECK(diagnostics.all().empty());
    REQUIRE(once.has_value());
    Sources again;
    again.add("test.yaml", *once);
    CHECK(styled_yaml(again, 0, diagnostics) == once);
    return *once;
}

std::string text_of_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST_CASE("fmt: blocks are indented by 2, lists in maps too, and brackets hold no blanks") {
    CHECK(styled("axes:   {batch : 8 , embed: 4}\ngraph:\n- h: { dot: [x,w1] }\n-    y:\n        relu:   h\n") ==
          "axes: {batch: 8, embed: 4}\ngraph:\n  - h: {dot: [x, w1]}\n  - y:\n      relu: h\n");
    CHECK(styled("a:\n    - - 1\n      - 2\n    -   b: 1\n        c: [ ]\n    -\n      d: {}") ==
          "a:\n  - - 1\n    - 2\n  - b: 1\n    c: []\n  - d: {}\n");
    CHECK(styled("{b: 1,a: [x: 1, y: 2]}") == "{b: 1, a: [{x: 1}, {y: 2}]}\n");
    CHECK(styled("a:\n  [1,\n   2,]\n") == "a: [1,\n    2]\n");
}

TEST_CASE("fmt: scalars are spelled as they were") {
    CHECK(styled("a: 1.0e-5\nb: \"x\\u00e9\"\nc: 'it''s'\nd: ~\ne:\nf: null\ng: 0x1F\n") ==
          "a: 1.0e-5\nb: \"x\\u00e9\"\nc: 'it''s'\nd: ~\ne:\nf: null\ng: 0x1F\n");
    CHECK(styled("a: [~ , null,\"?\"]\nb: {c, d: }\n") == "a: [~, null, \"?\"]\nb: {c: ~, d: ~}\n");
    CHECK(styled("a: one\n   two\n     three\nb: 'one\n    two'\n") == "a: one two three\nb: 'one\n  two'\n");
    CHECK(styled("a: >-\n     one\n     two\nb:\n    - |- # why\n     x\n\n    - y\n") ==
          "a: >-\n  one\n  two\nb:\n  - |- # why\n    x\n\n  - y\n");
    CHECK(styled("a:\n- b: |-\n-\n- |-\n- c\n") == "a:\n  - b: |-\n  -\n  - |-\n  - c\n");
    CHECK(styled("  - b: |\n  -") == "- b: |\n-\n");
    CHECK(styled("a: >2-\n    one\n") == "a: >2-\n    one\n");
    CHECK(styled("a: [x,,]\nb: [,]\nc: [,x,, y ,,]\nd: [[],,{}]\n") ==
          "a: [x, ~]\nb: [~]\nc: [~, x, ~, y, ~]\nd: [[], ~, {}]\n");
    CHECK(styled("-\n- ~\n-   x\n") == "-\n- ~\n- x\n");
    CHECK(styled("%!\n-\n-   a\n") == "%!\n-\n- a\n");
    CHECK(styled("---\n- # c\n-   a\n") == "---\n-  # c\n- a\n");
    CHECK(styled("x: &a.b\n    -\n    - a\n") == "x: &a.b\n  -\n  - a\n");
}

TEST_CASE("fmt: comments stay above or below the directives, and behind them, and nothing goes above these") {
    CHECK(styled("# above\n---\nmesh:  {data: 2}\n") == "# above\n---\nmesh: {data: 2}\n");
    CHECK(styled("# above\n--- # behind\n# below\nmesh:  {data: 2}\n") ==
          "# above\n---  # behind\n# below\nmesh: {data: 2}\n");
    CHECK(styled("# a\n\n# b\n--- # c\nrules: []\nmesh:  {data: 2}\n") ==
          "# a\n\n# b\n---  # c\nmesh: {data: 2}\nrules: []\n");
    CHECK(styled("%YAML 1.2\n# a\n---\n# b\n\n# c\nrules: []\nmesh:  {data: 2}\n") ==
          "%YAML 1.2\n# a\n---\n# b\nmesh: {data: 2}\n\n# c\nrules: []\n");
    CHECK(styled("--- # c\n[1,2]\n") == "---  # c\n[1, 2]\n");
}

TEST_CASE("fmt: anchors stay with what they name") {
    CHECK(styled("b:   &x   {c: 1}\na: [*x , &y 2,*y]\n") == "b: &x {c: 1}\na: [*x, &y 2, *y]\n");
    CHECK(styled("b: &x\n    c: 1\na: *x\n") == "b: &x\n  c: 1\na: *x\n");
    CHECK(styled("b:\n    - &x\n      c: 1\n    - *x\n") == "b:\n  - &x\n    c: 1\n  - *x\n");
    CHECK(styled("x: &a  # c\n  - 1\n") == "x: &a  # c\n  - 1\n");
    CHECK(styled("r: &r\n- &x   a\n- *x\n") == "r: &r\n  - &x a\n  - *x\n");
    // Of nothing, too.
    CHECK(styled("r:\n-\n- &x ~\n-\n- a\n- &y ~ # c\n- *y\n") ==
          "r:\n  -\n  - &x ~\n  -\n  - a\n  - &y ~  # c\n  - *y\n");
    CHECK(styled("r:\n- &x\n  ~\n-\n    &y null\n- *x\n") == "r:\n  - &x ~\n  - &y null\n  - *x\n");
    CHECK(styled("a: {b: &x ~, c: &y ~,d: *x}\ne: [&z null,*z]\nf: [a, , &v {}]\n") ==
          "a: {b: &x ~, c: &y ~, d: *x}\ne: [&z null, *z]\nf: [a, ~, &v {}]\n");
    CHECK(styled("a: &x ~\nb: *x\nc: &y\n  null # c\nd:\n") == "a: &x ~\nb: *x\nc: &y null  # c\nd:\n");
}

TEST_CASE("fmt: a comment stays behind its line or above the next") {
    CHECK(
        styled("#a\n\n\n\n# b\na: 1 # one\nbb: 22    # two\n\nc: # three\n    # four\n    - 1\n    # five\n# six\n") ==
        "#a\n\n# b\na: 1    # one\nbb: 22  # two\n\nc:  # three\n  # four\n  - 1\n  # five\n# six\n");
    CHECK(styled("a:\n  # above\n  1\nb: # behind\n  2\n") == "# above\na: 1\nb: 2  # behind\n");
    CHECK(styled("#a\n&x\t#b\n{}") == "#a\n#b\n&x {}\n");
    CHECK(styled("rules: a\nmesh: b\n  ?\n") == "mesh: b ?\nrules: a\n");
    for (const char* const list : {"r:\n- &x\n  -  # c\n    i\n", "r:\n- &x\n  # c\n  - i\n"})
        CHECK(styled(list) == "r:\n  # c\n  - &x\n    - i\n");
    CHECK(styled("--- &x # b\n[1,2]\n") == "---\n# b\n&x [1, 2]\n");
    CHECK(styled("# a\n&x # b\n# c\nk:  v\n") == "# a\n&x  # b\n# c\nk: v\n");
    CHECK(styled("k:\n  # a\n  &x # b\n  # c\n  l: 1\n") == "# a\nk: &x  # b\n  # c\n  l: 1\n");
    CHECK(styled("\xEF\xBB\xBF%YAML 1.2\n---\nk:  v\n") == "%YAML 1.2\n---\nk: v\n");
    CHECK(styled("a: &x\n  # above\n  v\nb: &y # behind\n  w\n") == "# above\na: &x v\nb: &y w  # behind\n");
    CHECK(styled("a: [1, # one\n  # two\n  2\n  # three\n  ]\n") ==
          "a: [1,  # one\n    # two\n    2\n   # three\n   ]\n");
    CHECK(styled("a:\n  - # one\n    b: 1\n    # two\n    c: 2\n") == "a:\n  # one\n  - b: 1\n    # two\n    c: 2\n");
    CHECK(styled("a:\n      b:\n            c: 1\n            # of c\n      # of b\n# of a\nd: 1\n") ==
          "a:\n  b:\n    c: 1\n    # of c\n  # of b\n# of a\nd: 1\n");
}

TEST_CASE("fmt: line breaks in brackets stay, and long lines get some") {
    const std::string name(30, 'n');
    CHECK(styled(fmt::format("a: [{0}, {0}, {0}, {0}, {{b: {0}, c: {0}}}]\n", name)) ==
          fmt::format("a: [{0}, {0}, {0},\n    {0}, {{b: {0}, c: {0}}}]\n", name));
    CHECK(styled("axes:\n  {\n    a: 1, b: 2,\n    c: 3,\n  }\n") == "axes: {a: 1, b: 2,\n       c: 3}\n");
    for (size_t length = 100; length < 125; ++length) {
        const std::string text = styled(fmt::format("a: [[x, {}], y]\n", std::string(length, 'n')));
        for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
            end = text.find('\n', begin);
            const std::string_view line = std::string_view(text).substr(begin, end - begin);
            if (line.find(std::string(112, 'n')) == std::string_view::npos) CHECK(line.size() <= 120);
        }
    }
}

TEST_CASE("fmt: keys at the top stand as in the schema, with their comments, and aliases hold them where they are") {
    CHECK(
        styled("# of the file\n\n# of the graph\ngraph: []\noutputs: []  # out\n\n# of the model\nmodel: m\n# end\n") ==
        "# of the file\n\n# of the model\nmodel: m\n\n# of the graph\ngraph: []\noutputs: []  # out\n# end\n");
    CHECK(styled("rules: []\nmesh: {}\n") == "mesh: {}\nrules: []\n");
    CHECK(styled("rules: []\nmesh: {}\nother: 1\n") == "rules: []\nmesh: {}\nother: 1\n");
    CHECK(styled("rules: &a []\nmesh: {}\n") == "rules: &a []\nmesh: {}\n");
    CHECK(styled("inputs: {b: 1, a: 2}\nmesh: {y: 1, x: 1}\n") == "mesh: {y: 1, x: 1}\ninputs: {b: 1, a: 2}\n");
}

TEST_CASE("fmt: ends of lines stay what they are, blanks at their ends and byte order marks go") {
    CHECK(styled("a: 1  \r\nb:   2\r\n") == "a: 1\r\nb: 2\r\n");
    CHECK(styled("\xEF\xBB\xBF# x\na: 1") == "# x\na: 1\n");
    CHECK(styled("---\na:   1\n") == "---\na: 1\n");
}

TEST_CASE("fmt: every example and every file of the box is read as before, twice as once") {
    int files = 0;
    for (const char* folder :
         {"/examples", "/planner/library", "/planner/hardware", "/cli/init", "/tests/schemas/corpus"})
        for (const std::filesystem::directory_entry& entry :
             std::filesystem::recursive_directory_iterator(std::string(SHARDC_SOURCE_DIR) + folder)) {
            if (entry.path().extension() != ".yaml") continue;
            CAPTURE(entry.path().string());
            const std::string text = text_of_file(entry.path());
            Sources sources;
            sources.add("f", text);
            Diagnostics problems;
            if (!parse_yaml(sources, 0, problems)) continue; // meant to be wrong
            styled(text);
            ++files;
        }
    CHECK(files > 150);
}

TEST_CASE("fmt: the examples, what init writes and the library are laid out as fmt lays them out") {
    for (const char* folder : {"/examples", "/planner/library", "/cli/init/starter"})
        for (const std::filesystem::directory_entry& entry :
             std::filesystem::recursive_directory_iterator(std::string(SHARDC_SOURCE_DIR) + folder)) {
            if (entry.path().extension() != ".yaml") continue;
            CAPTURE(entry.path().string());
            const std::string text = text_of_file(entry.path());
            CHECK(styled(text) == text);
        }
}

namespace {

// A text of YAML as somebody may write it: any indentation, comments and blanks anywhere.
class RandomYaml {
public:
    explicit RandomYaml(Tape& tape) : tape_(tape) {}
    std::string text() {
        comments(0);
        if (tape_.chance(3))
            layout_map();
        else if (tape_.chance(2))
            block_list(0, 3);
        else
            block_map(0, 3);
        comments(0);
        return std::move(out_);
    }
    i64 comments_written() const { return comments_; }

private:
    std::string blanks() { return std::string(1 + tape_.choose(3), ' '); }
    std::string scalar(bool in_flow) {
        static const std::vector<std::string> all = {
            "1",  "1.0e-5", "a b",   "x",           "\"q # r\"", "'it''s'", "~",   "null",           "true",
            "-3", "$a",     "2 * b", "\"\\u00e9\"", "é",         "a:b",     "c#d", "'a\n\n      b'", "\"l\n      m\""};
        const std::string& chosen = all[tape_.choose(all.size())];
        return in_flow && chosen == "a:b" ? "ab" : chosen;
    }
    std::string key() {
        static const std::vector<std::string> all = {"mesh", "rules", "k", "'q q'", "\"d: e\"", "long_name_of_a_key"};
        return all[tape_.choose(all.size())];
    }
    std::string comment() {
        ++comments_;
        return fmt::format("# c{}", comments_);
    }
    void end_line() {
        if (tape_.chance(4)) out_ += blanks() + comment();
        out_ += tape_.chance(5) ? "  \n" : "\n";
    }
    void comments(size_t indent) {
        while (tape_.chance(4)) out_ += tape_.chance(3) ? "\n" : std::string(indent, ' ') + comment() + "\n";
    }
    void block_list(size_t indent, size_t depth) {
        for (size_t i = 0, n = 1 + tape_.choose(3); i < n; ++i) {
            if (i > 0) comments(indent);
            out_ += std::string(indent, ' ') + "-";
            if (depth > 0 && tape_.chance(4)) {
                const size_t inner = indent + 1 + tape_.choose(3);
                out_ += "\n";
                block_map(inner, depth - 1);
            } else {
                value(indent, depth);
            }
        }
    }
    void block_map(size_t indent, size_t depth) {
        for (size_t i = 0, n = 1 + tape_.choose(3); i < n; ++i) {
            if (i > 0) comments(indent);
            out_ += fmt::format("{}{}:", std::string(indent, ' '), unique(key()));
            value(indent, depth);
        }
    }
    // Keys of the schema, which fmt puts in order, with comments in any column.
    void layout_map() {
        std::vector<std::string> keys = {"policy", "rules", "mesh", "params", "outputs", "inputs", "hardware"};
        for (size_t n = 2 + tape_.choose(3); n > 0; --n) {
            const size_t chosen = tape_.choose(keys.size());
            out_ += keys[chosen] + ":";
            keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(chosen));
            if (tape_.chance(3)) {
                end_line();
                block_list(tape_.choose(2) * 2, 1);
            } else {
                value(0, 2);
            }
            while (tape_.chance(3)) comments(tape_.choose(6));
        }
    }
    // Keys differ.
    std::string unique(std::string key) {
        const std::string number = std::to_string(++keys_);
        if (key.back() == '"' || key.back() == '\'') return key.insert(key.size() - 1, number);
        return key + number;
    }
    // What it names may stand below it.
    void anchor(size_t indent) {
        if (!tape_.chance(4)) return;
        out_ += fmt::format(" &a{}", ++keys_);
        if (!tape_.chance(3)) return;
        end_line();
        comments(indent + 1);
        out_ += std::string(indent + 1, ' ');
    }
    // Behind "key:" or "-", with the end of the line.
    void value(size_t indent, size_t depth) {
        const size_t what = tape_.choose(depth > 0 ? 6 : 3);
        if (what == 0) {
            anchor(indent);
            out_ += blanks() + scalar(false);
            end_line();
        } else if (what <= 2) {
            out_ += blanks();
            flow(indent + 1, 2);
            end_line();
        } else if (what == 3) {
            end_line();
        } else if (what == 4) {
            if (tape_.chance(4)) out_ += fmt::format(" &a{}", ++keys_);
            end_line();
            comments(indent + 2);
            block_map(indent + 1 + tape_.choose(4), depth - 1);
        } else {
            out_ +=
                " >-\n" + std::string(indent + 3, ' ') + "text # no comment\n" + std::string(indent + 3, ' ') + "x\n";
        }
    }
    void gap(size_t indent) {
        const size_t what = tape_.choose(6);
        if (what == 1) out_ += blanks();
        if (what == 2) out_ += "\n" + std::string(indent + 1 + tape_.choose(5), ' ');
        if (what == 3) out_ += "  " + comment() + "\n" + std::string(indent + 1, ' ');
    }
    void flow(size_t indent, size_t depth) {
        if (depth == 0 || tape_.chance(2)) {
            out_ += scalar(true);
            return;
        }
        const bool is_map = tape_.chance(2);
        out_ += is_map ? "{" : "[";
        for (size_t i = 0, n = tape_.choose(12); i < n; ++i) {
            if (i > 0) out_ += ",";
            gap(indent);
            if (out_.back() == ',') out_ += ' ';
            if (is_map) out_ += unique(key()) + ": ";
            flow(indent, depth - 1);
            gap(indent);
        }
        out_ += is_map ? "}" : "]";
    }

    Tape& tape_;
    std::string out_;
    i64 comments_ = 0, keys_ = 0;
};

} // namespace

TEST_CASE("fmt: of texts at random the tree and every comment stay, and the second time changes nothing") {
    std::mt19937 numbers(7);
    int read = 0;
    for (int i = 0; i < 6000; ++i) {
        std::vector<std::uint32_t> choices(400);
        std::generate(choices.begin(), choices.end(), [&] { return static_cast<std::uint32_t>(numbers() >> 3); });
        Tape tape(choices);
        RandomYaml random(tape);
        const std::string text = random.text();
        CAPTURE(text);
        Sources sources;
        sources.add("f", text);
        Diagnostics problems;
        if (!parse_yaml(sources, 0, problems)) continue; // an item that is no YAML after all
        ++read;
        const std::string now = styled(text);
        i64 found = 0;
        for (size_t at = now.find("# c"); at != std::string::npos; at = now.find("# c", at + 1)) ++found;
        CHECK(found == random.comments_written());
    }
    CHECK(read > 3500);
}

} // namespace shard
