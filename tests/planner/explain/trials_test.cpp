#include "planner/explain/trials.h"

#include "planner/pipeline/passes.h"
#include "planner/pipeline/pipeline.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

constexpr const char* model = R"(model: m
axes: {batch: 64, embed: 256, hidden: 512}
inputs: {x: {axes: [batch, embed]}}
params: {w1: {axes: [embed, hidden]}, w2: {axes: [hidden, embed]}}
graph:
  - h: {dot: [x, w1]}
  - h: {constrain: h, axes: [batch, hidden]}
  - a: {relu: h}
  - y: {dot: [a, w2]}
  - squares: {mul: [y, y]}
outputs: [y]
train: {loss: {mean: squares}, optimizer: {adam: {learning_rate: 0.01}}}
)";

struct Tried {
    Sources sources;
    PlanRequest request;
    Compilation as_it_is;
    std::vector<Change> changes;
    std::vector<std::optional<Report>> reports;

    explicit Tried(const std::string& layout, const std::string& text = model, const std::string& mode = "train") {
        request.mode = mode;
        request.model_file = sources.add("model.yaml", text);
        request.layout_file = sources.add("layout.yaml", layout);
        as_it_is = compile(sources, request);
        REQUIRE(as_it_is.plan);
        changes = possible_changes(as_it_is, sources);
        Trials trials(as_it_is, sources, request);
        reports = trials.run(changes);
        CHECK(trials.run(changes) == reports); // they are known now
        REQUIRE(reports.size() == changes.size());
    }

    // Without anything that the trials share.
    Compilation planned(const Change& change) const {
        Sources same = sources;
        PlanRequest other = request;
        other.without_constraints = change.without_constraints;
        const std::span<const PassDef> before = passes_before("seed", other);
        Compilation begun;
        run_passes(begun, before, other, same);
        begun.layout = change.layout;
        std::vector<Compilation> ways = ways_of(std::move(begun));
        for (Compilation& way : ways) run_passes(way, other.passes.subspan(before.size()), other, same);
        return best_of(std::move(ways));
    }
};

std::string figures(const Report& report) {
    std::string out =
        fmt::format("{} s, {} B, {} FLOP", report.time.step_seconds, report.memory.peak, report.flops_per_device);
    for (const CollectiveReport& each : report.collectives)
        out += fmt::format("; {} of {}: {} x {} B", each.kind, each.tensor, each.count, each.wire_bytes_per_device);
    return out;
}

} // namespace

TEST_CASE("a change that is tried costs what the plan with it costs, and one that alters nothing has no report") {
    constexpr const char* layouts[] = {
        "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {hidden: model}, {embed: ~}]\nhardware: h100\n",
        "mesh: {data: 4, model: 2}\nrules: [{batch: data}, {hidden: model}, {embed: data}]\nfsdp: {axis: data}\n",
        "mesh: {data: 8}\nrules: [{batch: data}]\nfsdp: {axis: data, gather_again: auto}\nhardware: tpu-v5e\n",
        "mesh: {data: 8, odd: 3}\nrules: [{batch: data}]\nparams: {w1: [data, ~], w2: [~, ~]}\n"};
    size_t altered = 0, not_altered = 0, not_fitting = 0;
    for (const char* layout : layouts) {
        const Tried tried(layout);
        for (size_t i = 0; i < tried.changes.size(); ++i) {
            INFO(layout << "\n" << tried.changes[i].text);
            const Compilation changed = tried.planned(tried.changes[i]);
            if (tried.reports[i]) {
                ++altered;
                REQUIRE(changed.plan);
                CHECK(figures(*tried.reports[i]) == figures(changed.plan->report));
            } else if (changed.plan) {
                ++not_altered;
                CHECK(figures(changed.plan->report) == figures(tried.as_it_is.plan->report));
            } else {
                ++not_fitting;
            }
        }
    }
    CHECK(altered > 10);
    CHECK(not_altered > 0);
    CHECK(not_fitting > 0);
}

TEST_CASE("what a constraint that is tried away costs is what the model without its line costs") {
    constexpr const char* text = R"(model: m
axes: {batch: 32, embed: 64, mlp: 128}
inputs: {x: {axes: [batch, embed]}}
modules:
  block:
    inputs: [x]
    remat: dots
    params: {up: {axes: [embed, mlp]}, down: {axes: [mlp, embed]}}
    graph:
      - h: {dot: [x, up]}
      - h: {constrain: h, axes: [batch, ~]}
      - h: {gelu: h}
      - y: {dot: [h, down]}
      - y: {constrain: y, axes: [~, embed]}
    outputs: [y]
graph:
  - x: {repeat: block, times: 4, in: x}
outputs: [x]
train: {targets: {t: {axes: [batch, embed]}}, loss: {mse: [x, t]}, optimizer: {adam: {learning_rate: 0.01}}}
)";
    constexpr const char* layouts[] = {
        "mesh: {a: 4}\nrules: [{mlp: a}, {embed: a}]\nfsdp: {axis: a, min_size: 1}\nhardware: h100\n",
        "mesh: {a: 2, b: 4}\nrules: [{batch: b}, {mlp: a}]\nvalues: {\"block.*.h#2\": [a, b]}\nhardware: h100\n",
        "mesh: {a: 4}\nrules: [{batch: a}, {mlp: a}]\nhardware: tpu-v5e\n"};
    for (const char* layout : layouts)
        for (const char* mode : {"forward", "train"}) {
            CAPTURE(layout);
            CAPTURE(mode);
            const Tried tried(layout, text, mode);
            size_t constraints = 0;
            for (size_t i = 0; i < tried.changes.size(); ++i) {
                const Change& change = tried.changes[i];
                if (change.without_constraints.empty()) continue;
                ++constraints;
                CAPTURE(change.text);
                std::string edited = text;
                size_t begin = 0;
                for (int line = 1; line < change.place.line; ++line) begin = edited.find('\n', begin) + 1;
                edited.erase(begin, edited.find('\n', begin) + 1 - begin);
                const Tried made(layout, edited, mode);
                const Report& found = tried.reports[i] ? *tried.reports[i] : tried.as_it_is.plan->report;
                CHECK(figures(found) == figures(made.as_it_is.plan->report));
            }
            CHECK(constraints == 2);
        }
}

} // namespace shard
