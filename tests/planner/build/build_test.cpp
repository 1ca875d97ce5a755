#include "tests/support/model_harness.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

const std::string dot_silu_dot = R"(model: m
axes: {batch: 8, embed: 32, hidden: 16}
inputs:
  x: {axes: [batch, embed]}
params:
  w1: {axes: [embed, hidden]}
  w2: {axes: [hidden, embed]}
graph:
  - h: {dot: [x, w1]}
  - a: {silu: h}
  - a: {constrain: a, axes: [batch, hidden]}
  - z: {dot: [a, w2]}
outputs: [z]
)";

i64 parameters(const Graph& graph) {
    i64 count = 0;
    for (ValueId id : graph.inputs)
        if (graph.value(id).role == Role::param) count += graph.value(id).type.elements();
    return count;
}

const Value& named(const Built& built, std::string_view name) {
    const std::optional<ValueId> id = find_value(*built.graph, name);
    REQUIRE(id.has_value());
    return built.graph->value(*id);
}

// A model with one input x (8, 4), one integer input n (8) and these entries.
Built with_graph(const std::string& entries) {
    return build_text(
        "model: m\naxes: {batch: 8, embed: 4}\ninputs:\n  x: {axes: [batch, embed]}\n  n: {axes: [batch], dtype: i32}\n"
        "graph:\n" +
        entries + "outputs: [y]\n");
}

// The error of such a model. The first entry is on line 7.
std::string error_of(const std::string& entries) {
    const Built built = with_graph(entries);
    CHECK(!built.graph.has_value());
    return built.problems();
}

} // namespace

TEST_CASE("results carry the user's names, rebound names a number, steps of a composite its name") {
    const Built built = build_text(dot_silu_dot);
    REQUIRE(built.graph.has_value());
    CHECK(built.problems() == "");
    CHECK(built.names() == "x w1 w2 h a.silu.logistic a a#2 z");
    CHECK(named(built, "a").name == "a#2");
    CHECK(named(built, "a#1").name == "a");
    CHECK(named(built, "a#2").name == "a#2");
    CHECK(!find_value(*built.graph, "a#3"));
    CHECK(built.graph->output_names == std::vector<std::string>{"z"});
}

TEST_CASE("a name and a number is the value that had the name then") {
    const Built built =
        with_graph("  - h: {relu: x}\n  - h: {exp: h}\n  - h: {neg: h}\n  - y: {sub: [\"h#3\", \"h#1\"]}\n");
    REQUIRE(built.graph.has_value());
    const Node& difference = built.graph->node(named(built, "y").producer);
    CHECK(built.graph->value(difference.inputs[0]).name == "h#3");
    CHECK(built.graph->value(difference.inputs[1]).name == "h");
    for (const char* name : {"h#0", "h#2"}) {
        CAPTURE(name);
        CHECK(error_of(fmt::format("  - h: {{relu: x}}\n  - y: {{sub: [h, \"{}\"]}}\n", name)).starts_with("E0222"));
    }
}

TEST_CASE("results take the logical names of the dims they share a factor with") {
    const Built built = build_text(dot_silu_dot);
    CHECK(named(built, "h").type.logical == std::vector<std::string>{"batch", "hidden"});
    CHECK(named(built, "z").type.logical == std::vector<std::string>{"batch", "embed"});
}

TEST_CASE("a constraint keeps what the user asked for") {
    const Built built = build_text(dot_silu_dot);
    const Node& node = built.graph->node(named(built, "a").producer);
    CHECK(node.asked().logical == std::vector<std::string>{"batch", "hidden"});
    CHECK(!node.asked().mesh.has_value());
}

TEST_CASE("parameters draw lecun_normal from fold_in(key(seed), n), in declaration order") {
    const Built built = build_text(dot_silu_dot);
    const Random w1 = std::get<Random>(named(built, "w1").init->source),
                 w2 = std::get<Random>(named(built, "w2").init->source);
    CHECK(w1.key == Key{1797259609, 2579123966}); // reference: fold_in(key(0), 0) and fold_in(key(0), 1)
    CHECK(w2.key == Key{928981903, 3453687069});
    CHECK(w1.distribution.kind == DistributionKind::truncated_normal);
    const Random x = std::get<Random>(named(built, "x").init->source);
    CHECK(x.distribution.kind == DistributionKind::normal);
    CHECK(x.distribution.scale == 1);
    CHECK(x.key == linen_key(key_from_seed(0), {"inputs", "x"}, 1));
}

