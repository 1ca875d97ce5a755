#include "tests/support/reading.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

// A model of one line that matters, on line 2.
std::string with(const std::string& line) { return "model: m\n" + line + "\ngraph: []\noutputs: [x]\n"; }
std::string entry(const std::string& text) { return "model: m\ngraph: [" + text + "]\noutputs: [x]\n"; }

} // namespace

TEST_CASE("axis sizes are arithmetic over other axes, in any order") {
    const Model model = model_of(with("axes: {ffn: 4*embed, embed: heads * head-dim, heads: 12, head-dim: 64, "
                                      "half: (ffn-embed) / 2 + 1, less: heads-2}"));
    CHECK(model.find_axis("ffn")->size == 3072);
    CHECK(model.find_axis("embed")->size == 768);
    CHECK(model.find_axis("half")->size == 1153);
    CHECK(model.find_axis("less")->size == 10);
}

TEST_CASE("axis sizes that have no value") {
    CHECK(model_problems(with("axes: {a: 0}")) ==
          "E0206 2:11+1 axis 'a': the size must be at least 1\n  note it is 0\n");
    CHECK(model_problems(with("axes: {a: -8}")) ==
          "E0206 2:11+2 axis 'a': the size must be at least 1\n  note it is -8\n");
    CHECK(model_problems(with("axes: {a: 4, b: 2-a}")) ==
          "E0206 2:17+3 axis 'b': the size must be at least 1\n  note 2-a = -2\n");
    CHECK(model_problems(with("axes: {a: 10, b: a/4}")) ==
          "E0207 2:19+1 axis 'b': 10 does not divide by 4\n  help `/` is exact: choose sizes that divide\n");
    CHECK(model_problems(with("axes: {a: 4, b: a/(a-4)}")) == "E0207 2:18+1 axis 'b': division by zero\n");
    CHECK(model_problems(with("axes: {a: 3037000500, b: a*a}")) ==
          "E0204 2:27+1 axis 'b': the size does not fit in 64 bits\n");
    CHECK(model_problems(with("axes: {a: 9223372036854775808}")) ==
          "E0115 2:11+19 axis 'a': 9223372036854775808 does not fit in 64 bits\n");
    CHECK(model_problems(with("axes: {embed: 4, b: 2*emebd}")) ==
          "E0205 2:23+5 axis 'b': unknown axis 'emebd'\n  help did you mean 'embed'?\n");
    CHECK(model_problems(with("axes: {a: b, b: a}")) ==
          "E0208 2:11+1 axis 'a' needs the size of 'b', which needs its own\n"
          "E0208 2:17+1 axis 'b' needs the size of 'a', which needs its own\n");
    CHECK(model_problems(with("axes: {a: 0, b: 2*a}")) ==
          "E0206 2:11+1 axis 'a': the size must be at least 1\n  note it is 0\n");
    CHECK(model_problems(with("axes: {a: 2*(3+4}")) == "E0202 2:13+1 axis 'a': this parenthesis is never closed\n");
    CHECK(model_problems(with("axes: {a: 2*}")) ==
          "E0202 2:13+1 axis 'a': a number or an axis is missing at the end\n");
    CHECK(model_problems(with("axes: {a: 2 % 3}")) == "E0202 2:13+1 axis 'a': unexpected '%'\n");
    CHECK(model_problems(with("axes: {a: 1.5}")) == "E0113 2:11+3 axis 'a': expected an integer, found '1.5'\n");
    CHECK(model_problems(with("axes: {a: \"b + \"}")) == "E0205 2:12+1 axis 'a': unknown axis 'b'\n");
    CHECK(model_problems(with("axes: {a: [1]}")) ==
          "E0113 2:11+1 axis 'a': expected a number or arithmetic over axes, found a list\n");
    CHECK(model_problems(with("axes: {2a: 1}")) == "E0201 2:8+2 '2a' cannot be the name of an axis\n  help use "
                                                   "letters, digits, '_' and '-', starting with a letter or '_'\n");
    CHECK(model_problems(with("axes: {a: " + std::string(100, '(') + "}")) ==
          "E0202 2:75+1 axis 'a': too many parentheses\n");
}

