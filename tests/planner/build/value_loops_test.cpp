// Loops that take an entry of a value in each trip and stack what trips make.
#include "tests/planner/build/loop_proofs.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

// A recurrent net; `more` is appended to the loop.
std::string rnn(const std::string& more = {}, const std::string& train = {}) {
    return fmt::format(R"(model: rnn
axes: {{length: 6, batch: 8, embed: 4, state: 8, hidden: 8}}
inputs:
  xs: {{axes: [length, batch, embed], init: normal}}
  h0: {{axes: [batch, hidden], init: normal}}
params:
  u: {{axes: [state, hidden]}}
modules:
  cell:
    inputs: [h, u, x]
    params: {{w: {{axes: [embed, hidden]}}}}
    graph:
      - a: {{dot: [x, w]}}
      - b: {{dot: [h, u]}}
      - n: {{tanh: {{add: [a, b]}}}}
      - y: {{mul: [n, n]}}
    outputs: [n, y]
graph:
  - h, ys: {{repeat: cell, in: [h0, u], over: xs, stack: y, scan: true{}}}
  - loss: {{add: [{{mean: ys}}, {{mean: h}}]}}
outputs: [h, ys, loss]
train:
  loss: loss
  optimizer: {{adam: {{learning_rate: 1.0e-2}}}}
{})",
                       more, train);
}

const std::string whole = "mesh: {data: 1}\nrules: []\n";
const std::string split_hidden = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {hidden: model}]\n";
const std::string split_length = "mesh: {data: 2, model: 2}\nrules: [{length: data}, {embed: model}]\n";
const std::string uneven = "mesh: {data: 3, model: 4}\nrules: [{batch: data}, {length: model}]\ndivisibility: pad\n";

} // namespace

TEST_CASE("a loop over a value is what the interpreter and one device say, however it is split, either way") {
    for (const std::string& layout : {whole, split_hidden, split_length, uneven})
        for (const std::string more : {"", ", reverse: true"}) {
            CAPTURE(layout);
            CAPTURE(more);
            CHECK(proved(rnn(more), layout, "forward") == "");
            CHECK(proved(rnn(more), layout, "train", 2) == "");
        }
}

TEST_CASE("a repeat that is written out takes entries of a value as well, beside parameters of its own") {
    const auto layers = [](const std::string& over) {
        return fmt::format(R"(model: layers
axes: {{batch: 8, embed: 4}}
inputs: {{x: {{axes: [batch, embed], init: normal}}, rates: {{shape: [3], init: normal}}}}
modules:
  layer:
    inputs: [h, rate]
    params: {{w: {{axes: [embed, 4], init: {{normal: {{}}, key: 1}}}}}}
    graph:
      - h: {{mul: [{{tanh: {{dot: [h, w]}}}}, rate]}}
    outputs: [h]
graph:
{}  - loss: {{mean: y}}
outputs: [loss]
train: {{loss: loss, optimizer: {{sgd: {{learning_rate: 1.0}}}}}}
)",
                           over);
    };
    const std::string by_hand = layers("  - a: {slice: rates, dim: [0], start: [0], limit: [1]}\n"
                                       "  - b: {slice: rates, dim: [0], start: [1], limit: [2]}\n"
                                       "  - c: {slice: rates, dim: [0], start: [2], limit: [3]}\n"
                                       "  - y: {layer: [x, {reshape: a, shape: []}]}\n"
                                       "  - y: {layer: [y, {reshape: b, shape: []}]}\n"
                                       "  - y: {layer: [y, {reshape: c, shape: []}]}\n");
    const std::string repeated = layers("  - y: {repeat: layer, in: x, over: rates}\n");
    for (const std::string layout : {"mesh: {data: 2, model: 2}\nrules: [{batch: data}, {embed: model}]\n"}) {
        CHECK(proved(repeated, layout, "train", 2) == "");
        CHECK(losses(repeated, layout) == losses(by_hand, layout));
    }
}

namespace {

// Four losses of a train step: what gradients are, too.
Numbers trained(const std::string& modules, const std::string& sums, const std::string& layout) {
    return losses(fmt::format(R"(model: sums
inputs: {{xs: {{shape: [8, 4], init: normal}}, from: {{shape: [4], init: zeros}}}}
params: {{w: {{shape: [4], init: normal}}}}
modules:
  unused: {{inputs: [x], graph: [{{y: {{abs: x}}}}], outputs: [y]}}
{}graph:
  - scaled: {{mul: [xs, w]}}
{}  - loss: {{mean: {{mul: [{{tanh: sums}}, xs]}}}}
outputs: [loss]
train: {{loss: loss, optimizer: {{sgd: {{learning_rate: 1.0}}}}}}
)",
                              modules, sums),
                  layout);
}

} // namespace

// Ops of their own say what such loops make.
TEST_CASE("a loop that adds up and stacks is a cumulative sum, and has its gradient") {
    const std::string add_up = "  add_up: {inputs: [s, x], graph: [{t: {add: [s, x]}}], outputs: [t, t]}\n";
    for (const std::string layout :
         {"mesh: {i: 1}\n", "mesh: {i: 2}\ninputs: {xs: [~, i]}\n", "mesh: {i: 4}\ninputs: {xs: [i, ~]}\n"})
        for (const std::string way : {"", ", reverse: true"}) {
            CAPTURE(layout);
            CAPTURE(way);
            const Numbers looped = trained(
                add_up,
                fmt::format("  - last, sums: {{repeat: add_up, in: from, over: scaled, stack: t, scan: true{}}}\n",
                            way),
                layout);
            const Numbers expected = trained("", fmt::format("  - sums: {{cumsum: scaled, dim: 0{}}}\n", way), layout);
            CHECK(close(looped, expected, 1e-6));
            CHECK_FALSE(close(looped, Numbers(looped.size(), looped[0]), 1e-6)); // it trains
        }
}

TEST_CASE("a loop that carries nothing works on entries of several values") {
    const std::string both = "  both: {inputs: [x, y], graph: [{p: {mul: [x, y]}}], outputs: [p]}\n";
    const Numbers looped =
        trained(both, "  - sums: {repeat: both, over: [scaled, xs], stack: p, scan: true}\n", "mesh: {i: 2}\n");
    CHECK(close(looped, trained("", "  - sums: {mul: [scaled, xs]}\n", "mesh: {i: 2}\n"), 1e-6));
}

TEST_CASE("a loop does not write over what it begins with where others are given it") {
    const std::string inner = R"(model: kept
axes: {trips: 3, batch: 8, embed: 8}
inputs: {x: {axes: [batch, embed]}, xs: {axes: [trips, batch, embed]}}
modules:
  halve:
    inputs: [h]
    graph: [{h: {tanh: h}}, {h: {mul: [h, 0.5]}}]
    outputs: [h]
  cell:
    inputs: [h, x]
    graph: [{v: {sin: {add: [h, x]}}}, {r: {repeat: halve, times: 3, in: v, scan: true}}]
    outputs: [v, r]
graph:
)";
    const std::string carried = "  - y, r: {repeat: cell, times: 3, in: x, over: xs, stack: r, scan: true}\n",
                      shown = "  - v: {sin: x}\n  - y: {reshape: v, shape: [4, 2, 8]}\n"
                              "  - r: {repeat: halve, times: 3, in: v, scan: true}\n";
    for (const std::string& layout : {whole, split_hidden})
        for (const std::string& graph : {carried, shown})
            CHECK(proved(inner + graph + "outputs: [y, r]\n", layout, "forward") == "");
}

} // namespace shard
