// explain --lowered: the manual program that a plan is compiles, is proved, gives the plan's numbers, and sends what
// the plan sends.
#include "planner/lower/lowered_text.h"
#include "tests/support/check_lowered.h"
#include "tests/support/prove.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>

#include "test_paths.h"

namespace shard {

namespace {

const std::string dot_relu_dot = R"(model: dot_relu_dot
axes: {batch: 8, embed: 16, hidden: 32}
inputs:
  x: {axes: [batch, embed]}
params:
  w1: {axes: [embed, hidden]}
  w2: {axes: [hidden, embed], init: {normal: {stddev: 0.5}}}
graph:
  - h: {dot: [x, w1]}
  - a: {relu: h}
  - z: {dot: [a, w2]}
outputs: [z]
train:
  targets: {label: {axes: [batch, embed]}}
  loss: {mse: [z, label]}
  optimizer: {adam: {learning_rate: 1.0e-2}}
)";
const std::string tensor_parallel = "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {hidden: model}, {embed: ~}]\n";

} // namespace

TEST_CASE("a slice along a split dim and another is lowered along the one that is split") {
    const std::string text = check_lowered("model: two\ninputs: {x: {shape: [8, 72]}}\ngraph:\n"
                                           "  - y: {slice: x, dim: [0, 1], start: [2, 1], limit: [6, 65]}\n"
                                           "outputs: [y]\n",
                                           "mesh: {d: 4}\ninputs: {x: [~, d]}\noutputs: {y: [~, d]}\n");
    CHECK(text.find("ppermute") != std::string::npos);
}

TEST_CASE("a tensor-parallel forward pass as a manual program") {
    const std::string text = check_lowered(dot_relu_dot, tensor_parallel);
    CHECK(text.find("psum") != std::string::npos);
    CHECK(text.find("in: {x: [data, ~], w1: [~, model], w2: [model, ~]}") != std::string::npos);
}

TEST_CASE("a train step as a manual program: gradients, states and updates") {
    check_lowered(dot_relu_dot, tensor_parallel, "train");
}

TEST_CASE("gathers, scatters, exchanges and blocks in a manual program") {
    check_lowered(dot_relu_dot, "mesh: {data: 4}\nrules: [{batch: data}]\nparams: {w1: [data, ~], w2: [~, data]}\n",
                  "train");
    check_lowered(dot_relu_dot,
                  "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {hidden: model}]\noutputs: {z: [model, data]}\n");
    check_lowered(dot_relu_dot,
                  "mesh: {data: 2, model: 2}\ninputs: {x: [~, data]}\noutputs: {z: [[data, model], ~]}\n");
    check_lowered("model: m\ninputs:\n  x: {shape: [8, 8], mesh: [a, ~]}\ngraph:\n  - y: {constrain: x, mesh: [b, ~]}\n"
                  "outputs: [y]\n",
                  "mesh: {a: 4, b: 4}\n");
}

TEST_CASE("lookups in a table whose rows are split, constants and counts by place") {
    check_lowered(R"(model: lookup
inputs:
  tokens: {shape: [4, 6], dtype: i32, mesh: [data, ~], init: {randint: {high: 16}}}
params:
  table: {shape: [16, 8], mesh: [model, ~], init: {normal: {stddev: 1.0}}}
graph:
  - e: {gather: [table, tokens]}
  - n: {iota: ~, shape: [4, 6, 8], dim: 0, dtype: f32}
  - y: {add: [e, n]}
  - y: {constrain: y, mesh: [data, ~, ~]}
  - s: {slice: y, dim: 1, start: 1, limit: 5}
  - p: {pad: s, dim: 2, low: 1, high: 1, value: 3}
  - t: {transpose: p, permutation: [2, 0, 1]}
  - r: {reshape: t, shape: [10, 16]}
outputs: [y, r]
)",
                  "mesh: {data: 2, model: 4}\n");
}

TEST_CASE("windows over rows that are split, and over others beside") {
    const std::string model = R"(model: windows
axes: {batch: 4, length: 16, kv: 8}
inputs:
  cache: {axes: [batch, length, kv]}
  new: {shape: [2, 3, 8]}
  row: {shape: [], dtype: i32, init: {randint: {low: 0, high: 16}}}
  b: {shape: [], dtype: i32, init: {randint: {low: 0, high: 4}}}
graph:
  - next: {dynamic_update_slice: [cache, new, b, row], dim: [batch, length]}
  - back: {dynamic_slice: [cache, b, row], dim: [batch, length], size: [1, 4]}
outputs: [next, back]
)";
    check_lowered(model, "mesh: {a: 2, b: 4}\nrules: [{length: b}]\n");
    check_lowered(model, "mesh: {a: 2, b: 4}\nrules: [{batch: a}, {length: b}]\n");
    check_lowered(model, "mesh: {a: 2, b: 4}\nrules: [{batch: b}]\n");
}

