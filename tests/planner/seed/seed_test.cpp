#include "planner/model/sharding_checks.h"
#include "planner/seed/overrides.h"
#include "tests/planner/seed/seeding.h"
#include "tests/support/model_harness.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

const std::string dot_relu_dot = "axes: {batch: 8, embed: 1024, hidden: 1024}\n"
                                 "inputs:\n"
                                 "  x: {axes: [batch, embed]}\n"
                                 "params:\n"
                                 "  w1: {axes: [embed, hidden]}\n"
                                 "  w2: {axes: [hidden, embed]}\n";
const std::string mesh = "mesh: {data: 2, model: 4}\n";

DimSpec dim(std::vector<std::string> axes, bool open = false) {
    DimSpec spec;
    spec.axes = std::move(axes);
    spec.open = open;
    return spec;
}

// All checks of a sharding that is written by mesh axes, one after the other.
bool is_sound(const Mesh& on, const ShardingSpec& spec, const TensorType& type, Diagnostics& diagnostics) {
    if (!check_spec_axes(on, spec, diagnostics)) return false;
    const CheckedArray array = {"", &type, {}};
    const std::optional<Sharding> sharding = spec_sharding(on, spec, array, diagnostics);
    return sharding && check_divides(on, *sharding, array, dim_spans(spec), diagnostics);
}

} // namespace

TEST_CASE("the rules of the first example give closed shardings, each axis with its rule and line") {
    Seeding s(dot_relu_dot);
    s.constrain("x", "a", std::vector<std::string>{"batch", "hidden"}, {0, 12, 5, 1});
    s.run(mesh + "rules:\n  - {batch: data}\n  - {hidden: model}\n  - {embed: ~}\n");
    CHECK(s.problems() == "");
    CHECK(s.sharding("x") == "[data | -]");
    CHECK(s.sharding("w1") == "[- | model]");
    CHECK(s.sharding("w2") == "[model | -]");
    CHECK(s.sharding("a") == "open");
    CHECK(s.constraint("a") == "[data | model]");
    CHECK(s.causes("x") == "dim 0: data by rule 0 at 3:6");
    CHECK(s.causes("w2") == "dim 0: model by rule 1 at 4:6");
    CHECK(s.causes("a") == "dim 0: data by constraint 0 at 3:6; dim 1: model by constraint 1 at 4:6");
}

TEST_CASE("a rule that was rejected says why") {
    Seeding s(dot_relu_dot);
    s.run(mesh + "rules:\n  - {hidden: model}\n  - {embed: model}\n  - {embed: data}\n  - {batch: data}\n");
    CHECK(s.sharding("w1") == "[data | model]");
    CHECK(s.seeds->rejected_by_value[1] ==
          "{embed: model} (line 4): mesh axis 'model' is already used by dim 1 (hidden)");
    CHECK(s.sharding("x") == "[data | model]");
    CHECK(s.seeds->rejected_by_value[0] == "{embed: data} (line 5): the earlier rule {embed: model} has dim 1 (embed)");
}

TEST_CASE("mesh axes on a tensor, own rules, and tensors that say nothing") {
    Seeding s("inputs:\n  x: {shape: [8, 64], mesh: [data, \"model?\"]}\n  y: {shape: [8]}\n"
              "  z: {axes: [batch, embed], shape: [8, 64], rules: [{batch: model}]}\n");
    s.run(mesh + "rules: [{batch: data}, {embed: model}]\n");
    CHECK(s.sharding("x") == "[data | model?]");
    CHECK(s.sharding("y") == "open");
    CHECK(s.sharding("z") == "[model | -]"); // linen: own rules stand in for the layout's
    CHECK(s.causes("x") == "dim 0: data by mesh at 3:30; dim 1: model by mesh at 3:36");
    CHECK(s.causes("z") == "dim 0: model by rule at 5:54");
    s.run(mesh + "rules: [{embed: data}]\nsemantics: nnx\n");
    CHECK(s.sharding("z") == "[model | data]"); // nnx: both
    CHECK(s.causes("z") == "dim 0: model by rule at 5:54; dim 1: data by rule 0 at 2:10");
}

TEST_CASE("unconstrained names leave dims open, in rules and in constraints") {
    Seeding s(dot_relu_dot);
    s.constrain("x", "a", std::vector<std::string>{"batch", "?"}, {0, 12, 5, 1});
    s.run(mesh + "rules: [{embed: \"?\"}, {batch: data}, {hidden: ~}]\n");
    CHECK(s.sharding("x") == "[data | ?]");
    CHECK(s.constraint("a") == "[data | ?]");
}

