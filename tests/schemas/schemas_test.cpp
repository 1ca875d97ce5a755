#include "planner/read/hardware.h"
#include "planner/text/yaml.h"
#include "plans/file/plan_json.h"
#include "plans/file/report_json.h"
#include "plans/plan/plan.h"
#include "tests/support/json_schema.h"
#include "tests/support/sample_plan.h"

#include <doctest/doctest.h>

#include <charconv>
#include <fstream>
#include <iterator>

#include "test_paths.h"

using namespace shard;

namespace {

using Words = std::vector<std::string>;

std::string read_file(const std::string& path) {
    std::ifstream stream(std::string(SHARDC_SOURCE_DIR) + "/" + path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

Json json(const std::string& text) {
    JsonParse parsed = parse_json(text);
    REQUIRE_MESSAGE(parsed.ok, parsed.problem);
    return std::move(parsed.root);
}

// A YAML tree as JSON: unquoted numbers and booleans are what they look like.
Json as_json(const Yaml& yaml) {
    if (const YamlMap* map = yaml.map()) {
        JsonMap out;
        for (const YamlEntry& entry : *map) out.push_back({entry.key, as_json(entry.value)});
        return {out};
    }
    if (const YamlList* list = yaml.list()) {
        JsonList out;
        for (const Yaml& item : *list) out.push_back(as_json(item));
        return {out};
    }
    if (yaml.scalar() == nullptr) return {};
    const std::string& text = yaml.scalar()->text;
    if (yaml.scalar()->quoted) return {text};
    if (text == "true" || text == "false") return {text == "true"};
    const char* end = text.data() + text.size();
    i64 integer = 0;
    if (std::from_chars(text.data(), end, integer).ptr == end && !text.empty()) return {integer};
    double number = 0;
    const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), number);
    if (result.ec == std::errc() && result.ptr == text.data() + text.size()) return {number};
    return {text};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, from);
    return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("schema: plan files fit schemas/plan.schema.json") {
    const Json schema = json(read_file("schemas/plan.schema.json"));
    CHECK(schema_problems(schema, json(print_plan(sample_plan()))) == Words{});
    CHECK(schema_problems(schema, json(print_plan(looping_plan()))) == Words{});
    CHECK(schema_problems(schema, json(print_plan(updating_plan()))) == Words{});
    Plan stacked = sample_plan();
    stacked.inputs[0].layers = {1};
    CHECK(schema_problems(schema, json(print_plan(stacked))) == Words{});
    const std::string text = print_plan(sample_plan());
    CHECK(schema_problems(schema, json(replaced(text, "\"format_version\": 1", "\"format_version\": 2"))) ==
          Words{"format_version: another value"});
    CHECK(schema_problems(schema, json(replaced(text, "\"contract\"", "\"convolve\""))) ==
          Words{"steps[0]: fits 0 of the alternatives"});
    CHECK(schema_problems(schema, json(replaced(text, "\"peak_bytes\"", "\"top_bytes\""))) ==
          Words{"$: lacks peak_bytes", "top_bytes: not allowed"});
}

TEST_CASE("schema: reports fit schemas/report.schema.json, which lets later members be added") {
    const Json schema = json(read_file("schemas/report.schema.json"));
    const std::string text = print_report(sample_plan());
    CHECK(schema_problems(schema, json(text)) == Words{});
    CHECK(schema_problems(schema, json(replaced(text, "\"mode\"", "\"later\": 1, \"mode\""))) == Words{});
    CHECK(schema_problems(schema, json(replaced(text, "\"kind\": \"all_gather\"", "\"kind\": \"all_scatter\""))) ==
          Words{"collectives[0].kind: none of the choices"});
}

TEST_CASE("schema: hardware profiles fit schemas/hardware.schema.json") {
    const Json schema = json(read_file("schemas/hardware.schema.json"));
    for (const std::string& name : builtin_hardware()) {
        const std::string text = read_file("planner/hardware/" + name + ".yaml");
        const auto problems = [&schema](const std::string& yaml_text) {
            Sources sources;
            Diagnostics diagnostics;
            const YamlDocument yaml = parse_yaml(sources, sources.add("profile.yaml", yaml_text), diagnostics);
            REQUIRE(yaml != nullptr);
            return schema_problems(schema, as_json(*yaml));
        };
        CHECK(problems(text) == Words{});
        CHECK(problems(replaced(text, "links:", "lines:")) == Words{"$: lacks links", "lines: not allowed"});
    }
}