TEST_CASE("tensors say their dims by axes, by shape, or both") {
    const Model model = model_of("model: m\naxes: {a: 4}\ninputs:\n  x: {axes: [a, other, ~], shape: [a, 2*a, 3]}\n"
                                 "  s: {shape: []}\ngraph: []\noutputs: [x]\n");
    CHECK(model.inputs[0].array.shape == Shape{4, 8, 3});
    CHECK(model.inputs[0].array.logical == std::vector<std::string>{"a", "other", ""});
    CHECK(model.inputs[1].array.shape.empty());

    const auto x = [](const std::string& tensor) {
        return model_problems(with("axes: {batch: 4}\ninputs: {x: " + tensor + "}"));
    };
    CHECK(x("{dtype: f32}") ==
          "E0211 3:10+1 'x' has neither axes nor a shape\n  help write axes: [batch, embed] or shape: [8, 1024]\n");
    CHECK(x("[batch]") ==
          "E0113 3:13+1 x: expected a map, found a list\n  help write {axes: [batch, embed]} or {shape: [8, 1024]}\n");
    CHECK(x("{axes: [bacth]}") == "E0205 3:21+5 unknown axis 'bacth'\n  help did you mean 'batch'?\n");
    CHECK(x("{axes: [q]}") ==
          "E0205 3:21+1 unknown axis 'q'\n  help declare its size under axes:, or give shape: [...]\n");
    CHECK(x("{axes: [~]}") ==
          "E0209 3:21+1 a dim without a name needs a size\n  help add shape: [...] with all sizes\n");
    CHECK(x("{axes: [batch], shape: [4, 4]}") == "E0209 3:20+1 'x' names 1 dims, its shape has 2\n");
    CHECK(x("{axes: [batch], shape: [8]}") ==
          "E0209 3:37+1 dim 0 of 'x' has size 8, its axis 'batch' has 4\n  label 2:8+5 declared here\n");
    CHECK(x("{shape: [0]}") == "E0206 3:22+1 x.shape[0]: the size must be at least 1\n  note it is 0\n");
    CHECK(x("{shape: [-1]}") == "E0206 3:22+2 x.shape[0]: the size must be at least 1\n  note it is -1\n");
    CHECK(x("{shape: [4294967296, 4294967296]}") ==
          "E0204 3:10+1 'x' has shape (4294967296, 4294967296): its size in bytes does not fit 64 bits\n");
    CHECK(x("{shape: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}") ==
          "E0209 3:21+1 'x' has 17 dims, more than 16\n  help join some of them into one\n");
    CHECK(x("{shape: [4], dtype: float32}") == "E0210 3:33+7 unknown dtype 'float32'\n  help did you mean 'f32'?\n");
    CHECK(x("{shape: [4], shard: [data]}") ==
          "E0114 3:26+5 unknown key 'shard' in 'x'\n  help known keys: axes, shape, dtype, mesh, rules, init, at\n");
    CHECK(x("{shape: [4], init: [a]}") ==
          "E0213 3:32+1 x.init: expected one initializer\n"
          "  help write lecun_normal or {normal: {stddev: 0.02}}, with key: 3 for an explicit key\n");
    CHECK(x("{shape: [4], init: {normal: 1}}") ==
          "E0113 3:41+1 the arguments of 'normal': expected a map, found a number\n"
          "  help write {normal: {name: value}}\n");
    CHECK(x("{shape: [4], init: {normal: ~, key: [1]}}") ==
          "E0213 3:49+1 a key is one seed, or a list of two 32-bit words\n");
}

TEST_CASE("one key of a graph entry is the op") {
    const Model model = model_of("model: m\nmodules: {block: {inputs: [x], graph: [], outputs: [x]}}\ngraph:\n"
                                 "  - y: {repeat: block, times: 4, in: x, axis: layers}\n"
                                 "  - \"q, k\": {block: [y, 0.5]}\noutputs: [y, q.0.k, y#2]\n");
    const Entry& repeat = model.graph[0];
    CHECK(repeat.op.text == "repeat");
    CHECK(repeat.operands[0].text == "x");
    REQUIRE(repeat.arguments.size() == 3);
    CHECK(repeat.arguments[0].key == "repeat");
    CHECK(repeat.arguments[0].value.scalar()->text == "block");
    CHECK(repeat.arguments[2].key == "axis");
    const Entry& call = model.graph[1];
    REQUIRE(call.results.size() == 2);
    CHECK(call.results[1].text == "k");
    CHECK(call.operands[1].text == "0.5");
    CHECK(call.arguments.empty());
}

TEST_CASE("graph entries that cannot be read") {
    const std::string help = "  help write `- name: {op: [operands], argument: value}`\n";
    CHECK(model_problems(entry("x")) == "E0212 2:9+1 a graph entry is a map of one entry\n" + help);
    CHECK(model_problems(entry("{x: dot}")) ==
          "E0212 2:13+3 'x': expected an op with its operands, found a string\n" + help);
    CHECK(model_problems(entry("{x: {}}")) == "E0212 2:13+1 'x' has no op\n" + help);
    CHECK(model_problems(entry("{x: {repeet: block, in: x}}")) ==
          "E0203 2:14+6 unknown op 'repeet'\n  help did you mean 'repeat'?\n");
    CHECK(model_problems(entry("{x: {frobnicate: y}}")) ==
          "E0203 2:14+10 unknown op 'frobnicate'\n  help `shardc list ops` and `shardc list composites` show all\n");
    CHECK(model_problems(entry("{x: {repeat: block, in: x}}")) ==
          "E0116 2:14+6 a repeat needs 'times'\n  help write {repeat: block, times: 4, in: x}\n"
          "E0203 2:22+5 unknown module 'block'\n  help the model declares no `modules`\n");
    CHECK(model_problems("model: m\ngraph: {}\noutputs: [x]\n") ==
          "E0113 2:8+1 graph: expected a list of entries, found a map\n" + help);
}

