#include "plans/file/plan_json.h"
#include "plans/file/plan_json_kernel.h"
#include "plans/json/json_reader.h"
#include "plans/json/json_text.h"
#include "plans/plan/plan.h"
#include "plans/plan/plan_difference.h"
#include "tests/support/local_graph.h"
#include "tests/support/sample_plan.h"

#include <doctest/doctest.h>

#include <limits>

using namespace shard;

namespace {

using Words = std::vector<std::string>;

std::string code_of(std::string_view text) {
    Diagnostics diagnostics;
    const bool parsed = parse_plan(text, diagnostics).has_value();
    if (diagnostics.all().empty()) return parsed ? "accepted" : "refused without a reason";
    CHECK_FALSE(parsed);
    return diagnostics.all().front().code;
}

// The file with one piece of text replaced, and sealed again.
std::string resealed(const Plan& plan, std::string_view from, std::string_view to) {
    std::string text = print_plan(plan);
    text.erase(text.rfind(",\n\"checksum\""));
    const size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, from);
    return seal_plan(text.replace(at, from.size(), to));
}

Words problems(const std::string& text) {
    Diagnostics diagnostics;
    CHECK_FALSE(parse_plan(text, diagnostics).has_value());
    return words(diagnostics);
}

} // namespace

TEST_CASE("a peak that no machine counts is malformed") {
    const Plan plan = sample_plan();
    const std::string peak = "\"peak_bytes\": " + std::to_string(plan.peak_bytes);
    for (const std::string wrong : {"1e23", "1.5", "99999999999999999999"})
        CHECK(code_of(resealed(plan, peak, "\"peak_bytes\": " + wrong)) == "E0505");
}

TEST_CASE("plan file: what is printed parses back as the same plan") {
    Plan stacked = sample_plan();
    stacked.inputs[0].layers = {1};
    for (const Plan& plan : {sample_plan(), looping_plan(), stacked}) {
        const std::string text = print_plan(plan);
        Diagnostics diagnostics;
        const std::optional<Plan> parsed = parse_plan(text, diagnostics);
        CHECK(words(diagnostics) == Words{});
        REQUIRE(parsed.has_value());
        CHECK(*parsed == plan);
        CHECK(print_plan(*parsed) == text);
    }
}

TEST_CASE("plan file: NaN is itself wherever a number becomes an element, and -0 is not 0") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto with = [](double number) {
        Plan plan = sample_plan();
        Generate generate = plan.inputs[0].init;
        generate.source = Fill{number};
        plan.inputs[0].init = generate;
        return plan;
    };
    const auto holds_itself = [](const auto& kernel) { return kernel == kernel; };
    CHECK(first_difference(with(nan), with(nan)) == "");
    CHECK(first_difference(with(nan), with(-nan)) == "");
    CHECK(first_difference(with(nan), with(1)) == "inputs[0]");
    CHECK(first_difference(with(0.0), with(-0.0)) == "inputs[0]");
    CHECK(holds_itself(Literal{{1.0, nan}}));
    Move move;
    move.fill = nan;
    CHECK(holds_itself(move));
    CHECK(holds_itself(ScalarStep{ScalarOp::constant, {-1, -1, -1}, DType::f32, nan, {}}));
    CHECK_FALSE(Literal{{1.0, nan}} == Literal{{nan, 1.0}});
    const std::string text = print_plan(with(nan));
    Diagnostics diagnostics;
    const std::optional<Plan> parsed = parse_plan(text, diagnostics);
    CHECK(words(diagnostics) == Words{});
    REQUIRE(parsed.has_value());
    CHECK(first_difference(*parsed, with(nan)) == "");
}

TEST_CASE("plan file: many numbers of a literal are the bytes of f64") {
    const Mesh mesh = sample_plan().mesh;
    const auto read = [&](const std::string& text, Diagnostics& diagnostics) {
        const JsonParse parsed = parse_json(text);
        REQUIRE(parsed.ok);
        JsonReport report(diagnostics);
        return read_generate(JsonAt(parsed.root, report), mesh);
    };
    for (const i64 count : {1024, 1025}) {
        const Generate whole = {Literal{std::vector<Number>(static_cast<size_t>(count), 0.1)}, {count}, {Affine{}}};
        std::string text = print_generate(mesh, whole);
        const size_t bytes = text.find("\"literal\": \"0x9a9999999999b93f9a99");
        CHECK((bytes != std::string::npos) == (count > 1024));
        Diagnostics diagnostics;
        CHECK(read(text, diagnostics) == whole);
        CHECK(words(diagnostics) == Words{});
        if (bytes == std::string::npos) continue;
        text.erase(text.find("9a99"), 2);
        read(text, diagnostics);
        REQUIRE(!diagnostics.all().empty());
        CHECK(diagnostics.all()[0].message.find("expected the bytes of f64 numbers, in hexadecimal digits behind 0x") !=
              std::string::npos);
    }
}

