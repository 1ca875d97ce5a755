#include "planner/graph/optimizer.h"
#include "tests/support/reading.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace shard;

namespace {

std::string with_train(const std::string& train) {
    return "model: m\naxes: {batch: 8}\ninputs: {x: {axes: [batch]}}\ntrain: " + train + "\ngraph: []\noutputs: [x]\n";
}

std::string with_more(const std::string& more) {
    return with_train("{loss: {mse: [x, x]}, optimizer: {adam: {learning_rate: 0.1}}, " + more + "}");
}

} // namespace

TEST_CASE("a train block and its places") {
    const Model model = model_of(with_train("{targets: {label: {axes: [batch], dtype: i32}}, loss: {mse: [x, label]},\n"
                                            "  metrics: {a: {mean: x}, b: {accuracy: [x, label]}},\n"
                                            "  optimizer: {adamw: {learning_rate: 0.1, weight_decay: 0.01}},\n"
                                            "  clip: {global_norm: 1.5}, microbatches: 4, reduce: each}"));
    CHECK(!model.train->states_on_host);
    CHECK(!model.train->microbatch_sums);
    const Model other = model_of(with_train("{loss: {mse: [x, x]}, optimizer: {adam: {learning_rate: 0.1, offload: "
                                            "true}}, microbatches: {count: 4, dtype: f32}}"));
    REQUIRE(other.train.has_value());
    CHECK(other.train->states_on_host);
    CHECK(other.train->optimizer.arguments.size() == 1);
    CHECK(other.train->microbatch_sums == DType::f32);
    REQUIRE(model.train.has_value());
    const TrainDecl& train = *model.train;
    REQUIRE(train.targets.size() == 1);
    CHECK(train.targets[0].array.dtype == DType::i32);
    CHECK(train.targets[0].array.shape == Shape{8});
    CHECK(train.loss.op.text == "mse");
    CHECK(train.loss.results[0].text == "loss");
    CHECK(train.loss.operands[1].text == "label");
    REQUIRE(train.metrics.size() == 2);
    CHECK(train.metrics[1].results[0].text == "b");
    CHECK(train.metrics[1].op.text == "accuracy");
    CHECK(train.optimizer.op.text == "adamw");
    REQUIRE(train.optimizer.arguments.size() == 2);
    CHECK(train.optimizer.arguments[1].key == "weight_decay");
    CHECK(*train.clip_by_global_norm == 1.5);
    CHECK(train.microbatches == 4);
    CHECK(train.microbatches_span == Span{0, 7, 43, 1});
    CHECK(train.reduce == GradientReduce::each);
    CHECK(!model_of("model: m\ngraph: []\noutputs: [x]\n").train.has_value());
}

TEST_CASE("what a train block must have, and what it may not") {
    CHECK(model_problems(with_train("{metrics: {}}")) ==
          "E0116 4:8+1 train has no 'loss'\nE0116 4:8+1 train has no 'optimizer'\n");
    CHECK(model_problems(with_more("optimiser: {}")) ==
          "E0114 4:71+9 unknown key 'optimiser' in train\n  help did you mean 'optimizer'?\n");
    CHECK(model_problems(with_train("[]")) == "E0113 4:8+1 train: expected a map, found a list\n");
    CHECK(model_problems(with_train("{loss: [x], optimizer: {adam: {learning_rate: 0.1}}}")) ==
          "E0212 4:15+1 'loss': expected an op with its operands, found a list\n"
          "  help write `- name: {op: [operands], argument: value}`\n");
    CHECK(model_problems(with_train("{loss: 3, optimizer: {adam: {learning_rate: 0.1}}}")).starts_with("E0113 4:15+1"));
    CHECK(model_problems(with_train("{loss: {msee: [x, x]}, optimizer: {adam: ~}}")) ==
          "E0203 4:16+4 unknown op 'msee'\n  help did you mean 'mse'?\n");
}

