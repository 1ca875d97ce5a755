#include "planner/read/arguments.h"
#include "planner/text/yaml.h"
#include "planner/text/yaml_flow.h"
#include "tests/support/reading.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

Yaml yaml_of(const std::string& text) {
    Sources sources;
    Diagnostics diagnostics;
    const YamlDocument yaml = parse_yaml(sources, sources.add("a.yaml", text), diagnostics);
    REQUIRE(yaml);
    return *yaml;
}

// What becomes of it with these arguments, or the first error.
std::string written(const std::string& args, const std::string& text) {
    Diagnostics diagnostics;
    ArgumentWriter writer(false, diagnostics);
    const std::optional<YamlMap> values = writer.values(*yaml_of(args).map(), {}, {});
    const std::optional<Yaml> made = values ? writer.write(yaml_of(text), *values) : std::nullopt;
    if (made) return flow_text(*made);
    REQUIRE(diagnostics.has_error());
    return diagnostics.all().front().code + " " + diagnostics.all().front().message;
}

} // namespace

TEST_CASE("an argument is a number, a name, a flag, a list or a map, as a value, as a key and in arithmetic") {
    CHECK(written("{n: 3, op: relu}", "{times: $n, y: {$op: x}}") == "{times: 3, y: {relu: x}}");
    CHECK(written("{dims: [0, 1], init: {normal: {stddev: 0.02}}}", "{dims: $dims, init: $init}") ==
          "{dims: [0, 1], init: {normal: {stddev: 0.02}}}");
    CHECK(written("{width: 4 + embed}", "{a: 2 * $width, b: $width}") == "{a: 2 * (4 + embed), b: 4 + embed}");
    CHECK(written("{n: 3}", "{name: block_$n, text: \"$n a\"}") == "{name: block_3, text: \"3 a\"}");
    CHECK(written("{a: 2, a-b: 3}", "{x: $a-b, y: $a-1}") == "{x: 3, y: 2-1}");
    CHECK(written("{a: 2, b: $a * 3}", "{x: $b}") == "{x: 2 * 3}");
}

TEST_CASE("what has a false `if` is left out, of a map, of a list and of a graph") {
    const std::string text =
        "{params: {w: {axes: [a]}, b: {axes: [a], if: $bias}}, graph: [{y: {add: [y, b], if: $bias}}, "
        "{z: {relu: y, if: not $bias}}]}";
    CHECK(written("{bias: false}", text) == "{params: {w: {axes: [a]}}, graph: [{z: {relu: y}}]}");
    CHECK(written("{bias: true}", "{x: {if: \"not $bias\"}, y: {if: \"$bias\"}}") == "{y: {}}");
    CHECK(written("{bias: true}", text) == "{params: {w: {axes: [a]}, b: {axes: [a]}}, graph: [{y: {add: [y, b]}}]}");
}

TEST_CASE("arguments that cannot be put in") {
    CHECK(written("{a: 1}", "{x: $b}") == "E0225 there is no argument 'b' here");
    CHECK(written("{a: [1]}", "{x: 2 * $a}") == "E0226 '$a' is a list, and stands within a text");
    CHECK(written("{a: [1]}", "{$a: x}") == "E0104 a list cannot be a key: keys are names");
    CHECK(written("{a: 1}", "{x: {if: $a}}") == "E0113 if: expected true or false, found '1'");
}

TEST_CASE("what arguments make of a small text is bounded") {
    std::string lists = "{a: [1, 1]", texts = "{a: x";
    for (char c = 'b'; c < 'z'; ++c) {
        lists += std::string(", ") + c + ": [$" + char(c - 1) + ", $" + char(c - 1) + "]";
        texts += std::string(", ") + c + ": $" + char(c - 1) + ".$" + char(c - 1);
    }
    CHECK(written(lists + "}", "{x: $y}") == "E0106 with its arguments put in, the model has too many values");
    CHECK(written(texts + "}", "{x: $y}").substr(0, 5) == "E0106");
}

TEST_CASE("a module is read once for each set of arguments") {
    const Model model =
        model_of("model: m\naxes: {a: 4}\nmodules:\n"
                 "  f: {args: {n: 1}, inputs: [x], params: {w: {axes: [$n]}}, graph: [], outputs: [x]}\n"
                 "graph:\n  - b: {f: x, n: a}\n  - c: {f: x, n: a, name: g}\n  - d: {f: x}\n"
                 "outputs: [d]\n");
    REQUIRE(model.modules.size() == 2);
    CHECK(model.modules[0].name.text == "f(n: a)");
    CHECK(model.modules[0].written_name() == "f");
    CHECK(model.modules[0].params[0].array.logical == std::vector<std::string>{"a"});
    CHECK(model.modules[1].name.text == "f");
    CHECK(model.modules[1].params[0].array.logical == std::vector<std::string>{""});
    CHECK(model.graph[0].op.text == "f(n: a)");
    CHECK(model.graph[1].arguments.size() == 1);
}
