// Loops over layers and over microbatches: proved like every plan, and equal to what is written out.
#include "tests/planner/build/loop_proofs.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <set>

namespace shard {
namespace {

// Blocks of an MLP with a residual connection; `scan` and `more` are appended to the repeat and the train block.
std::string blocks(const std::string& scan, const std::string& more = {}, const std::string& dtype = "f32") {
    return fmt::format(R"(model: blocks
axes: {{batch: 16, in: 8, embed: 8, hidden: 16, layers: 4}}
inputs: {{x: {{axes: [batch, in], dtype: {2}, init: normal}}}}
modules:
  block:
    inputs: [x, shift]
    params:
      w1: {{axes: [embed, hidden], dtype: {2}}}
      b1: {{axes: [hidden], init: normal, dtype: {2}}}
      w2: {{axes: [hidden, embed], dtype: {2}}}
    graph:
      - n: {{softmax: x}}
      - n: {{add: [n, shift]}}
      - h: {{dot: [n, w1]}}
      - h: {{add: [h, b1]}}
      - h: {{gelu: h}}
      - y: {{dot: [h, w2]}}
      - y: {{add: [x, y]}}
    outputs: [y]
params:
  w0: {{axes: [in, embed], dtype: {2}}}
  shift: {{axes: [embed], init: normal, dtype: {2}}}
graph:
  - y: {{dot: [x, w0]}}
  - y: {{repeat: block, times: 4, in: [y, shift], axis: layers{0}}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, embed], dtype: {2}, init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{adam: {{learning_rate: 1.0e-2}}}}
{1})",
                       scan, more, dtype);
}

const std::string scan = ", scan: true";
const std::string whole = "mesh: {data: 1}\nrules: []\n";
const std::string megatron = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {hidden: model}]\n";
const std::string split_layers = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {layers: model}]\n";

} // namespace

TEST_CASE("a scan forward is what the interpreter and one device say, however it is split") {
    for (const std::string& layout : {whole, megatron, split_layers}) {
        CAPTURE(layout);
        CHECK(proved(blocks(scan), layout, "forward") == "");
    }
}

TEST_CASE("a scan trains as the interpreter and one device say, however it is split") {
    for (const std::string& layout : {whole, megatron, split_layers}) {
        CAPTURE(layout);
        CHECK(proved(blocks(scan), layout, "train", 3) == "");
    }
}

TEST_CASE("a block that is scanned and one that is written out train alike") {
    const Numbers unrolled = losses(blocks(""), megatron);
    CHECK(close(losses(blocks(scan), megatron), unrolled, 1e-6));
    CHECK(close(losses(blocks(scan), split_layers), unrolled, 1e-6));
    CHECK(close(losses(blocks(scan, "", "f64"), whole), losses(blocks("", "", "f64"), whole), 1e-14));
    CHECK(unrolled.back() < unrolled.front());
}

TEST_CASE("what is reduced of a gradient in a loop is reported as the gradient's, layers and microbatches alike") {
    for (const std::string more : {"", "  microbatches: 4\n", "  microbatches: 4\n  reduce: each\n"})
        for (const std::string& repeat : {std::string(), scan}) {
            CAPTURE(more);
            CAPTURE(repeat);
            const Plan plan = train_plan(blocks(repeat, more), megatron);
            std::map<std::string, i64> moved; // by gradient
            for (const TensorReport& tensor : plan.report.tensors)
                if (tensor.role == Role::gradient) moved[tensor.name] = 0;
            for (const CollectiveReport& collective : plan.report.collectives)
                if (collective.axes[0].axis == 0 && collective.tensor != "loss")
                    moved[collective.tensor] += collective.wire_bytes_per_device;
            CHECK(moved.size() == (repeat.empty() ? 14 : 5));
            for (const auto& [tensor, bytes] : moved) CHECK(bytes > 0);
        }
}

TEST_CASE("fsdp of a scan: what is moved of a layer is counted in dims of the stack") {
    const Plan plan =
        train_plan(blocks(scan), "mesh: {data: 2}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 128}\n");
    std::set<std::string> seen;
    for (const CollectiveReport& collective : plan.report.collectives)
        seen.insert(fmt::format("{} {} {}", collective.kind, collective.tensor, collective.dim));
    // The hidden dim, the larger one, is cut: dim 2 of w1 (layers, embed, hidden), dim 1 of w2 (layers, hidden, embed).
    for (const std::string line : {"all_gather block.w1 2", "all_gather block.w2 1", "reduce_scatter block.w1.grad 2",
                                   "reduce_scatter block.w2.grad 1"})
        CHECK(seen.contains(line));
}