TEST_CASE("a bias is zeros and takes no key, a key that is written wins") {
    const Built built = build_text(R"(model: m
inputs: {x: {shape: [4, 4], init: {normal: {stddev: 1.0}, key: 1}}}
params: {a: {shape: [4, 4]}, b: {shape: [4]}, c: {shape: [4, 4]}}
graph:
  - y: {linear: [x, a, b]}
  - y: {dot: [y, c]}
outputs: [y]
)");
    REQUIRE(built.graph.has_value());
    CHECK(std::get<Fill>(named(built, "b").init->source).value == 0);
    CHECK(std::get<Random>(named(built, "c").init->source).key == nnx_key(key_from_seed(0), 1));
    CHECK(std::get<Random>(named(built, "x").init->source).key == key_from_seed(1));
}

TEST_CASE("randint reaches from low to the last number below high, which the element type holds") {
    const auto problems = [](const std::string& dtype, const std::string& arguments) {
        return build_text(fmt::format("model: m\ninputs: {{x: {{shape: [4], dtype: {}, init: {{randint: {{{}}}}}}}}}\n"
                                      "graph: [{{y: {{add: [x, x]}}}}]\noutputs: [y]\n",
                                      dtype, arguments))
            .problems();
    };
    for (const auto& [dtype, low, past] : {std::tuple("i8", -128, 128), {"u8", 0, 256}}) {
        CHECK(problems(dtype, fmt::format("low: {}, high: {}", low, past)) == "");
        CHECK(problems(dtype, fmt::format("low: {}, high: {}", low, past + 1))
                  .starts_with(fmt::format("E0232 2: randint makes {} to {}, and 'x' is {}", low, past, dtype)));
        CHECK(
            problems(dtype, fmt::format("low: {}, high: {}", low - 1, past))
                .starts_with(fmt::format("E0232 2: randint makes {} to {}, and 'x' is {}", low - 1, past - 1, dtype)));
    }
    // What is wrong with an argument is said once.
    const std::string wrong = problems("i32", "high: [4]");
    CHECK(wrong.starts_with("E0"));
    CHECK(wrong.find("\nE") == std::string::npos);
}

TEST_CASE("a repeated module has parameters of its own in every repetition, under block.0, block.1") {
    const Built built = build_text(R"(model: m
axes: {batch: 8, embed: 4}
rng: {keys: linen}
inputs: {x: {axes: [batch, embed]}}
modules:
  DotReluDot:
    inputs: [x]
    params: {w: {axes: [embed, embed], init: xavier_normal}}
    graph:
      - h: {dot: [x, w]}
      - x: {relu: h}
    outputs: [x]
graph:
  - x: {repeat: DotReluDot, times: 2, in: x}
  - y: {DotReluDot: x, name: last}
  - y: {add: [y, DotReluDot.0.h]}
outputs: [y]
)");
    CHECK(built.problems() == "");
    REQUIRE(built.graph.has_value());
    CHECK(built.names() == "x DotReluDot.0.w DotReluDot.0.h DotReluDot.0.x DotReluDot.1.w DotReluDot.1.h "
                           "DotReluDot.1.x last.w last.h last.x y#2");
    CHECK(named(built, "x").name == "DotReluDot.1.x"); // the caller's name of the result
    CHECK(named(built, "DotReluDot.0.x").name == "DotReluDot.0.x");
    // Flax calls the modules of a loop DotReluDot_0, DotReluDot_1; the key hashes path and counter.
    CHECK(std::get<Random>(named(built, "DotReluDot.1.w").init->source).key ==
          linen_key(key_from_seed(0), {"DotReluDot_1"}, 1));
    CHECK(std::get<Random>(named(built, "last.w").init->source).key == linen_key(key_from_seed(0), {"last"}, 1));
}

TEST_CASE("numbers stand in place of operands and take the others' type") {
    const Built built =
        with_graph("  - y: {mul: [x, 0.5]}\n  - k: {add: [n, 2]}\n  - p: {gt: [k, 3]}\n  - q: {select: [p, 1, 0]}\n"
                   "  - q: {reshape: q, shape: [batch, 1]}\n  - y: {mul: [y, q]}\n");
    CHECK(built.problems() == "");
    REQUIRE(built.graph.has_value());
    CHECK(named(built, "k").type.dtype == DType::i32);
    CHECK(named(built, "p").type.dtype == DType::boolean);
    CHECK(named(built, "q").type.dtype == DType::f32);
}

