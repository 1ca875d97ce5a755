// FSDP (ZeRO 3) and sharded states and gradients (ZeRO 1 and 2): who holds what, what is sent, and that training is the
// same.
#include "tests/support/prove.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

// The classifier of the guide's FSDP section: 784 -> 512 -> 10, Adam.
std::string classifier(const std::string& batch = "16",
                       const std::string& sizes = "in: 784, hidden: 512, classes: 10") {
    return fmt::format(R"(model: classifier
axes: {{batch: {}, {}}}
inputs: {{x: {{axes: [batch, in], init: normal}}}}
params:
  input_kernel: {{axes: [in, hidden], init: lecun_normal}}
  input_bias: {{axes: [hidden], init: zeros}}
  output_kernel: {{axes: [hidden, classes], init: lecun_normal}}
  output_bias: {{axes: [classes], init: zeros}}
graph:
  - h: {{dot: [x, input_kernel]}}
  - h: {{add: [h, input_bias]}}
  - a: {{silu: h}}
  - y: {{dot: [a, output_kernel]}}
  - y: {{add: [y, output_bias]}}
outputs: [y]
train:
  targets: {{label: {{axes: [batch], dtype: i32, init: zeros}}}}
  loss: {{softmax_cross_entropy: [y, label]}}
  optimizer: {{adam: {{learning_rate: 0.0078125}}}}
)",
                       batch, sizes);
}

const std::string dp = "mesh: {data: 8}\nrules: [{batch: data}, {in: ~}, {hidden: ~}, {classes: ~}]\n";
const std::string fsdp = dp + "fsdp: {axis: data, min_size: 16}\n";
const std::string zero1 = dp + "states: {\"*_kernel.*\": [data, ~], \"input_bias.*\": [data]}\n";
const std::string zero2 = zero1 + "gradients: {\"*_kernel\": [data, ~], \"input_bias\": [data]}\n";

std::string sharding(const Plan& plan, const std::string& name) {
    for (const TensorReport& tensor : plan.report.tensors)
        if (tensor.name == name) return text(plan.mesh, tensor.sharding);
    return "no " + name;
}

std::string proved(const std::string& model, const std::string& layout, int steps) {
    ProofOptions options;
    options.mode = "train";
    options.steps = steps;
    return fmt::format("{}", fmt::join(prove(model, layout, options), "\n"));
}

// The kinds of collectives for a parameter, its gradient and its new value, in the order of the plan.
std::string kinds_for(const Plan& plan, const std::string& parameter) {
    std::string kinds;
    for (const CollectiveReport& collective : plan.report.collectives)
        if (collective.tensor.starts_with(parameter))
            kinds += fmt::format("{} {}\n", collective.kind, collective.tensor.substr(parameter.size()));
    return kinds;
}

} // namespace

// As the guide's page (JAX, manual parallelism) prints them: input kernel ('data', None), input bias ('data',), output
// kernel ('data', None), output bias () because 10 < 16; mu and nu follow.
TEST_CASE("fsdp shards the guide's classifier as its page prints it") {
    const Plan plan = train_plan(classifier(), fsdp);
    for (const std::string suffix : {"", ".mu", ".nu", ".grad"}) {
        CAPTURE(suffix);
        CHECK(sharding(plan, "input_kernel" + suffix) == "[data | -]");
        CHECK(sharding(plan, "input_bias" + suffix) == "[data]");
        CHECK(sharding(plan, "output_kernel" + suffix) == "[data | -]");
        CHECK(sharding(plan, "output_bias" + suffix) == "[-]");
    }
    CHECK(sharding(plan, "count") == "[]");
    CHECK(sharding(plan, "h") == "[data | -]"); // weights are gathered, activations stay split by batch
}

TEST_CASE(
    "under fsdp a parameter is gathered in the forward pass and again in the backward pass, its gradient scattered") {
    const Plan plan = train_plan(classifier(), fsdp);
    CHECK(kinds_for(plan, "output_kernel") == "all_gather \nall_gather \nreduce_scatter .grad\n");
    // Nothing in the backward pass reads the first kernel, since the input needs no gradient, nor a bias.
    CHECK(kinds_for(plan, "input_kernel") == "all_gather \nreduce_scatter .grad\n");
    CHECK(kinds_for(plan, "input_bias") == "all_gather \nreduce_scatter .grad\n");
    CHECK(kinds_for(plan, "output_bias") == "all_reduce .grad\n"); // too small to split
    // (n-1)/n of 784 x 512 f32 on 8 devices.
    for (const CollectiveReport& collective : plan.report.collectives) {
        if (!collective.tensor.starts_with("input_kernel")) continue;
        CHECK(collective.wire_bytes_per_device == 784 * 512 * 4 / 8 * 7);
        if (collective.kind != "all_gather") continue;
        CHECK(collective.cause == "fsdp splits it over data, and the forward pass reads it whole");
        CHECK(collective.source.file == "layout.yaml");
        CHECK(collective.source.line == 3);
    }
}