TEST_CASE("the sums over microbatches are memory of gradients") {
    // Where the most is alive, in the backward pass, all sums are: 256 + 32 bytes of w0 and shift, and a half of each
    // layer's 512 + 64 + 512.
    const i64 sums = 256 + 32 + 4 * (512 + 64 + 512) / 2;
    for (const std::string& repeat : {std::string(), scan}) {
        CAPTURE(repeat);
        const MemoryReport& memory = train_plan(blocks(repeat, "  microbatches: 4\n"), megatron).report.memory;
        CHECK(memory.gradients >= sums);
        CHECK(memory.gradients <= 2 * sums); // a scan's backward loop stacks up those of one microbatch too
        CHECK(memory.params + memory.optimizer_state + memory.gradients + memory.activations + memory.temporaries +
                  memory.inputs <=
              memory.peak);
    }
}

TEST_CASE("layers that are split: each trip moves one layer, never the stack") {
    const Plan plan = train_plan(blocks(scan), split_layers);
    for (const CollectiveReport& collective : plan.report.collectives) {
        CAPTURE(collective.tensor);
        CHECK(collective.kind == "all_reduce");
        // The largest layer is 8 x 16; a stack has four of them.
        CHECK(collective.wire_bytes_per_device / collective.count <= 8 * 16 * 4);
    }
}

TEST_CASE("microbatches are proved, with their gradients reduced once") {
    for (const std::string& layout : {whole, megatron}) {
        CAPTURE(layout);
        CHECK(proved(blocks("", "  microbatches: 4\n"), layout, "train", 3) == "");
        CHECK(proved(blocks(scan, "  microbatches: 4\n"), layout, "train", 3) == "");
    }
    const Plan plan = train_plan(blocks("", "  microbatches: 4\n"), megatron);
    for (const CollectiveReport& collective : plan.report.collectives)
        for (const AxisRef& axis : collective.axes)
            if (axis.axis == 0) CHECK(collective.count == 1); // over data: gradients and the loss
}

TEST_CASE("reduce: each reduces the gradients of every microbatch") {
    const Plan plan = train_plan(blocks("", "  microbatches: 4\n  reduce: each\n"), megatron);
    i64 reductions = 0;
    for (const CollectiveReport& collective : plan.report.collectives)
        for (const AxisRef& axis : collective.axes)
            if (axis.axis == 0 && collective.tensor.find("grad") != std::string::npos) {
                CHECK(collective.count == 4);
                ++reductions;
            }
    CHECK(reductions > 0);
    CHECK(proved(blocks("", "  microbatches: 4\n  reduce: each\n"), megatron, "train", 2) == "");
    // Of a scanned block in every trip, where they are made: 4 microbatches, 4 layers.
    const std::string scanned = blocks(scan, "  microbatches: 4\n  reduce: each\n");
    i64 of_layers = 0;
    for (const CollectiveReport& collective : train_plan(scanned, megatron).report.collectives)
        if (collective.axes[0].axis == 0 && collective.tensor.starts_with("block.w")) {
            CHECK(collective.count == 16);
            ++of_layers;
        }
    CHECK(of_layers == 2); // w1 and w2
    CHECK(proved(scanned, megatron, "train", 2) == "");
}

TEST_CASE("microbatches have the losses of the whole batch") {
    const Numbers all = losses(blocks("", "", "f64"), megatron);
    CHECK(close(losses(blocks("", "  microbatches: 4\n", "f64"), megatron), all, 1e-12));
    CHECK(close(losses(blocks("", "  microbatches: {count: 8, axis: batch}\n", "f64"), whole), all, 1e-12));
    CHECK(close(losses(blocks(scan, "  microbatches: 2\n", "f64"), split_layers), all, 1e-12));
}

TEST_CASE("with microbatches a scanned block's gradients are reduced once a step too") {
    for (const std::string reduce : {"", "  reduce: end\n"}) {
        const Plan plan = train_plan(blocks(scan, "  microbatches: 4\n" + reduce), megatron);
        for (const CollectiveReport& collective : plan.report.collectives)
            for (const AxisRef& axis : collective.axes) {
                CAPTURE(collective.tensor);
                if (axis.axis == 0) CHECK(collective.count == 1);
            }
        CHECK(proved(blocks(scan, "  microbatches: 4\n" + reduce), megatron, "train", 2) == "");
    }
}