TEST_CASE("a constant's value is written as the op's own value, and true is a bool") {
    const Built built =
        with_graph("  - k: {constant: [1, 2, 3, 4]}\n  - t: {constant: true}\n  - h: {constant: 0.5, axes: [embed]}\n"
                   "  - y: {select: [t, x, k]}\n  - y: {mul: [y, h]}\n  - z: {gather: [y, n]}\n  - y: {add: [y, z]}\n");
    CHECK(built.problems() == "");
    REQUIRE(built.graph.has_value());
    CHECK(named(built, "k").type.shape == Shape{4});
    CHECK(named(built, "t").type.dtype == DType::boolean);
    CHECK(named(built, "h").type.logical == std::vector<std::string>{"embed"});
}

TEST_CASE("a constant or iota that is used twice becomes two, so that its uses do not constrain each other") {
    const Built built =
        with_graph("  - i: {iota: [batch, embed], dim: embed, dtype: f32}\n  - y: {add: [x, i]}\n  - y: {mul: [y, i]}\n"
                   "  - z: {gather: [x, n]}\n  - y: {add: [y, z]}\n");
    CHECK(built.problems() == "");
    REQUIRE(built.graph.has_value());
    CHECK(built.names() == "x n i y i.copy y#2 z y#3");
    CHECK(named(built, "i").type.logical == std::vector<std::string>{"batch", "embed"});
}

TEST_CASE("an argument that takes dims takes each once, in one list, and one that takes one takes one") {
    CHECK(error_of("  - y: {softmax: x, dim: [0, -2]}\n") == "E0226 7: `dim` of 'softmax' names dim 0 twice");
    CHECK(error_of("  - y: {reduce_sum: x, dims: [embed, 1]}\n") ==
          "E0226 7: `dims` of 'reduce_sum' names dim 1 twice");
    CHECK(error_of("  - y: {transpose: x, permutation: [0, 0]}\n") ==
          "E0226 7: `permutation` of 'transpose' names dim 0 twice");
    CHECK(error_of("  - y: {slice: x, dim: [0, 0], start: [0, 1]}\n") == "E0226 7: `dim` of 'slice' names dim 0 twice");
    CHECK(error_of("  - y: {reduce_sum: x, dims: [[0], [1]]}\n") ==
          "E0226 7: `dims` must be a dim's number or axis name, not a list");
    CHECK(error_of("  - y: {logsumexp: x, dims: [0], axes: [embed]}\n") ==
          "E0226 7: the dims of 'logsumexp' are given twice | `dims` and `axes` mean the same: write one of them");
    CHECK(error_of("  - y: {concatenate: [x, x], dim: [0, 1]}\n") ==
          "E0226 7: `dim` of 'concatenate' is one dim, and 2 are given");
    CHECK(error_of("  - y: {gather: [x, n], dim: []}\n") == "E0226 7: `dim` of 'gather' is one dim, and none is given");
    CHECK(error_of("  - y: {one_hot: n, size: [4, 8]}\n") ==
          "E0226 7: `size` of 'one_hot' is one size, and 2 are given");
    CHECK(error_of("  - y: {scatter_add: [n, x], size: []}\n") ==
          "E0226 7: `size` of 'scatter_add' is one size, and none is given");
    CHECK(error_of("  - y: {reshape: x, shape: [[4, 8]]}\n") ==
          "E0226 7: a size must be a number or an axis name, not a list");
}

TEST_CASE("numbers are what the element type can hold, and .inf and .nan stand where elements do") {
    const std::string whole = " | i32 holds whole numbers from -2147483648 to 2147483647";
    const std::string cast = "; or convert the other operand with `cast`";
    CHECK(error_of("  - y: {pad: n, low: 1, value: 0.5}\n") == "E0226 7: 0.5 is not a value of type i32" + whole);
    CHECK(error_of("  - y: {clamp: n, max: 2147483648}\n") == "E0226 7: 2147483648 is not a value of type i32" + whole);
    CHECK(error_of("  - y: {mul: [x, 1.0e39]}\n") ==
          "E0226 7: 1.0e39 is not a value of type f32 | f32 holds numbers up to 3.40282e+38, and .inf" + cast);
    CHECK(error_of("  - y: {mul: [n, .inf]}\n") == "E0226 7: .inf is not a value of type i32" + whole + cast);
    CHECK(error_of("  - y: {iota: [4294967296]}\n") ==
          "E0226 7: 4294967295 is not a value of type i32 | write a fitting number, or another `dtype`");
    CHECK(error_of("  - y: {layer_norm: x, eps: .nan}\n") == "E0115 7: eps: expected a finite number, found .nan");
    const Built built =
        with_graph("  - y: {max: [x, -.inf]}\n  - y: {clamp: y, max: .inf}\n  - k: {constant: [.nan, .inf]}\n"
                   "  - z: {pad: x, low: 1, high: 0, dim: 1, value: -.inf}\n  - w: {gather: [x, n]}\n");
    CHECK(built.problems().find("E0") == std::string::npos);
}