TEST_CASE("ZeRO 1 scatters gradients and gathers new parameters, in the bytes of an all_reduce") {
    const Plan plan = train_plan(classifier(), zero1);
    CHECK(sharding(plan, "input_kernel") == "[- | -]");
    CHECK(sharding(plan, "input_kernel.mu") == "[data | -]");
    CHECK(sharding(plan, "input_kernel.grad") == "[data | -]"); // as the states that read it
    std::map<std::string, int> kinds;
    for (const CollectiveReport& collective : plan.report.collectives) ++kinds[collective.kind];
    CHECK(kinds == std::map<std::string, int>{{"all_gather", 3}, {"all_reduce", 2}, {"reduce_scatter", 3}});
    const auto sent = [](const Plan& of) {
        i64 bytes = 0;
        for (const CollectiveReport& collective : of.report.collectives) bytes += collective.wire_bytes_total;
        return bytes;
    };
    CHECK(sent(plan) == sent(train_plan(classifier(), dp)));
}

TEST_CASE("ZeRO 2 keeps gradients in shards") {
    const Plan plan = train_plan(classifier(), zero2);
    CHECK(sharding(plan, "input_kernel") == "[- | -]");
    CHECK(sharding(plan, "input_kernel.grad") == "[data | -]");
    CHECK(kinds_for(plan, "input_kernel") == "reduce_scatter .grad\nall_gather .new\n");
    CHECK(kinds_for(plan, "output_bias") == "all_reduce .grad\n");
}

TEST_CASE("every ZeRO stage trains like plain data parallelism, and is proved") {
    const std::string model = classifier("16", "in: 24, hidden: 16, classes: 10");
    const auto losses = [&](const std::string& layout) {
        return series(run_steps(train_plan(model, layout), 5), "loss");
    };
    const Numbers plain = losses(dp);
    CHECK(plain[4] < plain[0]);
    for (const std::string& layout : {zero1, zero2, fsdp}) {
        CAPTURE(layout);
        const Numbers sharded = losses(layout);
        for (size_t s = 0; s < plain.size(); ++s) CHECK(sharded[s] == doctest::Approx(plain[s]).epsilon(1e-6));
        CHECK(proved(model, layout, 3) == "");
    }
    const std::string clipped = model + "  clip: {global_norm: 0.125}\n";
    for (const std::string& layout : {zero1, zero2, fsdp}) CHECK(proved(clipped, layout, 3) == "");
}

TEST_CASE("fsdp goes beside rules that use other axes, and takes the largest free dim, of equal ones the last") {
    const std::string model = classifier("16", "in: 512, hidden: 512, classes: 24");
    const std::string layout = "mesh: {data: 4, model: 2}\nrules: [{batch: data}, {hidden: model}]\n"
                               "fsdp: {axis: data, min_size: 24}\n";
    const Plan plan = train_plan(model, layout);
    CHECK(sharding(plan, "input_kernel") == "[data | model]");
    CHECK(sharding(plan, "input_bias") == "[model]"); // its only dim is taken
    CHECK(sharding(plan, "output_kernel") == "[model | data]");
    CHECK(sharding(plan, "output_bias") == "[data]");
    CHECK(sharding(plan, "input_kernel.gathered") == "[- | model]");
    CHECK(sharding(plan, "output_kernel.mu") == "[model | data]");
    CHECK(
        proved(classifier("8", "in: 12, hidden: 16, classes: 4"),
               "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {hidden: model}]\nfsdp: {axis: data, min_size: 4}\n",
               3) == "");
    const Plan square =
        train_plan(model, "mesh: {data: 4}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 24}\n");
    CHECK(sharding(square, "input_kernel") == "[- | data]");
    // A dim that does not divide is passed over; so is a parameter that uses the axis, and one with an override.
    const Plan odd = train_plan(classifier("16", "in: 784, hidden: 30, classes: 8"),
                                "mesh: {data: 4}\nrules: [{batch: data}, {classes: data}]\n"
                                "params: {input_kernel: [~, ~]}\nfsdp: {axis: data, min_size: 1}\n");
    CHECK(sharding(odd, "input_kernel") == "[- | -]");
    CHECK(sharding(odd, "input_bias") == "[-]");
    CHECK(sharding(odd, "output_kernel") == "[- | data]");
}