TEST_CASE("overrides come before everything else, and the last that matches wins") {
    Seeding s(dot_relu_dot);
    s.constrain("x", "h", std::vector<std::string>{"batch", "embed"}, {0, 12, 5, 1});
    s.constrain("h", "h#2", ShardingSpec{{dim({"data"}), dim({}, true)}, {}}, {0, 13, 5, 1});
    s.run(mesh + "rules: [{hidden: model}]\n"
                 "params:\n  \"*\": [data, ~]\n  w2: [~, \"data?\"]\n"
                 "inputs: {x: [[data, model], \"?\"]}\n"
                 "values: {h: [~, model], \"h#2\": [data, ~]}\n"
                 "outputs: {\"h*\": [data, model]}\n");
    CHECK(s.sharding("w1") == "[data | -]");
    CHECK(s.sharding("w2") == "[- | data?]");
    CHECK(s.sharding("x") == "[data,model | ?]");
    CHECK(s.sharding("h") == "open");         // a bare name is the last binding ...
    CHECK(s.sharding("h#2") == "[data | -]"); // ... and the later override wins
    CHECK(s.constraint("h#2") == "[data | ?]");
    CHECK(shard::text(s.layout.mesh, s.seeds->outputs[1].value()) == "[data | model]");
    CHECK(s.causes("w2") == "dim 1: data by override at 5:11");
}

TEST_CASE(
    "an override may use the caller's name of a module's result, and a bare name is the last binding of either kind") {
    Seeding s(dot_relu_dot);
    for (const char* name : {"h", "a", "z"})
        s.constrain("x", name, ShardingSpec{{dim({}, true), dim({}, true)}, {}}, {0, 12, 5, 1});
    s.graph.aliases = {{"h#2", *find_value(s.graph, "z")}, {"out", *find_value(s.graph, "a")}};
    s.run(mesh + "values: {h: [data, ~], out: [~, model]}\n");
    CHECK(s.sharding("h") == "open");
    CHECK(s.sharding("z") == "[data | -]");
    CHECK(s.sharding("a") == "[- | model]");
    CHECK(s.problems("W0301").empty());
}

TEST_CASE("the first value of a model that is given nothing may be bound again too") {
    const Built built = build_text("model: m\ngraph:\n  - a: {iota: [8]}\n  - a: {add: [a, 1]}\noutputs: [a]\n");
    REQUIRE_MESSAGE(built.graph.has_value(), built.problems());
    const std::vector<OverrideTarget> targets = value_targets(*built.graph);
    REQUIRE(targets.size() >= 2);
    CHECK(targets.front().path == "a");
    CHECK(targets.front().hidden);
    CHECK(targets[*find_value(*built.graph, "a#2")].path == "a#2");
    CHECK_FALSE(targets[*find_value(*built.graph, "a#2")].hidden);
}

TEST_CASE("what a composite computes on the way to the second binding of a name is not that name") {
    Seeding s(dot_relu_dot);
    for (const char* name : {"h", "h#2.softmax.exp", "h#2"})
        s.constrain("x", name, ShardingSpec{{dim({}, true), dim({}, true)}, {}}, {0, 12, 5, 1});
    CHECK(s.graph.value(*find_value(s.graph, "h")).name == "h#2");
    s.run(mesh + "values: {h: [data, ~], h.softmax.exp: [~, model]}\n");
    CHECK(s.sharding("h") == "open");
    CHECK(s.sharding("h#2") == "[data | -]");
    CHECK(s.sharding("h#2.softmax.exp") == "[- | model]");
}

TEST_CASE("an override that matches nothing is a warning with the names that there are") {
    Seeding s(dot_relu_dot);
    s.run(mesh + "params: {w3: [data, ~], x: [~, ~]}\nvalues: {\"block.**\": [~]}\n");
    CHECK(s.problems("W0301") == "W0301 2:10+2 the pattern 'w3' matches none of the params\n  help there are w1, w2\n"
                                 "W0301 2:25+1 the pattern 'x' matches none of the params\n  help there are w1, w2\n"
                                 "W0301 3:10+10 the pattern 'block.**' matches none of the values\n");
    CHECK(s.sharding("x") == "[- | -]");
}