TEST_CASE("an element type in the spelling of another program is recognised") {
    CHECK(error_of("  - y: {cast: x, dtype: bfloat16}\n") ==
          "E0226 7: there is no element type 'bfloat16' | did you mean 'bf16'?");
    CHECK(error_of("  - y: {cast: x, dtype: jnp.Float32}\n") ==
          "E0226 7: there is no element type 'jnp.Float32' | did you mean 'f32'?");
    CHECK(error_of("  - y: {cast: x, dtype: half}\n") ==
          "E0226 7: there is no element type 'half' | did you mean 'f16'?");
    CHECK(error_of("  - y: {cast: x, dtype: complex64}\n") ==
          "E0226 7: there is no element type 'complex64' | dtypes: bf16, bool, f16, f32, f64, f8e4m3fn, f8e5m2, "
          "i16, i32, i64, i8, u16, u32, u64, u8");
}

TEST_CASE("of very many undefined names the first hundred are compared with those that there are") {
    std::string graph = "  - hidden: {exp: x}\n  - y: {exp: x}\n";
    for (int i = 0; i < 20'000; ++i) graph += "  - y" + std::to_string(i) + ": {exp: hiden}\n";
    const Built built = with_graph(graph);
    const std::vector<Diagnostic>& all = built.diagnostics.all();
    CHECK(std::count_if(all.begin(), all.end(), [](const Diagnostic& d) { return d.code == "E0222"; }) == 20'000);
    CHECK(std::count_if(all.begin(), all.end(),
                        [](const Diagnostic& d) { return d.help == "did you mean 'hidden'?"; }) == 100);
    CHECK(std::all_of(all.begin(), all.end(), [](const Diagnostic& d) { return !d.help.empty(); }));
}

TEST_CASE("mistakes in a graph are told with place and remedy") {
    CHECK(error_of("  - y: {add: [x, z]}\n  - z: {exp: x}\n") ==
          "E0222 7: 'z' is not defined here | 'z' is defined later, at line 8: move that entry up");
    CHECK(error_of("  - hidden: {exp: x}\n  - y: {add: [x, hiden]}\n") ==
          "E0222 8: 'hiden' is not defined here | did you mean 'hidden'?");
    CHECK(error_of("  - y: {exp: [x, x]}\n") ==
          "E0221 7: 'exp' takes 1 operand, but 2 are given | for example {exp: x}");
    CHECK(error_of("  - y: {add: [x, n]}\n") == "E0224 7: the operands of 'add' have different element types: x is "
                                                "f32, n is i32 | convert one of them first: {cast: n, dtype: f32}");
    CHECK(error_of("  - y: {add: [n, 0.5]}\n") ==
          "E0226 7: 0.5 is not a value of type i32 | i32 holds whole numbers from -2147483648 to 2147483647; or "
          "convert the other operand with `cast`");
    CHECK(error_of("  - y: {softmax: x, dims: 1}\n") ==
          "E0225 7: 'softmax' has no argument 'dims' | did you mean 'dim'?");
    CHECK(error_of("  - y: {softmax: x, dim: 2}\n") ==
          "E0228 7: there is no dim 2: the value has 2 dims | dims are 0 to 1, or -2 to -1 from the end");
    CHECK(error_of("  - y: {softmax: x, dim: embd}\n") ==
          "E0228 7: the value has no dim named 'embd' | did you mean 'embed'?");
    CHECK(error_of("  - y: {cast: x}\n") ==
          "E0225 7: 'cast' needs the argument 'dtype' | dtype: one of bf16, bool, f16, f32, f64, f8e4m3fn, f8e5m2, "
          "i16, i32, i64, i8, u16, u32, u64, u8");
    CHECK(error_of("  - y: {cast: x, dtype: f31}\n") ==
          "E0226 7: there is no element type 'f31' | did you mean 'f32'?");
    CHECK(error_of("  - y: {reshape: x, shape: [3, -1]}\n") == "E0223 7: x (8, 4) cannot be reshaped to (3, -1)");
    CHECK(error_of("  - y: {constrain: x, axes: [batch]}\n") ==
          "E0226 7: 1 axes are given for 2 dims, (8, 4) | give one entry for each dim, ~ for a dim without an axis");
    CHECK(error_of("  - y: {broadcast: x, shape: [4000000000, 4000000000, 8, 4]}\n") ==
          "E0227 7: the result of 'broadcast' has shape (4000000000, 4000000000, 8, 4): its size in bytes does not fit "
          "64 bits");
    CHECK(error_of("  - y: {constrain: x, axes: [embed, batch]}\n") ==
          "E0226 7: axis 'embed' has size 4, but dim 0 of (8, 4) has size 8");
    CHECK(error_of("  - z: {exp: x}\n") == "E0222 8: 'y' is not defined here | defined here: n, x, z");
}

TEST_CASE("what uses a wrong value stays silent") {
    CHECK(error_of("  - a: {dot: [x, x]}\n  - b: {exp: a}\n  - y: {add: [b, x]}\n") ==
          "E0223 7: the shapes of x (8, 4) and x (8, 4) do not fit for 'dot' | `dot` contracts the last dim of the "
          "left with the second-to-last of "
          "the right (its only dim if it has one); for another contraction use `einsum`");
}

TEST_CASE("modules that contain themselves are named as a cycle") {
    const Built built = build_text(R"(model: m
inputs: {x: {shape: [4]}}
modules:
  a: {inputs: [x], graph: [{y: {b: x}}], outputs: [y]}
  b: {inputs: [x], graph: [{y: {repeat: c, times: 2, in: x}}], outputs: [y]}
  c: {inputs: [x], graph: [{y: {a: x}}], outputs: [y]}
graph:
  - y: {exp: x}
outputs: [y]
)");
    CHECK(!built.graph.has_value());
    CHECK(built.problems() == "E0230 4: module 'a' calls itself: a -> b -> c -> a | a module may not contain itself; "
                              "write `repeat` for several in a row");
}

TEST_CASE("the name of an instance is a name: its values stand under it in plan files") {
    const auto problem = [](const std::string& entry) {
        return build_text("model: m\ninputs: {x: {shape: [4]}}\nmodules:\n"
                          "  a: {inputs: [x], graph: [{x: {exp: x}}], outputs: [x]}\n"
                          "graph:\n  - y: " +
                          entry + "\noutputs: [y]\n")
            .problems();
    };
    CHECK(problem("{a: x, name: first-1}").empty());
    for (const char* given : {"a=b", "a b", "a.b", "a#2", "\"\""})
        for (const char* called : {"{a: x, name: ", "{repeat: a, times: 2, in: x, name: "})
            CHECK(problem(called + std::string(given) + "}").starts_with("E0201 6: '"));
}

TEST_CASE("models that would grow beyond measure are refused, even if they compute nothing") {
    const auto problem = [](const std::string& modules, const std::string& entry) {
        const Built built = build_text("model: m\ninputs: {x: {shape: [4]}}\nmodules:\n" + modules +
                                       "graph:\n  - y: " + entry + "\noutputs: [y]\n");
        CHECK(!built.graph.has_value());
        return built.problems();
    };
    const std::string empty = "  a: {inputs: [x], graph: [], outputs: [x]}\n";
    CHECK(problem(empty, "{repeat: a, times: 9000000000, in: x}") ==
          "E0227 6: the model has more than 200000 modules or values when repeats are written out");
    const std::string one = "  a: {inputs: [x], graph: [{x: {exp: x}}], outputs: [x]}\n";
    CHECK(problem(one, "{broadcast: x, shape: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4]}") ==
          "E0227 6: the result of 'broadcast' has 17 dims; at most 16 are allowed");
    std::string chain;
    for (int n = 0; n < 70; ++n)
        chain += "  a" + std::to_string(n) + ": {inputs: [x], graph: [{x: {a" + std::to_string(n + 1) +
                 ": x}}], outputs: [x]}\n";
    chain += "  a70: {inputs: [x], graph: [{x: {exp: x}}], outputs: [x]}\n";
    // a0 is on line 4; a63, the 64th, calls one more.
    CHECK(problem(chain, "{a0: x}") == "E0227 67: modules are nested more than 64 deep");
}

TEST_CASE("unused values are warnings") {
    const Built built = with_graph("  - y: {exp: x}\n  - z: {log: x}\n");
    CHECK(built.graph.has_value());
    CHECK(built.problems() == "W0201 5: input 'n' is not used | remove it, or name it in `outputs`\n"
                              "W0201 8: value 'z' is not used | remove it, or name it in `outputs`");
}

TEST_CASE("a parameter that nobody reads is said to be unused, of a loop and where it is only cast, too") {
    const std::string begin = "model: m\nprecision: {compute: bf16}\ninputs: {x: {shape: [4, 4]}}\n"
                              "params: {p: {shape: [4, 4]}}\nmodules:\n"
                              "  f: {inputs: [x], params: {w: {shape: [4, 4]}, u: {shape: [4]}}, "
                              "graph: [{y: {dot: [x, w]}}], outputs: [y]}\n";
    const std::string unused = " is not used | remove it, or name it in `outputs`";
    CHECK(build_text(begin + "graph: [{h: {repeat: f, times: 3, in: x, scan: true}}]\noutputs: [h]\n").problems() ==
          "W0201 4: param 'p'" + unused + "\nW0201 6: param 'f.u'" + unused);
    CHECK(build_text(begin + "graph: [{h: {f: x}}]\noutputs: [h]\n").problems() ==
          "W0201 4: param 'p'" + unused + "\nW0201 6: param 'f.u'" + unused);
}

TEST_CASE("Llama 3.1 has the parameters that were published") {
    const auto llama = [](i64 layers, i64 embed, i64 heads, i64 mlp) {
        return parameters(*build_text("model: llama\naxes: {batch: 1, length: 8, embed: " + std::to_string(embed) +
                                      ", heads: " + std::to_string(heads) +
                                      ", kv: 8, width: 128, mlp: " + std::to_string(mlp) + R"(, vocab: 128256}
inputs: {tokens: {axes: [batch, length], dtype: i32}}
params: {table: {axes: [vocab, embed]}, last: {axes: [embed]}, head: {axes: [embed, vocab]}}
modules:
  block:
    inputs: [x]
    params:
      s1: {axes: [embed]}
      wq: {axes: [embed, heads, width]}
      wk: {axes: [embed, kv, width]}
      wv: {axes: [embed, kv, width]}
      wo: {axes: [heads, width, embed]}
      s2: {axes: [embed]}
      gate: {axes: [embed, mlp]}
      up: {axes: [embed, mlp]}
      down: {axes: [mlp, embed]}
    graph:
      - n: {rms_norm: [x, s1]}
      - q: {einsum: "bld,dhk->blhk", in: [n, wq]}
      - k: {einsum: "bld,dhk->blhk", in: [n, wk]}
      - v: {einsum: "bld,dhk->blhk", in: [n, wv]}
      - q: {rope: q, theta: 500000}
      - k: {rope: k, theta: 500000}
      - o: {attention: [q, k, v], causal: true}
      - o: {einsum: "blhk,hkd->bld", in: [o, wo]}
      - x: {add: [x, o]}
      - n: {rms_norm: [x, s2]}
      - g: {dot: [n, gate]}
      - g: {silu: g}
      - u: {dot: [n, up]}
      - h: {mul: [g, u]}
      - h: {dot: [h, down]}
      - x: {add: [x, h]}
    outputs: [x]
graph:
  - x: {gather: [table, tokens]}
  - x: {repeat: block, times: )" + std::to_string(layers) +
                                      R"(, in: x}
  - x: {rms_norm: [x, last]}
  - y: {dot: [x, head]}
outputs: [y]
)")
                               .graph);
    };
    CHECK(llama(32, 4096, 32, 14336) == 8030261248);
    CHECK(llama(80, 8192, 64, 28672) == 70553706496);
    CHECK(llama(126, 16384, 128, 53248) == 405853388800);
}

TEST_CASE("GPT-2 124M has 124,439,808 parameters") { // the published figure
    const Built built = build_file("examples/gpt2/model.yaml");
    CHECK(built.problems() == "");
    REQUIRE(built.graph.has_value());
    CHECK(parameters(*built.graph) == 124439808);
    CHECK(named(built, "block.11.wq").type.shape == Shape{768, 12, 64});
    CHECK(named(built, "logits").type.shape == Shape{2, 64, 50257});
    CHECK(named(built, "logits").type.logical == std::vector<std::string>{"batch", "length", "vocab"});
}

} // namespace shard