TEST_CASE("truths that one device has") {
    check_lowered(R"(model: truths
axes: {rows: 16, columns: 4}
inputs:
  x: {axes: [rows, columns]}
  at: {shape: [], dtype: i32, init: {randint: {low: 0, high: 16}}}
  which: {shape: [3], dtype: i32, init: {randint: {low: 0, high: 16}}}
graph:
  - is: {gt: [x, 0]}
  - window: {dynamic_slice: [is, at], dim: rows, size: 3}
  - is: {dynamic_update_slice: [is, window, at], dim: rows}
  - rows: {gather: [is, which], dim: 0}
  - window: {cast: window, dtype: i32}
  - rows: {cast: rows, dtype: i32}
outputs: [window, rows]
)",
                  "mesh: {a: 2, b: 4}\nrules: [{rows: b}]\n", "forward",
                  false); // a region sends truths as counts of four bytes
}

TEST_CASE("a region that was written by hand is lowered with the rest") {
    check_lowered(R"(model: region
inputs:
  x: {shape: [8, 8], mesh: [~, f]}
  w: {shape: [8, 8]}
graph:
  - y, n:
      manual:
        mesh: i
        in: {x: [i, ~], w: ~}
        out: {z: [i, ~], n: [i]}
        body:
          - h: {ppermute: x, over: i, perm: [[0, 1]]}
          - h: {dot: [h, w]}
          - s: {psum: h, over: i}
          - z: {add: [h, s]}
          - n: {axis_index: i}
          - n: {reshape: n, shape: [1]}
  - y: {tanh: y}
outputs: [y, n]
)",
                  "mesh: {i: 2, f: 2}\n");
}

// Blocks that scan blocks; `repeat` is appended to both repeats.
std::string scans(const std::string& repeat, const std::string& more = "") {
    return fmt::format(R"(model: scans
axes: {{batch: 8, embed: 8, other: 8, stages: 4, layers: 2}}
inputs: {{x: {{axes: [batch, embed]}}}}
modules:
  layer:
    inputs: [x, b]
    params: {{w: {{axes: [embed, other]}}}}
    graph:
      - y: {{dot: [x, w]}}
      - y: {{add: [y, b]}}
      - y: {{tanh: y}}
    outputs: [y]
  stage:
    inputs: [x]
    params: {{b: {{axes: [embed], init: normal}}}}
    graph:
      - y: {{repeat: layer, times: 2, in: [x, b], axis: layers{0}}}
      - y: {{add: [x, y]}}
    outputs: [y]
graph:
  - y: {{repeat: stage, times: 4, in: x, axis: stages{0}}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, embed], init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{adam: {{learning_rate: 1.0e-2}}}}
{1})",
                       repeat, more);
}

TEST_CASE("loops become modules that are scanned, in forward and train plans") {
    const std::string data = "mesh: {data: 2, model: 2}\nrules: [{batch: data}]\n";
    const std::string fsdp = data + "fsdp: {axis: data, min_size: 1}\n";
    const std::string stages = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {stages: model}]\n";
    for (const std::string& layout : {data, fsdp, stages}) {
        const std::string text = check_lowered(scans(", scan: true"), layout);
        CHECK(text.find("{repeat: stage_trip, times: 4") != std::string::npos);
        check_lowered(scans(", scan: true"), layout, "train");
        check_lowered(scans(", scan: true", "  microbatches: 2\n"), layout, "train");
    }
}

TEST_CASE("what is drawn in a loop is drawn again by its program, forward and backward") {
    std::string model = scans(", scan: true", "  microbatches: 2\n");
    const std::string tanh = "      - y: {tanh: y}\n";
    model.replace(model.find(tanh), tanh.size(), tanh + "      - y: {dropout: y, rate: 0.25}\n");
    for (const char* layout : {"mesh: {data: 1}\nrules: []\n", "mesh: {data: 2, model: 2}\nrules: [{batch: data}]\n"}) {
        const std::string drawn = check_lowered(model, layout, "train");
        CHECK(drawn.find("bernoulli") != std::string::npos);
        CHECK(drawn.find("reverse: true") != std::string::npos);
    }
}

TEST_CASE("sums into a table whose rows are split") {
    check_lowered(R"(model: embedding
axes: {batch: 8, vocab: 16, embed: 8}
inputs:
  tokens: {axes: [batch], dtype: i32, init: {randint: {high: 16}}}
params:
  table: {axes: [vocab, embed], init: {normal: {stddev: 1.0}}}
graph:
  - e: {gather: [table, tokens]}
  - e: {tanh: e}
outputs: [e]
train:
  loss: {mean: e}
  optimizer: {sgd: {learning_rate: 0.5}}
)",
                  "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {vocab: model}]\n", "train");
}