TEST_CASE("axes that the mesh lacks are found everywhere at once, also in unused rules") {
    Seeding s("inputs:\n  x: {shape: [8, 64], mesh: [dat, ~]}\n  y: {axes: [a], shape: [8], rules: [{a: nope}]}\n");
    s.constrain("x", "c", ShardingSpec{{dim({"tensor"}), dim({})}, {}}, {0, 12, 5, 1});
    const std::string rest =
        "rules:\n  - {unused: fsdp}\n  - {batch: [data, modle]}\nparams: {\"*\": [\"model:(1)3\"]}\n";
    s.run(mesh + rest);
    CHECK(s.sharding("x") == "nothing");
    CHECK(s.problems() ==
          "E0310 3:14+4 the rule {unused: fsdp} names the mesh axis 'fsdp', which the mesh lacks\n"
          "  note the mesh has data, model\n  help say missing_axes: ignore if the rules serve several meshes\n"
          "E0310 4:20+5 the rule {batch: [data, modle]} names the mesh axis 'modle', which the mesh lacks\n"
          "  note the mesh has data, model\n  help did you mean 'model'?\n"
          "E0316 5:16+12 the sub-axis 'model:(1)3' does not fit the axis 'model' of size 4\n"
          "  help name:(pre)size needs pre * size to divide the axis, and to be a true part of it\n"
          "E0316 3:30+3 unknown mesh axis 'dat'\n  note the mesh has data, model\n  help did you mean 'data'?\n"
          "E0310 4:42+4 the rule {a: nope} names the mesh axis 'nope', which the mesh lacks\n"
          "  note the mesh has data, model\n  help say missing_axes: ignore if the rules serve several meshes\n"
          "E0316 0:0+1 unknown mesh axis 'tensor'\n  note the mesh has data, model\n");
}

TEST_CASE("None in a rule is taken for Python's, and the hint says how it is written here") {
    Seeding s("inputs:\n  x: {axes: [a], shape: [8]}\n");
    s.run(mesh + std::string("rules:\n  - {a: None}\n"));
    CHECK(s.problems() == "E0310 3:9+4 the rule {a: None} names the mesh axis 'None', which the mesh lacks\n"
                          "  note the mesh has data, model\n  help for no axis write ~\n");
}

TEST_CASE("with missing_axes: ignore they are left out") {
    Seeding s(
        "inputs:\n  x: {shape: [8, 64], mesh: [dat, [data, gone]]}\n  y: {axes: [batch, embed], shape: [8, 64]}\n");
    s.run(mesh + "missing_axes: ignore\nrules: [{batch: [fsdp, model]}, {embed: fsdp}]\n");
    CHECK(s.sharding("x") == "[- | data]");
    CHECK(s.sharding("y") == "[model | -]");
    s.run("mesh: {}\nmissing_axes: ignore\nrules: [{batch: [fsdp, model]}]\n");
    CHECK(s.sharding("x") == "[- | -]");
}

TEST_CASE(
    "with divisibility: drop the last axes are left out until the others divide, and a warning names the arrays") {
    Seeding s("inputs:\n  x: {axes: [batch, embed], shape: [6, 64]}\n  y: {axes: [batch, embed], shape: [6, 9]}\n"
              "  z: {shape: [3, 8], mesh: [data, model]}\n");
    s.run(mesh + "divisibility: drop\nrules: [{batch: [data, model]}, {embed: ~}]\n");
    CHECK(s.sharding("x") == "[data | -]");
    CHECK(s.sharding("y") == "[data | -]");
    CHECK(s.sharding("z") == "[- | model]");
    const std::string help = "  help `divisibility: drop` asks for this; `pad` splits the dim\n";
    CHECK(s.problems() ==
          "W0310 3:10+5 dim 0 (batch) of 'x' has size 6, which does not divide over data x model (2 x 4): it is split "
          "over data (2) alone\n  label 3:3+1 declared here\n  label 4:3+1 \n  note so has 'y'\n" +
              help +
              "W0310 5:29+4 dim 0 of 'z' has size 3, which does not divide over data (2): it stays whole\n"
              "  label 5:3+1 declared here\n" +
              help);
}