TEST_CASE("plan file: one buffer and one step a line") {
    const std::string text = print_plan(sample_plan());
    CHECK(text.starts_with(
        "{\n\"format_version\": 1,\n\"tool\": \"shardc 0.1.0\",\n\"model\": \"sample\",\n\"mode\": \"forward\",\n"
        "\"mesh\": {\"axes\": [{\"name\": \"data\", \"size\": 2}, {\"name\": \"model\", \"size\": 4}], \"devices\": "
        "8},\n"));
    CHECK(text.find("\n  {\"id\": 1, \"name\": \"w\", \"role\": \"param\", \"dtype\": \"f32\", \"global_shape\": [8, "
                    "8], \"shape\": [8, 2], "
                    "\"sharding\": \"[- | model]\", \"offset\": 128, \"bytes\": 64},\n") != std::string::npos);
    CHECK(text.find("\n  {\"release\": ") != std::string::npos);
    CHECK(text.ends_with("\"\n}\n"));
}

TEST_CASE("plan file: doubles parse back exactly, also those that JSON lacks") {
    CHECK(json_number(0.1) == "0.1");
    CHECK(json_number(1e300) == "1e+300");
    CHECK(json_number(-0.0) == "-0.0");
    CHECK(json_number(3) == "3");
    CHECK(json_number(std::numeric_limits<double>::quiet_NaN()) == "\"nan\"");
    CHECK(json_number(-std::numeric_limits<double>::infinity()) == "\"-inf\"");
}