namespace {

std::string text_of_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

std::optional<Compilation> compiled(Sources& sources, const std::string& model, const std::string& layout,
                                    const std::string& mode) {
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    request.mode = mode;
    Compilation compilation = compile(sources, request);
    if (!compilation.plan) return std::nullopt;
    return compilation;
}

// By kind and trips: a scatter of two dims at once is written as two, which send as much.
std::map<std::string, i64> sent(const Plan& plan) {
    std::map<std::string, i64> bytes;
    for (const CollectiveReport& collective : plan.report.collectives)
        bytes[fmt::format("{} {}", collective.kind, collective.count)] += collective.wire_bytes_total;
    return bytes;
}

} // namespace

// Those too that are too large to run here.
TEST_CASE("every example's train step, as a manual program, sends what its plan sends") {
    const std::filesystem::path examples = std::filesystem::path(SHARDC_SOURCE_DIR) / "examples";
    std::vector<std::filesystem::path> models, layouts;
    for (const auto& file : std::filesystem::recursive_directory_iterator(examples)) {
        if (file.path().extension() != ".yaml") continue;
        const std::string text = text_of_file(file.path());
        if (text.find("\nmesh: ") != std::string::npos) layouts.push_back(file.path());
        if (text.find("\ntrain:") != std::string::npos) models.push_back(file.path());
    }
    std::sort(models.begin(), models.end());
    std::sort(layouts.begin(), layouts.end());
    int lowered_plans = 0;
    for (const std::filesystem::path& model : models)
        for (const std::filesystem::path& layout : layouts) {
            if (layout.parent_path() != model.parent_path()) continue;
            Sources sources;
            const std::string rules = text_of_file(layout);
            const std::optional<Compilation> plan = compiled(sources, text_of_file(model), rules, "train");
            if (!plan) continue; // a layout of another model in the folder
            CAPTURE(model.string());
            CAPTURE(layout.string());
            Diagnostics diagnostics;
            const std::optional<std::string> lowered = lowered_text(*plan, diagnostics);
            CHECK_MESSAGE(lowered.has_value(), text_of(sources, diagnostics));
            if (!lowered) continue;
            const size_t mesh = rules.find("\nmesh: ") + 1;
            const std::optional<Compilation> again =
                compiled(sources, *lowered, rules.substr(mesh, rules.find('\n', mesh) - mesh + 1), "forward");
            REQUIRE(again.has_value());
            CHECK(sent(*again->plan) == sent(*plan->plan));
            ++lowered_plans;
        }
    CHECK(lowered_plans >= 18);
}

TEST_CASE("what a block computes again is constrained again") {
    const std::string text = check_lowered(R"(model: again
axes: {layers: 2}
inputs: {x: {shape: [8, 8]}}
modules:
  cell:
    inputs: [a]
    remat: full
    params: {w: {shape: [8, 8], mesh: [~, j]}}
    graph:
      - w: {all_gather: w, over: j, dim: 1, tiled: true}
      - o: {dot: [a, w]}
      - o: {sin: o}
    outputs: [o]
graph:
  - z:
      manual:
        in: {x: [i, ~]}
        out: {a: [i, ~]}
        body: [{a: {repeat: cell, times: 2, in: x, scan: true, axis: layers}}]
outputs: [z]
train: {loss: {mean: z}, optimizer: {sgd: {learning_rate: 0.1}}}
)",
                                           "mesh: {i: 2, j: 2}\nfsdp: {axis: i, min_size: 1}\n", "train");
    CHECK(text.find("{constrain:") == std::string::npos);
}

TEST_CASE("moves from block to block, backwards, with gaps and beside moves along other dims") {
    const std::string head = "model: m\naxes: {n: 16}\ninputs: {x: {axes: [n, ~], shape: [16, 6]}}\ngraph:\n";
    const std::string mesh = "mesh: {d: 4}\nrules: [{n: d}]\nhardware: uniform\n";
    for (const std::string graph : {
             "  - y: {pad: x, low: [1, 2], high: [-1, 0], value: 3}\n",
             "  - y: {slice: x, start: [2, 5], limit: [10, 6]}\n",
             "  - y: {slice: x, start: [1, 0], limit: [16, 6], stride: [2, 3]}\n",
             "  - y: {rev: x}\n",
             "  - y: {pad: x, low: [0, 0], high: [1, 1], interior: [1, 1]}\n",
             "  - z: {neg: x}\n  - y: {concatenate: [x, z], dim: 0}\n",
             "  - z: {gt: [x, 0]}\n  - y: {rev: z, dim: 0}\n  - y: {cast: y, dtype: f32}\n",
         }) {
        const std::string text = check_lowered(head + graph + "outputs: [y]\n", mesh);
        CHECK(text.find("all_gather") == std::string::npos);
    }
}

} // namespace shard