TEST_CASE("under fsdp a microbatch gathers each layer twice and scatters its gradient") {
    const std::string layout = "mesh: {data: 4}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 64}\n";
    for (const std::string& loop : {std::string(), scan}) {
        CAPTURE(loop);
        const std::string model = blocks(loop, "  microbatches: 2\n");
        const Plan plan = train_plan(model, layout);
        std::map<std::string, i64> runs; // by kind, of the matrices
        for (const CollectiveReport& collective : plan.report.collectives)
            if (collective.tensor.find(".w") != std::string::npos) runs[collective.kind] += collective.count;
        // Two matrices a block, four blocks, two microbatches.
        CHECK(runs == std::map<std::string, i64>{{"all_gather", 2 * 16}, {"reduce_scatter", 16}});
        CHECK(proved(model, layout, "train", 2) == "");
    }
}

TEST_CASE("layers that are split come from their holder on any profile") {
    const std::string slow = split_layers + "hardware: tpu-v5e\n"; // its links have a latency
    for (const CollectiveReport& collective : train_plan(blocks(scan), slow).report.collectives) {
        CAPTURE(collective.tensor);
        CHECK(collective.wire_bytes_per_device / collective.count <= 8 * 16 * 4);
    }
}

TEST_CASE("a scan that nobody reads is gone") {
    std::string model = blocks(scan);
    const std::string read = "  - y: {repeat";
    model.replace(model.find(read), read.size(), "  - unread: {repeat");
    CHECK(proved(model, megatron, "forward") == "");
    CHECK(proved(model, megatron, "train", 2) == "");
}

TEST_CASE("recomputation, microbatches, fsdp, bf16 and scans go together") {
    const std::string layouts[] = {megatron, split_layers,
                                   "mesh: {data: 4}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 64}\n"};
    for (const std::string remat : {"", "    remat: full\n", "    remat: dots\n"})
        for (const std::string precision : {"", "precision: {compute: bf16}\n", "precision: {params: bf16}\n"})
            for (const std::string& loop : {std::string(), scan})
                for (const std::string micro : {"", "  microbatches: 2\n"})
                    for (const std::string& layout : layouts) {
                        std::string model = blocks(loop, micro);
                        model.insert(model.find("    inputs: [x, shift]\n"), remat);
                        model.insert(model.find("inputs:"), precision);
                        CAPTURE(model);
                        CAPTURE(layout);
                        ProofOptions options;
                        options.mode = "train";
                        options.steps = 2;
                        options.interpreter = precision.empty(); // it computes in f64
                        CHECK(fmt::format("{}", fmt::join(prove(model, layout, options), "\n")) == "");
                    }
}

TEST_CASE("gradients do not wait for the end of their microbatch, and do not lie whole under fsdp") {
    const auto model = [](const std::string& more) {
        return R"(model: wide
axes: {batch: 64, embed: 64, hidden: 256}
inputs: {x: {axes: [batch, embed]}}
modules:
  block:
    inputs: [x]
    params: {w: {axes: [embed, hidden]}, v: {axes: [hidden, embed]}}
    graph: [{h: {dot: [x, w]}}, {h: {tanh: h}}, {h: {dot: [h, v]}}, {x: {add: [h, x]}}]
    outputs: [x]
graph: [{y: {repeat: block, times: 8, in: x}}]
outputs: [y]
train:
  targets: {t: {axes: [batch, embed]}}
  loss: {mse: [y, t]}
  optimizer: {adam: {learning_rate: 0.1}}
)" + more;
    };
    const std::string layout = "mesh: {data: 8}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 1}\n";
    const Plan one = train_plan(model(""), layout), four = train_plan(model("  microbatches: 4\n"), layout);
    // An eighth of the gradients is added up; activations are a quarter.
    CHECK(static_cast<double>(four.peak_bytes) < 1.15 * static_cast<double>(one.peak_bytes));
}

TEST_CASE("a scanned block may return a layer of its parameters, split or not") {
    const std::string model = R"(model: last
axes: {d: 4, layers: 2}
inputs: {x: {axes: [d]}}
modules:
  m:
    inputs: [c]
    params: {w: {axes: [d], init: normal}}
    graph: [{s: {add: [c, w]}}, {h: {relu: w}}]
    outputs: [h]
graph: [{y: {repeat: m, times: 2, in: x, axis: layers, scan: true}}]
outputs: [y]
)";
    for (const std::string layout : {"mesh: {data: 2}\nrules: []\nfsdp: {axis: data, min_size: 1}\n",
                                     "mesh: {data: 2}\nrules: [{layers: data}]\n"})
        CHECK(proved(model, layout, "forward") == "");
}

} // namespace shard