TEST_CASE("a dim that does not divide names array, dim, size, parts, and what would divide") {
    Seeding s("axes: {vocab: 50257, embed: 768}\nparams:\n  wte: {axes: [vocab, embed]}\n  b: {shape: [3], mesh: "
              "[[data, model]]}\n");
    s.run(mesh + "rules:\n  - {vocab: model}\n");
    CHECK(s.problems() ==
          "E0313 3:6+5 dim 0 (vocab) of 'wte' has size 50257, which does not divide into 4 parts over model (4)\n"
          "  label 4:3+3 declared here\n"
          "  note sizes that divide into 4 parts: 50256 and 50260\n"
          "  note a dim of size 50257 divides into 29 parts\n"
          "  help choose other axes for this dim, leave it whole (~), or pad it (`divisibility: pad`)\n"
          "E0313 5:26+1 dim 0 of 'b' has size 3, which does not divide into 8 parts over data x model (2 x 4)\n"
          "  label 5:3+1 declared here\n"
          "  note the next size that divides into 8 parts: 8\n"
          "  note a dim of size 3 divides into 3 parts\n"
          "  help choose other axes for this dim, leave it whole (~), or pad it (`divisibility: pad`)\n");
    // An override takes the rule's place before anything is checked.
    Seeding t("axes: {vocab: 50257, embed: 768}\nparams:\n  wte: {axes: [vocab, embed]}\n");
    t.run(mesh + "rules: [{vocab: model}]\nparams: {wte: [~, model]}\n");
    CHECK(t.sharding("wte") == "[- | model]");
}

TEST_CASE("shardings must fit the rank, and an axis splits one dim") {
    Seeding s("inputs:\n  x: {shape: [8, 64], mesh: [data]}\n  y: {shape: [8, 64], mesh: [data, [model, data]]}\n"
              "  v: {shape: [8, 64], mesh: [\"model:(1)2\", \"model:(2)2\"]}\n");
    s.run(mesh);
    CHECK(s.problems() ==
          "E0312 3:29+1 the sharding has 1 entry, 'x' has 2 dims (8, 64)\n  label 3:3+1 declared here\n"
          "E0311 4:36+1 mesh axis 'data' is used twice in the sharding of 'y'\n  help an axis splits one dim only\n");
    Seeding t("inputs:\n  v: {shape: [8, 64], mesh: [\"model:(1)2\", \"model:(2)2\"]}\n");
    t.run(mesh);
    CHECK(t.sharding("v") == "[model:(1)2 | model:(2)2]");
}

TEST_CASE("the copies of a repeated module report a mistake once") {
    Seeding s("params:\n  w: {shape: [6], mesh: [model]}\n");
    for (int i = 1; i < 3; ++i) {
        Value copy = s.graph.values[0];
        copy.name = "block." + std::to_string(i) + ".w";
        s.graph.inputs.push_back(static_cast<ValueId>(s.graph.values.size()));
        s.graph.values.push_back(copy);
    }
    s.run(mesh);
    const std::string problems = s.problems();
    CHECK(problems.find("E0313") == problems.rfind("E0313"));
}

TEST_CASE("a spec on its own is checked against mesh, rank and shape") {
    const Mesh m = layout_of(mesh).mesh;
    const TensorType type = {DType::f32, {8, 6}, {"batch", ""}};
    Diagnostics diagnostics;
    CHECK(is_sound(m, {{dim({"data"}), dim({})}, {}}, type, diagnostics));
    CHECK(diagnostics.all().empty());
    CHECK_FALSE(is_sound(m, {{dim({}), dim({"model"})}, {}}, type, diagnostics));
    CHECK_FALSE(is_sound(m, {{dim({"none"}), dim({})}, {}}, type, diagnostics));
    CHECK_FALSE(is_sound(m, {{dim({"data"})}, {}}, type, diagnostics));
    CHECK(diagnostics.error_count() == 3);
}

TEST_CASE("of names and patterns that mean nothing each is said, and of the first hundred what is near") {
    Seeding s(dot_relu_dot);
    std::string layout = mesh + "rules: [{batch: data}]\nparams:\n";
    for (int i = 0; i < 150; ++i) layout += fmt::format("  \"{}{}\": []\n", i % 2 == 0 ? "w" : "*.w", 100 + i);
    s.run(layout);
    int warnings = 0, helped = 0;
    for (const Diagnostic& diagnostic : s.diagnostics.all()) {
        warnings += diagnostic.code == "W0301" ? 1 : 0;
        helped += diagnostic.help == "there are w1, w2" ? 1 : 0;
    }
    CHECK(warnings == 150);
    CHECK(helped == 100);
}