TEST_CASE("names are declared once") {
    CHECK(model_problems(
              "model: m\ninputs: {x: {shape: [1]}}\nparams: {x: {shape: [1]}}\ngraph: []\noutputs: [x, y, x]\n") ==
          "E0214 3:10+1 'x' is declared twice\n  label 2:10+1 first declared here\n"
          "E0214 5:17+1 'x' is listed twice\n  label 5:11+1 first listed here\n");
    CHECK(
        model_problems("model: m\nmodules: {b: {inputs: [x, x], graph: [], outputs: x}}\ngraph: []\noutputs: [x]\n") ==
        "E0214 2:27+1 'x' is listed twice\n  label 2:24+1 first listed here\n");
}

TEST_CASE("the words of a key are of 32 bits") {
    const auto with_key = [](const std::string& key) {
        return with("inputs: {x: {shape: [4], init: {normal: ~, key: " + key + "}}}");
    };
    for (const std::string key : {"[4294967295, 0]", "[0, 4294967295]"}) CHECK(model_problems(with_key(key)) == "");
    CHECK(model_of(with_key("[4294967295, 7]")).inputs[0].init.key == std::vector<i64>{4294967295, 7});
    for (const std::string key : {"[4294967296, 0]", "[0, 4294967296]", "[-1, 0]", "[0, -1]", "[1]", "[1, 2, 3]"})
        CHECK(model_problems(with_key(key)) == "E0213 2:49+1 a key is one seed, or a list of two 32-bit words\n");
}

TEST_CASE("parameters and what is computed of them are floats of 16 or 32 bits") {
    for (DType dtype : all_dtypes()) {
        const std::string called(name(dtype));
        CAPTURE(called);
        const bool fits = is_floating(dtype) && (byte_size(dtype) == 2 || byte_size(dtype) == 4);
        for (const std::string key : {"params", "compute"}) {
            const std::string problem = model_problems(with("precision: {" + key + ": " + called + "}"));
            CHECK((fits ? problem == "" : problem.starts_with("E0118 2:")));
        }
    }
}

TEST_CASE("the top level of a model") {
    CHECK(model_problems("model: m\n") == "E0116 1:1+1 the model has no 'graph'\nE0116 1:1+1 the model has no "
                                          "'outputs'\n  help say which values the model gives: outputs: [logits]\n");
    CHECK(model_problems("[1]\n") == "E0113 1:1+1 a model: expected a map, found a list\n");
    CHECK(model_problems(with("parms: {}")) ==
          "E0114 2:1+5 unknown key 'parms' in a model\n  help did you mean 'params'?\n");
    CHECK(model_problems(with("rng: {impl: philox, keys: linnen, seed: 1.5}")) ==
          "E0113 2:41+3 rng.seed: expected an integer, found '1.5'\n"
          "E0118 2:13+6 rng.impl: unknown choice 'philox'\n  help choices: threefry2x32\n"
          "E0118 2:27+6 rng.keys: unknown choice 'linnen'\n  help did you mean 'linen'?\n");
    CHECK(model_problems(with("rng: {compat: xla_concatenate_2024}")) ==
          "E0219 2:15+20 rng.compat: xla_concatenate_2024 concerns the bits of partitionable: false\n"
          "  help write partitionable: false beside it, or remove it\n");
    CHECK(model_problems("model: 3d\ngraph: []\noutputs: []\n") ==
          "E0201 1:8+2 '3d' cannot be the name of a model\n  help use letters, digits, '_' and '-', starting with a "
          "letter or '_'\n"
          "E0116 3:10+1 there is no output\n  help write outputs: [name]\n");
}

TEST_CASE("a name that is listed many times is said once for each time") {
    std::string names = "x";
    for (int i = 0; i < 2000; ++i) names += ", x";
    const std::string said =
        model_problems("model: m\ninputs: {x: {shape: [4]}}\ngraph: []\noutputs: [" + names + "]\n");
    size_t errors = 0;
    for (size_t at = said.find("E0214"); at != std::string::npos; at = said.find("E0214", at + 1)) ++errors;
    CHECK(errors == 2000);
}