TEST_CASE("an optimizer is one of those that there are, with its arguments") {
    const auto optimizer = [](const std::string& text) {
        return model_problems(with_train("{loss: {mse: [x, x]}, optimizer: " + text + "}"));
    };
    const std::string help = "  help write optimizer: {adam: {learning_rate: 1.0e-3}}\n";
    CHECK(optimizer("{adamm: {learning_rate: 1}}") ==
          "E0217 4:42+5 unknown optimizer 'adamm'\n  help did you mean 'adam'?\n");
    std::vector<std::string_view> names;
    for (const OptimizerDef* def : all_optimizers()) names.push_back(def->composite.name);
    CHECK(optimizer("{steepest: ~}") ==
          fmt::format("E0217 4:42+8 unknown optimizer 'steepest'\n  help there are {}\n", fmt::join(names, ", ")));
    CHECK(optimizer("adam") ==
          "E0113 4:41+4 optimizer: expected one optimizer with its arguments, found a string\n" + help);
    CHECK(optimizer("{adam: ~, sgd: ~}") ==
          "E0113 4:41+1 optimizer: expected one optimizer with its arguments, found 2 keys\n" + help);
    CHECK(optimizer("{adam: 0.1}") == "E0113 4:48+3 the arguments of 'adam': expected a map, found a number\n" + help);
}

TEST_CASE("clip, microbatches, reduce, metrics and targets are checked") {
    CHECK(model_problems(with_more("clip: {global_norm: -1}")) ==
          "E0218 4:91+2 clip.global_norm: must be positive, it is -1\n");
    CHECK(model_problems(with_more("clip: {global_norm: 0}")) == // every gradient would be 0
          "E0218 4:91+1 clip.global_norm: must be positive, it is 0\n");
    CHECK(model_problems(with_more("clip: {}")) ==
          "E0116 4:71+4 clip has no 'global_norm'\n  help write clip: {global_norm: 1.0}\n");
    CHECK(model_problems(with_more("microbatches: 0")) ==
          "E0206 4:85+1 microbatches: the size must be at least 1\n  note it is 0\n");
    CHECK(model_problems(with_more("microbatches: {count: 4, dtype: float32}")) ==
          "E0210 4:103+7 unknown dtype 'float32'\n  help did you mean 'f32'?\n");
    CHECK(model_problems(with_more("microbatches: {count: 4, dtype: i32}")) ==
          "E0220 4:103+3 gradients cannot be added up as i32\n  help `dtype` is a floating-point type of 16 bits or "
          "more: f32\n");
    CHECK(model_problems(with_more("reduce: once")) ==
          "E0118 4:79+4 reduce: unknown choice 'once'\n  help choices: each, end\n");
    CHECK(model_problems(with_more("metrics: {loss: {mean: x}}")) ==
          "E0214 4:81+4 a metric is called 'loss', as the loss is\n");
    CHECK(model_problems(with_more("metrics: [a]")) ==
          "E0113 4:80+1 metrics: expected a map, found a list\n"
          "  help write metrics: {accuracy: {accuracy: [logits, label]}}\n");
    CHECK(model_problems(with_more("targets: {x: {axes: [batch]}}")) ==
          "E0214 4:81+1 'x' is declared twice\n  label 3:10+1 first declared here\n");
}

TEST_CASE("value_and_grad names a module, its operands and what it is differentiated by") {
    const auto entry = [](const std::string& text) {
        return model_problems("model: m\nmodules: {f: {inputs: [x], graph: [], outputs: [x]}}\ngraph: [" + text +
                              "]\noutputs: [l]\n");
    };
    CHECK(entry("{l: {value_and_grad: f, in: x}}") ==
          "E0116 3:14+14 a value_and_grad needs 'wrt'\n"
          "  help write `- loss, g: {value_and_grad: module, in: [x, w], wrt: [w]}`\n");
    CHECK(entry("{l: {value_and_grad: ff, in: x, wrt: x}}") == "E0203 3:30+2 unknown module 'ff'\n  help modules: f\n");
}
