#include "planner/partition/local.h"
#include "tests/support/graph_case.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

using Nodes = std::vector<std::string>;

// Every node as "result(operands): instructions", e.g. "z(x, b): input input add neg".
Nodes nodes(const Local& local) {
    Nodes out;
    for (const Node& node : local.graph.nodes) {
        std::string text = local.graph.value(node.outputs[0]).name + "(";
        for (size_t i = 0; i < node.inputs.size(); ++i)
            text += (i > 0 ? ", " : "") + local.graph.value(node.inputs[i]).name;
        text += "):";
        if (node.collective()) text += fmt::format(" {}", node.collective()->def->name);
        const Pointwise* pointwise = node.kernel() ? std::get_if<Pointwise>(node.kernel()) : nullptr;
        if (node.kernel() && pointwise == nullptr) text += fmt::format(" {}", class_name(*node.kernel()));
        if (pointwise != nullptr)
            for (const ScalarStep& step : pointwise->steps)
                text += step.op == ScalarOp::constant ? fmt::format(" {}", step.value.value)
                                                      : fmt::format(" {}", name(step.op));
        out.push_back(std::move(text));
    }
    return out;
}

Attributes value(double number, Shape shape = {}) {
    Attributes attributes;
    attributes.set("value", std::vector<double>{number});
    attributes.set("shape", shape);
    attributes.set("dtype", std::string("f32"));
    return attributes;
}

const Mesh mesh_2{{{"x", 2, ""}}, {}};

} // namespace

TEST_CASE("fuse: a chain over one index space is one kernel, and equal operands are read once") {
    GraphCase c{mesh_2, {}, {}};
    const ValueId x = c.input("x", {4, 8}, "[x | -]"), b = c.input("b", {8}, "[-]");
    const ValueId h = c.op("h", "add", {x, b}, "[x | -]");
    const ValueId t = c.op("t", "tanh", {h}, "[x | -]");
    c.output(c.op("z", "mul", {t, x}, "[x | -]"));
    CHECK(nodes(c.run()) == Nodes{"z(x, b): input input add tanh mul"});
}

TEST_CASE("fuse: constants become steps of every reader, through broadcasts too") {
    GraphCase c{mesh_2, {}, {}};
    const ValueId x = c.input("x", {4, 8}, "[x | -]");
    const ValueId half = c.op("half", "constant", {}, "[]", value(0.5));
    const ValueId two = c.op("two", "constant", {}, "[x | -]", value(2, {4, 8}));
    const ValueId a = c.op("a", "mul", {x, half}, "[x | -]");
    c.output(a);
    c.output(c.op("z", "max", {c.op("t", "mul", {a, half}, "[x | -]"), two}, "[x | -]"));
    CHECK(nodes(c.run()) == Nodes{"a(x): input 0.5 mul", "z(a): input 0.5 mul 2 max"});
}

TEST_CASE("fuse: what is read twice, returned, or reduced is made once and stays") {
    GraphCase c{mesh_2, {}, {}};
    const ValueId x = c.input("x", {4, 8}, "[x | -]");
    const ValueId e = c.op("e", "exp", {x}, "[x | -]");
    const ValueId twice = c.op("twice", "neg", {e}, "[x | -]");
    const ValueId out = c.op("out", "abs", {e}, "[x | -]");
    c.output(out);
    c.output(c.op("z", "mul", {twice, c.op("t", "tanh", {out}, "[x | -]")}, "[x | -]"));
    CHECK(nodes(c.run()) == Nodes{"e(x): input exp", "out(e): input abs", "z(e, out): input neg input tanh mul"});
}

TEST_CASE("fuse: an operand of another index space stays a node") {
    GraphCase c{mesh_2, {}, {}};
    const ValueId x = c.input("x", {4, 8}, "[x | -]"), b = c.input("b", {8}, "[-]");
    c.output(c.op("z", "add", {x, c.op("e", "exp", {b}, "[-]")}, "[x | -]"));
    CHECK(nodes(c.run()) == Nodes{"e(b): input exp", "z(x, e): input input add"});
}

TEST_CASE("fuse: a producer whose operands would live longer than its result is worth stays where it is") {
    // p and q die in s, which is read after r is made: fused, both would have to wait for r.
    GraphCase c{mesh_2, {}, {}};
    const ValueId x = c.input("x", {4, 4}, "[- | -]");
    const ValueId p = c.op("p", "dot", {x, x}, "[- | -]"), q = c.op("q", "dot", {p, x}, "[- | -]");
    const ValueId s = c.op("s", "add", {p, q}, "[- | -]");
    const ValueId r = c.op("r", "dot", {x, x}, "[- | -]");
    c.output(c.op("z", "mul", {s, r}, "[- | -]"));
    CHECK(nodes(c.run()) == Nodes{"p(x, x): contract", "q(p, x): contract", "s(p, q): input input add",
                                  "r(x, x): contract", "z(s, r): input input mul"});
}