TEST_CASE("fsdp also serves the forward pass alone") {
    ProofOptions options;
    const std::string model = classifier("16", "in: 24, hidden: 16, classes: 10");
    CHECK(prove(model, fsdp, options) == std::vector<std::string>{});
}

TEST_CASE("under fsdp only parameters in use are whole") {
    std::string model =
        "model: deep\naxes: {batch: 8, width: 64, to: 64}\ninputs: {x: {axes: [batch, width]}}\nparams:\n";
    std::string graph = "graph:\n";
    for (int layer = 0; layer < 8; ++layer) {
        model += fmt::format("  w{}: {{axes: [width, to], init: lecun_normal}}\n", layer);
        graph += fmt::format("  - h{}: {{dot: [{}, w{}]}}\n  - h{}: {{tanh: h{}}}\n", layer,
                             layer == 0 ? "x" : fmt::format("h{}", layer - 1), layer, layer, layer);
    }
    model += graph + "outputs: [h7]\ntrain:\n  targets: {t: {axes: [batch, width]}}\n  loss: {mse: [h7, t]}\n"
                     "  optimizer: {adam: {learning_rate: 1.0e-3}}\n";
    const i64 weight = 64 * 64 * 4;
    const auto planned = [&model](std::string_view more) {
        return train_plan(model, fmt::format("mesh: {{data: 8}}\nrules: [{{batch: data}}]\n"
                                             "fsdp: {{axis: data, min_size: 1{}}}\n",
                                             more));
    };
    const Plan plan = planned(", prefetch: false");
    CHECK(plan.report.memory.params == weight);
    CHECK(plan.report.memory.optimizer_state == 2 * weight + 4);
    // The shards, one gathered parameter, its gradient before it is scattered and the one that is being scattered.
    CHECK(plan.peak_bytes < (1 + 2 + 3) * weight + weight / 2);
    // Two more that are on their way while that one is used.
    const Plan ahead = planned("");
    CHECK(ahead.peak_bytes < (1 + 2 + 5) * weight + weight / 2);
    CHECK(ahead.report.time.communication_seconds == plan.report.time.communication_seconds);
    CHECK(ahead.report.time.exposed_communication_seconds < plan.report.time.exposed_communication_seconds);
    const auto gathers_of = [](const Plan& of) {
        return std::count_if(of.report.collectives.begin(), of.report.collectives.end(),
                             [](const CollectiveReport& collective) { return collective.kind == "all_gather"; });
    };
    // Gathered once, each is whole from its first reader to its last.
    const Plan once = planned(", gather_again: false");
    CHECK(once.peak_bytes > 8 * weight);
    CHECK(gathers_of(once) == 8);
    CHECK(gathers_of(plan) == 15); // the last one's is used for both passes
}

TEST_CASE("what is made of a gathered parameter alone is made again from the second gather") {
    const std::string model = R"(model: tied
axes: {batch: 8, vocab: 32, embed: 16}
inputs: {x: {axes: [batch, embed], init: normal}}
params:
  table: {axes: [vocab, embed], init: normal}
graph:
  - t: {transpose: table, permutation: [1, 0]}
  - y: {dot: [x, t]}
  - h: {tanh: y}
  - z: {dot: [h, table]}
outputs: [z]
train:
  targets: {t2: {axes: [batch, embed]}}
  loss: {mse: [z, t2]}
  optimizer: {sgd: {learning_rate: 0.125}}
)";
    const std::string layout = "mesh: {data: 8}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 1}\n";
    const Plan plan = train_plan(model, layout);
    CHECK(sharding(plan, "table") == "[data | -]");
    CHECK(proved(model, layout, 2) == "");
}