TEST_CASE("plan file: strings are valid JSON whatever their bytes") {
    CHECK(json_string("a\"b\\c\n\x01") == "\"a\\\"b\\\\c\\n\\u0001\"");
    CHECK(json_string("\xc3\xa9\xff\xc3") == "\"\xc3\xa9\\ufffd\\ufffd\"");
    CHECK(json_string("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\""); // a surrogate is not UTF-8
    CHECK(json_string("\xf3\xa0\x81\x81") == "\"\\udb40\\udc41\"");    // a tag, which is not seen
}

TEST_CASE("plan file: a file that ends anywhere is refused") {
    const std::string text = print_plan(sample_plan());
    int truncated = 0;
    for (size_t length = 0; length < text.size(); length += 97) {
        const std::string code = code_of(std::string_view(text).substr(0, length));
        CHECK((code == "E0501" || code == "E0503"));
        truncated += code == "E0503";
    }
    CHECK(truncated > 50);
    CHECK(code_of(std::string_view(text).substr(0, text.size() - 1)) == "E0504");
}

TEST_CASE("plan file: a file with any byte changed is refused") {
    const std::string text = print_plan(sample_plan());
    int accepted = 0, edited = 0;
    for (size_t at = 0; at < text.size(); at += 31) {
        std::string changed = text;
        changed[at] = changed[at] == '7' ? '8' : '7';
        const std::string code = code_of(changed);
        accepted += code == "accepted";
        edited += code == "E0504";
    }
    CHECK(accepted == 0);
    CHECK(edited > 50);
}

TEST_CASE("plan file: another version is named") {
    CHECK(problems(resealed(sample_plan(), "\"format_version\": 1", "\"format_version\": 2")) ==
          Words{"E0502 the plan has format version 2, this program reads version 1"});
}

TEST_CASE("plan file: files that are no plans are refused") {
    CHECK(problems("") == Words{"E0501 this is not a plan file: unexpected text near byte 1"});
    CHECK(code_of("{\"a\": 1}") == "E0501");
    CHECK(problems("{\"a\": 1}").size() == 1);
    CHECK(code_of("[1, 2]") == "E0501");
    CHECK(code_of("model: x\n") == "E0501");
    CHECK(code_of(std::string(100000, '[')) == "E0501");
    CHECK(code_of(std::string("\0\x01\xff", 3)) == "E0501");
    CHECK(problems("{\"a\": 1, \"a\": 2}") == Words{"E0501 this is not a plan file: the key \"a\" appears twice"});
}

TEST_CASE("plan file: what a sealed file lacks or does not know is reported with its path") {
    const Plan plan = sample_plan();
    CHECK(problems(resealed(plan, "\"contract\"", "\"conspire\"")) ==
          Words{"E0505 steps[0].compute.kernel: unknown kernel class \"conspire\""});
    CHECK(problems(resealed(plan, "\"op\": \"tanh\"", "\"op\": \"sinh\"")) ==
          Words{"E0505 steps[1].compute.kernel.pointwise.steps[1].op: unknown pointwise instruction"});
    CHECK(problems(resealed(plan, "\"kind\": \"all_gather\"", "\"kind\": \"all_scatter\""))[0] ==
          "E0505 steps[2].start.collective.kind: unknown collective \"all_scatter\"");
    CHECK(problems(resealed(plan, "\"peak_bytes\": ", "\"top_bytes\": ")) ==
          Words{"E0505 the plan: unknown key \"top_bytes\""});
    CHECK(problems(resealed(plan, "\"offset\": 0, ", "")) == Words{"E0505 buffers[0]: the key \"offset\" is missing"});
    CHECK(problems(resealed(plan, "\"release\": ", "\"free\": "))[0].find("unknown kind of step \"free\"") !=
          std::string::npos);
    CHECK(problems(resealed(plan, "\"bytes\": 128", "\"bytes\": 1e30")) ==
          Words{"E0505 buffers[0].bytes: 1e+30 is not an integer that fits 64 bits"});
    CHECK(problems(resealed(plan, "\"sharding\": \"[data | -]\"", "\"sharding\": \"[pipe | -]\"")) ==
          Words{"E0505 buffers[0].sharding: \"[pipe | -]\" is not a sharding over this mesh"});
    CHECK(problems(resealed(plan, "\"size\": 2}", "\"size\": 0}")) ==
          Words{"E0505 mesh.axes[0].size: a mesh axis has at least one device"});
    CHECK(problems(resealed(plan, "model: sample # ", "model: simple # ")) ==
          Words{"E0505 sources[0].digest: the digest is not that of the text"});
}

TEST_CASE("plan file: a key is two words of 32 bits") {
    const std::string key = "\"key\": [1797259609, 2579123966]";
    for (const std::string other : {"[4294967295, 0]", "[0, 4294967295]"})
        CHECK(code_of(resealed(sample_plan(), key, "\"key\": " + other)) == "accepted");
    for (const std::string other :
         {"[]", "[1]", "[1, 2, 3]", "[-1, 0]", "[0, -1]", "[4294967296, 0]", "[0, 4294967296]"}) {
        CAPTURE(other);
        const Words found = problems(resealed(sample_plan(), key, "\"key\": " + other));
        REQUIRE(found.size() == 1);
        CHECK(found[0].ends_with(".key: a key is two 32-bit words"));
    }
}

TEST_CASE("plan file: names are names, wherever they stand") {
    const Plan plan = sample_plan();
    const std::string names = "not a name: letters, digits, '_' and '-', in parts joined by '.' or '#'";
    for (const std::string name : {"w", "_w-1", "block.0.w", "w.grad.sliced#12"}) {
        Plan renamed = plan;
        renamed.buffers[1].name = name;
        CHECK(code_of(print_plan(renamed)) == "accepted");
    }
    for (const std::string name :
         {"", "1w", "-w", ".w", "w.", "w..v", "w#", "w#.v", "a b", "a/b", "../w", "w\"", "\xc3\xa9", "w'"}) {
        CAPTURE(name);
        Plan renamed = plan;
        renamed.buffers[1].name = name;
        CHECK(problems(print_plan(renamed)) == Words{"E0505 buffers[1].name: " + names});
    }
    for (const std::string name : {"w\n", "w\x1b[2J"}) {
        Plan renamed = plan;
        renamed.buffers[1].name = name;
        CHECK(problems(print_plan(renamed)) == Words{"E0505 buffers[1].name: the text holds a control character, or "
                                                     "one that turns the direction of writing"});
    }
    CHECK(problems(resealed(plan, "{\"name\": \"z\", \"buffer\"", "{\"name\": \"z/z\", \"buffer\"")) ==
          Words{"E0505 outputs[0].name: " + names});
    CHECK(problems(resealed(plan, "\"model\": \"sample\"", "\"model\": \"a sample\"")) ==
          Words{"E0505 model: " + names});
    CHECK(problems(resealed(plan, "\"mode\": \"forward\"", "\"mode\": \"sideways\"")) ==
          Words{"E0505 mode: not a mode: forward or train"});
    CHECK(problems(resealed(plan, "{\"name\": \"w\", \"role\"", "{\"name\": \"w w\", \"role\"")) ==
          Words{"E0505 report.tensors[0].name: " + names});
    CHECK(problems(resealed(plan, "\"tensor\": \"w\"", "\"tensor\": \"\"")) ==
          Words{"E0505 report.collectives[0].tensor: " + names});
    for (const std::string name : {"", "da.ta", "d ta", "-", "data#2"})
        CHECK(problems(resealed(plan, "{\"name\": \"data\"", "{\"name\": \"" + name + "\"")) ==
              Words{"E0505 mesh.axes[0].name: not a name for a mesh axis"});
}
