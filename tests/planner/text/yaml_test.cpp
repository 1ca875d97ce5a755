#include "planner/text/yaml_values.h"
#include "tests/support/reading.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace shard;

namespace {

std::string repeat(std::string_view text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) result += text;
    return result;
}

Yaml yaml_of(std::string text) {
    Sources sources;
    const int file = sources.add("test.yaml", std::move(text));
    Diagnostics diagnostics;
    const YamlDocument yaml = parse_yaml(sources, file, diagnostics);
    REQUIRE(report_text(diagnostics) == "");
    REQUIRE(yaml != nullptr);
    return *yaml;
}

} // namespace

TEST_CASE("a text is parsed once, in copies of its sources too, and says each time what is wrong with it") {
    Sources sources;
    const int good = sources.add("good.yaml", "a: 1\n"), bad = sources.add("bad.yaml", "a: 1\na: 2\n");
    const int large = sources.add("large.yaml", "a: 1\n" + repeat("# more\n", 200'000));
    const Sources copy = sources;
    Diagnostics none, first, again;
    const YamlDocument document = parse_yaml(sources, good, none);
    REQUIRE(document != nullptr);
    CHECK(parse_yaml(sources, good, none) == document);
    CHECK(parse_yaml(copy, good, none) == document);
    const YamlDocument not_kept = parse_yaml(sources, large, none);
    REQUIRE(not_kept != nullptr);
    CHECK(parse_yaml(sources, large, none) != not_kept);
    CHECK(report_text(none) == "");
    CHECK(parse_yaml(sources, bad, first) == nullptr);
    CHECK(parse_yaml(copy, bad, again) == nullptr);
    CHECK(report_text(first).find("E0102 2:1+1") == 0);
    CHECK(report_text(again) == report_text(first));
}

TEST_CASE("a document becomes a tree with places, in the order written") {
    const Yaml yaml = yaml_of("b: {x: 1, y: [~, \"?\"]}  # comment\na: 'it''s'\n");
    REQUIRE(yaml.map() != nullptr);
    REQUIRE(yaml.map()->size() == 2);
    CHECK(yaml.map()->at(0).key == "b");
    CHECK(yaml.map()->at(1).key_span == Span{0, 2, 1, 1});
    const Yaml* list = yaml.find("b")->find("y");
    REQUIRE(list->list()->size() == 2);
    CHECK(list->list()->at(0).is_null());
    CHECK(list->list()->at(1).scalar()->text == "?");
    CHECK(list->list()->at(1).scalar()->quoted);
    CHECK(list->list()->at(1).span == Span{0, 1, 18, 3});
    CHECK(yaml.find("a")->scalar()->text == "it's");
    CHECK(yaml.find("a")->span == Span{0, 2, 4, 7});
    CHECK(yaml.find("c") == nullptr);
}

TEST_CASE("columns count bytes, with a byte order mark and with carriage returns") {
    CHECK(yaml_of("\xEF\xBB\xBFkey: value").map()->at(0).key_span == Span{0, 1, 4, 3});
    CHECK(yaml_problems("\xEF\xBB\xBF\xEF\xBB\xBFkey: value") ==
          "E0108 1:1+1 the file begins with two byte order marks\n  help save it as UTF-8 without them\n");
    CHECK(yaml_of("a: 1\r\nb: 2\r\n").find("b")->span == Span{0, 2, 4, 1});
    CHECK(yaml_of("'\xC3\xA9': 2").find("\xC3\xA9")->span == Span{0, 1, 7, 1});
}

TEST_CASE("a tag that ends the file has a place in it") {
    for (const std::string text : {"a: {!b\"c}", "a: 4}\n!", "!", "a: !", "- !", "\xEF\xBB\xBF{!b"}) {
        CAPTURE(text);
        Sources sources;
        const int file = sources.add("test.yaml", text);
        Diagnostics diagnostics;
        CHECK_NOTHROW(parse_yaml(sources, file, diagnostics));
    }
}

TEST_CASE("an alias is a copy, at its own place") {
    const Yaml yaml = yaml_of("a: &x [1, 2]\nb: *x\n");
    CHECK(yaml.find("b")->list()->size() == 2);
    CHECK(yaml.find("b")->span == Span{0, 2, 4, 2});
    CHECK(yaml.find("b")->list()->at(1).span == Span{0, 1, 11, 1});
}

TEST_CASE("a key written twice shows both places") {
    CHECK(yaml_problems("a: 1\nb: 2\na: 3\n") == "E0102 3:1+1 the key 'a' is written twice\n"
                                                 "  label 1:1+1 first written here\n"
                                                 "  help keep one of them\n");
}

TEST_CASE("merge keys, tags and keys that are not names are refused") {
    CHECK(yaml_problems("a: &x {b: 1}\nc:\n  <<: *x\n") ==
          "E0103 3:3+2 merge keys (<<) are not supported\n  help write the keys out where they are needed\n");
    CHECK(yaml_problems("a: !!str 5\n") ==
          "E0112 1:4+5 tags (!) are not supported\n  help remove the tag; quote a value to make it a string\n");
    CHECK(yaml_problems("[a, b]: c\n") == "E0104 1:1+1 a list cannot be a key: keys are names\n");
    CHECK(yaml_problems("b: &x: c\n").starts_with("E0101 1:4+1 '&x:' cannot be an anchor\n"));
    for (const std::string nothing : {"a: &x\nb: c\n", "a: [&x, b]\n", "a:\n&x\nnull: c\n", "- &x\n- b\n"})
        CHECK_MESSAGE(yaml_problems(nothing).find("this anchor stands before nothing") != std::string::npos, nothing);
    CHECK(
        yaml_problems("a: |# b\n  c").starts_with("E0101 1:5+1 a comment behind a block text begins after a blank\n"));
    CHECK(yaml_problems(" --- a: c\n")
              .starts_with("E0104 1:2+1 what begins as a mark of documents does cannot be a key"));
    CHECK(yaml_problems("---\n--a: c\n...\n") == "");
    CHECK(yaml_problems("&x a: c\n") == "E0104 1:1+1 a name with an anchor cannot be a key: keys are names\n");
    CHECK(yaml_problems(": c\n") == "E0104 1:1+1 an empty key cannot be a key: keys are names\n");
}

TEST_CASE("yaml: a comment that ends in a question mark marks no key") {
    CHECK(yaml_problems("# why?\na: 1 # or 2?\n\nb: # ?\n  c: {# d?\n    d: 1}\n") == "");
    CHECK(yaml_problems("a: \"#\"\n? b\n").starts_with("E0117 2:1"));
    CHECK(yaml_problems("# a\n? b\n: 1\n").starts_with("E0117 2:1"));
}

TEST_CASE("yaml: a text without quotes that ends in a question mark marks no key") {
    CHECK(yaml_problems("a: why?\nb: or ?\nc: or - ?\nd: e\n  ?\nf: 1\n") == "");
    CHECK(yaml_problems("- a: why?\n  b: 1\n- c?\n- d: a, ?\n  b: {c: 1}\n") == "");
    for (const std::string mark : {"a: ?\n", "a: 1\n?\n", "- ?\n", "- - ?\n"})
        CHECK_MESSAGE(yaml_problems(mark + "b: 1\n").starts_with("E0117"), mark);
    for (const std::string mark : {"{?\n", "{a: 1, ?\n"})
        CHECK_MESSAGE(yaml_problems(mark + "b: 1}\n").starts_with("E0117"), mark);
}

TEST_CASE("yaml: a value on a line of its own stands further right than its key") {
    for (const std::string value : {"b # c", "\"b\"", "~ # c", "[b]", "{b: c}", "null #"}) {
        CHECK_MESSAGE(yaml_problems("a:\n" + value + "\n").find("E0101 2:1") == 0, value);
        CHECK_MESSAGE(yaml_problems("l:\n  - a:\n    " + value + "\n").find("E0101 3:5") == 0, value);
        CHECK_MESSAGE(yaml_problems("a:\n " + value + "\n") == "", value);
    }
    CHECK(yaml_problems("a:\n- b\nc: {d:\n1}\ne:\n|-\n  f\n") == "");
}

TEST_CASE("yaml: what a file means does not hang on the end of its last line") {
    for (const std::string text : {"a: |\n b", "a: >\n b"})
        for (const std::string end : {"", "\n"}) CHECK(yaml_problems(text + end).starts_with("E0120 1:4"));
    for (const std::string text : {"a: |-\n b", "a: b # c", "a: [1,\n 2]"})
        for (const std::string end : {"", "\n"}) CHECK(yaml_problems(text + end) == "");
}

TEST_CASE("an unquoted question mark is told to be quoted") {
    const std::string help = "  help put the entry in quotes: \"?\", \"data?\"\n";
    CHECK(yaml_problems("x: [data, ?]\n") == "E0117 1:11+1 an unquoted ? starts a key in YAML\n" + help);
    CHECK(yaml_problems("x: [data, ? ]\n") == "E0117 1:11+1 an unquoted ? starts a key in YAML\n" + help);
    CHECK(yaml_problems("x: [?, data]\n") == "E0117 1:5+1 an unquoted ? starts a key in YAML\n" + help);
    CHECK(yaml_problems("- {embed: ?}\n") == "E0117 1:11+1 an unquoted ? starts a key in YAML\n" + help);
    CHECK(yaml_problems("embed: ?\nx: 1\n") == "E0117 1:8+1 an unquoted ? starts a key in YAML\n" + help);
    CHECK(yaml_problems("? a\n: b\n") == "E0117 1:1+1 an unquoted ? starts a key in YAML\n" + help);
    CHECK(yaml_problems("? " + std::string(1024, 'a') + "\n: b\n") == ""); // no other way to write it
    CHECK(yaml_problems("x: [data?, a]\n") == "E0117 1:9+1 an unquoted ? starts a key in YAML\n" + help);
    CHECK(yaml_problems("x: [\"data?\", \"?\"]\ny: data?\n") == "");
}

TEST_CASE("what is opened must be closed") {
    CHECK(yaml_problems("a: \"abc\nb: 1\n") == "E0111 1:4+1 this quote is never closed\n");
    CHECK(yaml_problems("a: 1\nb: 'abc\n") == "E0111 2:4+1 this quote is never closed\n");
    CHECK(yaml_problems("a: [b, {c: 1\n") == "E0111 1:8+1 this bracket is never closed\n");
    for (const char* text : {"a: {b: 2 c: 4}\n", "a: {b: 2; c: 4}\n"})
        CHECK(yaml_problems(text).find("a comma or the closing bracket is missing before this\n"
                                       "  help items in brackets are separated by commas") != std::string::npos);
    CHECK(yaml_problems("a: [b, c\n\n") == "E0111 1:4+1 this bracket is never closed\n");
    CHECK(yaml_problems("a: {b: [4, 4\nc: 1\n") == "E0111 1:8+1 this bracket is never closed\n");
    CHECK(yaml_problems("a:\n  w: {axes: [m, n]\nrest:\n  - y: {dot: [x, w]}\n") ==
          "E0111 2:6+1 this bracket is never closed\n");
}

TEST_CASE("a bracket that another kind closes is the one that is open") {
    CHECK(yaml_problems("- z: {dot: [a, w2}\n") == "E0111 1:12+1 this bracket is never closed\n");
    CHECK(yaml_problems("a: {b: [1, {c: 2]}\nd: 1\n") == "E0111 1:12+1 this bracket is never closed\n");
    CHECK(yaml_problems("a: {b: [1, 2]]}\n").substr(0, 10) == "E0101 1:14"); // one too many
    CHECK(yaml_problems("a: {b: \"[\", c: [1}\n") == "E0111 1:16+1 this bracket is never closed\n");
}

TEST_CASE("a line that does not fit those above it is told by its dash or its column") {
    const std::string columns = "  help begin what belongs together in one column\n";
    CHECK(yaml_problems("g:\n  - a: 1\n  b: 2\n") ==
          "E0101 3:3+1 this entry has no `- `, and those of its list have\n  help write - b: ...\n");
    CHECK(yaml_problems("g:\n  # all\n  - a:\n      k: [1,\n  2]\n\n  b: 2\n") ==
          "E0101 7:3+1 this entry has no `- `, and those of its list have\n  help write - b: ...\n");
    CHECK(yaml_problems("g:\n  a: 1\n  - b: 2\n") == "E0101 3:3+1 this entry has a `- `, and those above it have none\n"
                                                     "  help write it in front of line 2 too, if they make a list\n");
    CHECK(yaml_problems("p:\n  a: {x: 1}\n   b: {x: 1}\n") ==
          "E0101 3:4+1 this line starts in column 4, its neighbours in column 3\n" + columns);
    CHECK(yaml_problems("p:\n  - {x: 1}\n   - {x: 1}\n") ==
          "E0101 3:4+1 this line starts in column 4, its neighbours in column 3\n" + columns);
    CHECK(yaml_problems("p:\n  a: {x: 1}\n b: {x: 1}\n") ==
          "E0101 3:2+1 this line starts in column 2, those above it in columns 1 and 3\n" + columns);
    CHECK(yaml_problems("p:\n    a: {x: 1}\n  b: {x: 1}\nq: 1\n") ==
          "E0101 3:3+1 this line starts in column 3, those above it in columns 1 and 5\n" + columns);
    CHECK(yaml_problems("- a: 1\n  b: 2\n   c: {x: 1}\n") ==
          "E0101 3:4+1 this line starts in column 4, its neighbours in column 3\n" + columns);
    CHECK(yaml_problems("axes:\n  batch: 8\n   embed: 4\n") ==
          "E0101 3:4+1 this line starts in column 4, its neighbours in column 3\n" + columns);
    CHECK(yaml_problems("g:\n- a: 1\n- b: 1\nh: 1\n") == "");
}

TEST_CASE("broken syntax points at the place") {
    CHECK(yaml_problems("a: 1\nb: }\n") == "E0101 2:4+1 not valid YAML: illegal flow end\n");
    CHECK(yaml_problems("a: 1\nmesh\n") == "E0101 2:1+4 expected ':' after 'mesh'\n");
    CHECK(yaml_problems("a: b: c\n") == "E0101 1:5+1 not valid YAML: illegal map value\n");
    const std::string alias =
        " an unquoted * begins an alias in YAML, and no anchor is called so\n  help quote a pattern: ";
    CHECK(yaml_problems("a: *b\n") == "E0101 1:4+1" + alias + "\"*b\"\n");
    CHECK(yaml_problems("a: [**/*.yaml, b]\n") == "E0101 1:5+1" + alias + "\"**/*.yaml\"\n");
    CHECK(yaml_problems("a: *\n") == "E0101 1:4+1" + alias + "\"*\"\n");
}

TEST_CASE("a file holds exactly one document") {
    const std::string help = "  help a file holds one document: remove `---`, `...` or a bracket too many\n";
    CHECK(yaml_problems("") == "E0109 1:1+1 the file is empty\n");
    CHECK(yaml_problems("\n# nothing\n") == "E0109 1:1+1 the file is empty\n");
    CHECK(yaml_problems("a: 1\n---\nb: 2\n") == "E0110 2:1+1 text after the end of the document\n" + help);
    CHECK(yaml_problems("a: 1\n...\nb\n") == "E0110 3:1+1 text after the end of the document\n" + help);
    CHECK(yaml_problems("[a] b\n") == "E0110 1:5+1 text after the end of the document\n" + help);
    CHECK(yaml_problems("---\na: 1\n") == "");
}

TEST_CASE("what is not UTF-8 text is refused at its first byte") {
    CHECK(yaml_problems(std::string("a: 1\nb: \0\n", 10)) == "E0108 2:4+1 not a text file: it holds the byte 0x00\n");
    // yaml-cpp would take this byte for the end of the file.
    CHECK(yaml_problems("a: 1\n\x04 [") == "E0108 2:1+1 not a text file: it holds the byte 0x04\n");
    CHECK(yaml_problems("a: \xFF") == "E0108 1:4+1 not UTF-8: unexpected byte 0xFF\n  help save the file as UTF-8\n");
    CHECK(yaml_problems("a: \xC0\x80") ==
          "E0108 1:4+1 not UTF-8: unexpected byte 0xC0\n  help save the file as UTF-8\n");
    CHECK(yaml_problems("a: \xE2\x82") ==
          "E0108 1:4+1 not UTF-8: unexpected byte 0xE2\n  help save the file as UTF-8\n");
    const auto in = [](const std::string& encoding) {
        return "E0108 1:1+1 the file is " + encoding + ", not UTF-8\n  help save it as UTF-8: iconv -f " + encoding +
               " -t UTF-8 FILE > NEW\n";
    };
    using namespace std::string_literals;
    CHECK(yaml_problems("\xFE\xFF\0a\0:"s) == in("UTF-16"));
    CHECK(yaml_problems("\xFF\xFE"
                        "a\0:\0"s) == in("UTF-16"));
    CHECK(yaml_problems("\0a\0:"s) == in("UTF-16BE"));
    CHECK(yaml_problems("a\0:\0"s) == in("UTF-16LE"));
    CHECK(yaml_problems("\0\0\xFE\xFF\0\0\0a"s) == in("UTF-32"));
    CHECK(yaml_problems("\xFF\xFE\0\0a\0\0\0"s) == in("UTF-32"));
    CHECK(yaml_problems("\0\0\0a\0\0\0:"s) == in("UTF-32BE"));
    CHECK(yaml_problems("a\0\0\0:\0\0\0"s) == in("UTF-32LE"));
    CHECK(yaml_problems("a: 1\rb: 2") ==
          "E0108 1:5+1 a carriage return without a line feed\n  help end lines with a line feed\n");
}

TEST_CASE("a text of characters that are not seen is refused, a comment may hold them") {
    const std::string help = "\n  help write it without characters that are not seen\n";
    CHECK(yaml_problems("a: \"\\e[31m\"") == "E0120 1:4+8 the text holds the character \\u001b" + help);
    CHECK(yaml_problems("\"a\\n::error::\": 1") == "E0120 1:1+14 the text holds the character \\n" + help);
    CHECK(yaml_problems("a: b\xe2\x80\xae") == "E0120 1:4+4 the text holds the character \\u202e" + help);
    CHECK(yaml_problems("a: |\n  two\n  lines\n") == "E0120 1:4+1 the text holds the character \\n" + help);
    CHECK(yaml_problems("a: b # \xe2\x80\xae\n") == "");
    CHECK(yaml_problems("a: \"two\n  lines\"") == "");
}

TEST_CASE("depth, size and aliases are bounded") {
    CHECK(yaml_problems(repeat("[", 64) + repeat("]", 64)) == "");
    CHECK(yaml_problems(repeat("[", 65) + repeat("]", 65)) == "E0105 1:65+1 nested more than 64 levels deep\n");
    CHECK(yaml_problems(repeat("[", 100000)) == "E0105 1:65+1 nested more than 64 levels deep\n");
    CHECK(yaml_problems("# " + repeat("[", 100) + "\na: '" + repeat("[", 100) + "'\n") == "");
    CHECK(yaml_problems(repeat("- ", 100000)) == "E0105 1:129+1 nested more than 64 levels deep\n");

    CHECK(yaml_problems("[" + repeat("~,", 2000001) + "]") ==
          "E0106 1:1+1 more than 2000000 commas, colons and brackets\n  help write repeated parts once, as a module "
          "with `repeat`\n");

    // Each line holds the one before ten times: 10^9 values in ten lines.
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; ++i) {
        const std::string alias = fmt::format("*a{}", i - 1);
        bomb += fmt::format("a{}: &a{} [{}, {}]\n", i, i, alias, repeat(alias + ", ", 8) + alias);
    }
    CHECK(yaml_problems(bomb).substr(0, 5) == "E0106");
    CHECK(yaml_problems("a: &a [*a]\n") == "E0106 1:8+2 this alias stands for a value that contains it\n");
    // Aliases of aliases may not make the tree deeper than a file could.
    std::string tower = "a0: &a0 " + repeat("[", 40) + repeat("]", 40) + "\n";
    tower += "a1: &a1 " + repeat("[", 30) + "*a0" + repeat("]", 30) + "\n";
    CHECK(yaml_problems(tower) == "E0105 2:39+3 nested more than 64 levels deep\n");

    CHECK(yaml_problems(std::string((size_t{64} << 20) + 1, '#')) ==
          "E0107 1:1+1 the file has 67108865 bytes, more than the 67108864 that are read\n"
          "  help write repeated parts once, as a module with `repeat`\n");
}

TEST_CASE("reports end after twenty") {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "a: 1\n";
    const std::string problems = yaml_problems(text);
    CHECK(std::count(problems.begin(), problems.end(), '\n') == 20 * 3);
}

TEST_CASE("numbers are decimal, exact and not in quotes") {
    const auto reading = [](std::string text) {
        Diagnostics diagnostics;
        const std::optional<i64> value = read_int(yaml_of(std::move(text)), "n", diagnostics);
        return value ? fmt::format("{}", *value) : report_text(diagnostics);
    };
    CHECK(reading("12") == "12");
    CHECK(reading("-12") == "-12");
    CHECK(reading("+12") == "12");
    CHECK(reading("9223372036854775807") == "9223372036854775807");
    CHECK(reading("9223372036854775808") == "E0115 1:1+19 n: 9223372036854775808 does not fit in 64 bits\n");
    CHECK(reading("010") == "E0115 1:1+3 n: '010' has a leading zero\n"
                            "  note some YAML readers take such a number for octal\n  help remove the zero\n");
    CHECK(reading("1.5") == "E0113 1:1+3 n: expected an integer, found '1.5'\n");
    CHECK(reading("0x10") ==
          "E0113 1:1+4 n: expected an integer, found a string\n  help write it in decimal digits: 16\n");
    CHECK(reading("'12'") == "E0113 1:1+4 n: expected an integer, found a string\n"
                             "  help a number is written in decimal digits without quotes, as 1000, 0.5 or 1e-3\n");
    CHECK(reading("[1]") == "E0113 1:1+1 n: expected an integer, found a list\n");
    CHECK(reading("~") == "E0113 1:1+1 n: expected an integer, found nothing\n");
}

TEST_CASE("floating-point numbers, truth values and strings") {
    Diagnostics none;
    CHECK(read_double(yaml_of("1.0e-3"), "x", none) == 1e-3);
    CHECK(read_double(yaml_of("-2"), "x", none) == -2.0);
    CHECK(read_double(yaml_of("0.5"), "x", none) == 0.5);
    CHECK(read_element(yaml_of("-.inf"), "x", none) < -1e308);
    CHECK(read_element(yaml_of("+.Inf"), "x", none) > 1e308);
    CHECK(std::isnan(read_element(yaml_of(".NaN"), "x", none).value_or(0)));
    CHECK(read_string(yaml_of("'.inf'"), "x", none) == ".inf");
    CHECK(read_bool(yaml_of("true"), "x", none) == true);
    CHECK(read_string(yaml_of("'12'"), "x", none) == "12");
    CHECK(read_string(yaml_of("12a"), "x", none) == "12a");
    CHECK(none.all().empty());

    Diagnostics some;
    CHECK_FALSE(read_double(yaml_of("1e999"), "x", some));
    CHECK_FALSE(read_double(yaml_of(".inf"), "x", some)); // where nothing is an element, numbers are finite
    CHECK_FALSE(read_element(yaml_of("-.nan"), "x", some));
    CHECK_FALSE(read_string(yaml_of(".nan"), "x", some));
    CHECK_FALSE(read_double(yaml_of("nan"), "x", some));
    CHECK_FALSE(read_double(yaml_of("01.5"), "x", some));
    CHECK_FALSE(read_bool(yaml_of("yes"), "x", some));
    CHECK_FALSE(read_string(yaml_of("[a]"), "x", some));
    CHECK_FALSE(read_string(yaml_of("true"), "x", some));
    CHECK(report_text(some) ==
          "E0115 1:1+5 x: 1e999 is out of range\n"
          "E0115 1:1+4 x: expected a finite number, found .inf\n"
          "E0113 1:1+5 x: expected a number, found a string\n  help the number that is none is written .nan\n"
          "E0113 1:1+4 x: expected a string, found a number\n"
          "E0113 1:1+3 x: expected a number, found a string\n  help the number that is none is written .nan\n"
          "E0115 1:1+4 x: '01.5' has a leading zero\n"
          "  note some YAML readers take such a number for octal\n  help remove the zero\n"
          "E0113 1:1+3 x: expected true or false, found 'yes'\n  help did you mean 'true'?\n"
          "E0113 1:1+1 x: expected a string, found a list\n"
          "E0113 1:1+4 x: expected a string, found true or false\n  help if it is one, put it in quotes: \"true\"\n");
}