TEST_CASE("parameters that are gathered once train as on one device: in microbatches, cast, over two axes") {
    const std::string once = "mesh: {node: 2, data: 4}\nrules: [{batch: [node, data]}]\n"
                             "fsdp: {axis: [node, data], min_size: 16, gather_again: false}\n";
    const std::string model = classifier("16", "in: 24, hidden: 16, classes: 10");
    const auto with = [&model](const std::string& train, const std::string& precision) {
        return precision + model + train;
    };
    const std::string microbatches = "  microbatches: 2\n", bf16 = "precision: {compute: bf16}\n";
    for (const std::string& written : {model, with(microbatches, ""), with("", bf16), with(microbatches, bf16)}) {
        CAPTURE(written);
        CHECK(proved(written, once, 2) == "");
        std::map<std::string, i64> kinds;
        for (const CollectiveReport& collective : train_plan(written, once).report.collectives)
            kinds[collective.kind] += collective.count;
        CHECK(kinds["all_gather"] == 3); // two kernels and a bias, once a step
    }
    CHECK(sharding(train_plan(model, once), "input_kernel") == "[node,data | -]");
    // Bytes are all that counts on `uniform`, so it is once that is chosen; a plan that says so is the same.
    std::string faster = once;
    faster.replace(faster.find("again: false"), 12, "again: auto");
    CHECK(train_plan(model, faster).report == train_plan(model, once).report);
    CHECK(proved(model, faster, 2) == "");
    // What is gathered again where rules leave one of the axes.
    const std::string beside = "mesh: {node: 2, data: 4}\nrules: [{batch: data}, {hidden: node}]\n"
                               "fsdp: {axis: [node, data], min_size: 16}\n";
    CHECK(sharding(train_plan(model, beside), "input_kernel") == "[data | node]");
    CHECK(proved(model, beside, 2) == "");
}

TEST_CASE("states and gradients that are named in no parameter's words are reported") {
    Sources sources;
    PlanRequest request;
    request.mode = "train";
    request.model_file = sources.add("model.yaml", classifier());
    request.layout_file =
        sources.add("layout.yaml", dp + "states: {input_kernel.mo: [data, ~]}\ngradients: {w: [data]}\n");
    const Compilation compilation = compile(sources, request);
    const std::string text = text_of(sources, compilation.diagnostics);
    CHECK(text.find("matches none of the states") != std::string::npos);
    CHECK(text.find("did you mean 'input_kernel.mu'?") != std::string::npos);
    CHECK(text.find("matches none of the gradients") != std::string::npos);
}

// 124,439,808 parameters. fsdp splits all matrices: embeddings by embed (50257 is odd) and by context, weights of a
// layer by their largest dim. What is left whole: 12 layers of 10 vectors, 4 * 768 + 3 * 768 + 768 + 3072 + 768
// numbers, and the last norm.
TEST_CASE("a train step of GPT-2 124M is planned under fsdp on 8 devices") {
    std::string model = example("gpt2/model.yaml");
    model.resize(model.find("\ntrain:") + 1);
    model.replace(model.find("batch: 2,"), 9, "batch: 8,");
    model += "train:\n  targets: {label: {axes: [batch, length], dtype: i32}}\n"
             "  loss: {softmax_cross_entropy: [logits, label]}\n  optimizer: {adamw: {learning_rate: 1.0e-3}}\n";
    const std::string batch = "mesh: {data: 8}\nrules: [{batch: data}]\n";
    const Plan plan = train_plan(model, batch + "fsdp: {axis: data}\n"), whole_plan = train_plan(model, batch);
    const i64 all = 124439808, whole = 12 * (9 * 768 + 3072) + 2 * 768;
    const i64 stored = 4 * ((all - whole) / 8 + whole);
    CHECK(whole_plan.report.memory.params == 4 * all);
    CHECK(plan.report.memory.params == stored);
    CHECK(plan.report.memory.optimizer_state == 2 * stored + 4);
    CHECK(sharding(plan, "wte") == "[- | data]");
    CHECK(sharding(plan, "wpe") == "[data | -]");
    CHECK(sharding(plan, "block.11.w_up") == "[- | data]");
    CHECK(sharding(plan, "block.11.w_up.grad") == "[- | data]");
    CHECK(sharding(plan, "block.11.wo") == "[- | - | data]");
    // The tied table has two gradients that are added up before they are scattered: nothing else is as large. Besides
    // them one layer's weights, or the activations.
    const i64 table = 50257 * 768 * 4;
    const Plan late = train_plan(model, batch + "fsdp: {axis: data, prefetch: false}\n");
    CHECK(late.peak_bytes < 3 * stored + 2 * table + (i64{16} << 20));
    CHECK(plan.peak_bytes < late.peak_bytes + table); // which may be on its way
    CHECK(whole_plan.peak_bytes > 12 * all);
    std::map<std::string, i64> kinds;
    for (const CollectiveReport& collective : plan.report.collectives)
        if (collective.tensor.starts_with("block.7.w")) ++kinds[collective.kind];
    CHECK(kinds == std::map<std::string, i64>{{"all_gather", 12}, {"reduce_scatter", 6}});
}

