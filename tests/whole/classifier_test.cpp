// The notebook's classifier: bf16, dropout, four microbatches; data-parallel and under FSDP.
#include "tests/support/steps.h"

#include <doctest/doctest.h>

#include <cmath>

namespace shard {
namespace {

const std::string model = "dp_classifier/model.yaml";
const std::string dp = "dp_classifier/layout.yaml", fsdp = "fsdp_classifier/layout.yaml",
                  one = "dp_classifier/one_device.yaml";

Plan plan_of(const std::string& layout) { return train_plan(example(model), example(layout)); }

std::string sharding(const Plan& plan, const std::string& name) {
    for (const TensorReport& tensor : plan.report.tensors)
        if (tensor.name == name) return text(plan.mesh, tensor.sharding);
    return "no tensor " + name;
}

} // namespace

TEST_CASE("with the same masks the classifier's losses are the same on one device, data-parallel and under fsdp") {
    const Numbers alone = series(run_steps(plan_of(one), 6), "loss");
    for (const std::string& layout : {dp, fsdp}) {
        CAPTURE(layout);
        const Numbers losses = series(run_steps(plan_of(layout), 6), "loss");
        REQUIRE(losses.size() == alone.size());
        for (size_t n = 0; n < alone.size(); ++n)
            CHECK(std::fabs(losses[n] - alone[n]) <= 1e-4 * alone[n]); // bf16 rounds to 4e-3
    }
    CHECK(alone.back() < alone.front());
}

TEST_CASE("dropout drops: without it the classifier's losses are others") {
    std::string dropless = example(model);
    const std::string dropout = "  - h: {dropout: h, rate: 0.1}\n";
    dropless.erase(dropless.find(dropout), dropout.size());
    const Numbers with = series(run_steps(plan_of(one), 2), "loss"),
                  without = series(run_steps(train_plan(dropless, example(one)), 2), "loss");
    CHECK(with[0] != without[0]);
    CHECK(with[1] == doctest::Approx(without[1]).epsilon(0.05));
}

TEST_CASE("fsdp holds the classifier's parameters as the notebook prints them, and Adam's states like them") {
    const Plan plan = plan_of(fsdp);
    for (const std::string state : {"", ".mu", ".nu"}) {
        CHECK(sharding(plan, "input_dense.kernel" + state) == "[data | -]");
        CHECK(sharding(plan, "input_dense.bias" + state) == "[data]");
        CHECK(sharding(plan, "output_dense.kernel" + state) == "[data | -]");
        CHECK(sharding(plan, "output_dense.bias" + state) == "[-]");
    }
    CHECK(sharding(plan, "count") == "[]");
}

TEST_CASE("gradients are reduced once a step where parameters are whole, and scattered in each microbatch under fsdp") {
    for (const CollectiveReport& collective : plan_of(dp).report.collectives) {
        CAPTURE(collective.tensor);
        CHECK(collective.kind == "all_reduce");
        CHECK(collective.count == 1);
    }
    i64 scattered = 0, gathered = 0;
    for (const CollectiveReport& collective : plan_of(fsdp).report.collectives) {
        CAPTURE(collective.tensor);
        if (collective.kind == "all_reduce") continue;
        CHECK(collective.count == 4);
        ++(collective.kind == "reduce_scatter" ? scattered : gathered);
    }
    CHECK(scattered == 3);
    CHECK(gathered == 4); // three for the forward pass, and the second layer's kernel for the backward pass
}

} // namespace shard