// Also where the batch is not split over the axis: then every device of it computes the same.
TEST_CASE("the axis of fsdp stays out of activations and their gradients") {
    const std::string rules = "rules: [{batch: data}]\n";
    const std::string model = classifier("8", "in: 24, hidden: 16, classes: 10");
    const std::string layout = "mesh: {data: 2, fsdp: 4}\n" + rules + "fsdp: {axis: fsdp, min_size: 16}\n";
    const Plan plan = train_plan(model, layout), other = train_plan(model, "mesh: {data: 2, fsdp: 4}\n" + rules);
    CHECK(sharding(plan, "input_kernel") == "[fsdp | -]");
    for (const TensorReport& tensor : other.report.tensors) {
        CAPTURE(tensor.name);
        if (tensor.role == Role::value && tensor.name.find("adam") == std::string::npos &&
            tensor.name.find(".new") == std::string::npos)
            CHECK(sharding(plan, tensor.name) == text(other.mesh, tensor.sharding));
    }
    CHECK(kinds_for(plan, "input_kernel") == "all_gather \nall_reduce .grad\n"); // over data; then each takes its part
    CHECK(proved(model, layout, 3) == "");
}

TEST_CASE("a GPT under fsdp, and with tensor parallelism beside it, trains as on one device") {
    std::string model = example("gpt2/model.yaml");
    model.resize(model.find("\ntrain:") + 1);
    const auto replace = [&](const std::string& from, const std::string& to) {
        for (size_t at = model.find(from); at != std::string::npos; at = model.find(from))
            model.replace(at, from.size(), to);
    };
    replace("batch: 2, length: 64, embed: 768, heads: 12, kv: 64", "batch: 8, length: 8, embed: 32, heads: 4, kv: 8");
    replace("vocab: 50257, context: 1024", "vocab: 66, context: 16");
    replace("50257", "66");
    replace("limit: 64", "limit: 8");
    replace("times: 12", "times: 2");
    model += "train:\n  targets: {label: {axes: [batch, length], dtype: i32, init: {randint: {low: 0, high: 66}}}}\n"
             "  loss: {softmax_cross_entropy: [logits, label]}\n  optimizer: {sgd: {learning_rate: 0.125}}\n";
    ProofOptions options;
    options.mode = "train";
    options.steps = 3;
    options.interpreter = false;
    for (const std::string layout :
         {"mesh: {data: 8}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 32}\n",
          "mesh: {fsdp: 2, model: 4}\nrules: [{batch: fsdp}, {heads: model}, {mlp: model}]\n"
          "fsdp: {axis: fsdp, min_size: 32}\n",
          "mesh: {data: 2, fsdp: 2, model: 2}\nrules: [{batch: [data, fsdp]}, {heads: model}, {vocab: model}]\n"
          "fsdp: {axis: fsdp, min_size: 32}\n",
          "mesh: {data: 2, fsdp: 4}\nrules: [{batch: data}]\nfsdp: {axis: fsdp, min_size: 32}\n"}) {
        CAPTURE(layout);
        CHECK(fmt::format("{}", fmt::join(prove(model, layout, options), "\n")) == "");
    }
}

// Clipping is pointwise but for the norm, which is a number.
TEST_CASE("gradients are clipped where their shards are") {
    const auto model = [](const std::string& clip) {
        return R"(model: clipped
axes: {batch: 8, embed: 64, hidden: 64}
inputs: {x: {axes: [batch, embed]}}
params: {w1: {axes: [embed, hidden]}}
graph: [{y: {dot: [x, w1]}}]
outputs: [y]
train:
  loss: {mean: y}
  optimizer: {sgd: {learning_rate: 0.1}}
)" + clip;
    };
    const std::string layout = "mesh: {data: 8}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 512}\n";
    const auto collectives = [&](const std::string& text) {
        std::vector<std::string> large;
        const Plan plan = train_plan(text, layout);
        for (const CollectiveReport& each : plan.report.collectives)
            if (each.wire_bytes_per_device > 64) large.push_back(std::string(each.kind) + " " + each.tensor);
        return large.size();
    };
    CHECK(collectives(model("  clip: {global_norm: 1.0}\n")) == collectives(model("")));
    ProofOptions options;
    options.mode = "train";
    CHECK(prove(model("  clip: {global_norm: 0.01}\n"), layout, options) == std::vector<std::string>{});
}

} // namespace shard
