// Train steps at real sizes, planned only: a scanned repeat and the same written out cost the same.
#include "tests/support/steps.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

std::string without(std::string text, const std::string& part) {
    const size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return text.erase(at, part.size());
}

i64 sent(const Plan& plan) {
    i64 bytes = 0;
    for (const CollectiveReport& collective : plan.report.collectives) bytes += collective.wire_bytes_total;
    return bytes;
}

void check_alike(const Plan& scanned, const Plan& unrolled) {
    CHECK(sent(scanned) == sent(unrolled));
    CHECK(scanned.report.memory.params == unrolled.report.memory.params);
    CHECK(scanned.report.memory.optimizer_state == unrolled.report.memory.optimizer_state);
    // The stacks of gradients live until the update, where written out each layer's gradient goes as it comes. Nothing
    // else is to differ by more than a few layers' buffers.
    i64 stacks = 0;
    for (const TensorReport& tensor : scanned.report.tensors)
        if (tensor.role == Role::gradient) stacks += tensor.bytes_per_device;
    const double peak = static_cast<double>(unrolled.peak_bytes);
    CHECK(static_cast<double>(scanned.peak_bytes - stacks) <= 1.02 * peak);
    CHECK(static_cast<double>(scanned.peak_bytes) >= 0.98 * peak);
    CHECK(scanned.steps.size() * 4 < unrolled.steps.size());
}

} // namespace

TEST_CASE("GPT-2 124M: scanned and written out, a train step sends the same bytes and needs the same memory") {
    // Clipping sends one number a parameter for the norm, and a stack is one parameter.
    const std::string unrolled = without(example("gpt2/model.yaml"), "  clip: {global_norm: 1.0}\n");
    std::string scanned = unrolled;
    const std::string repeat = "in: x, axis: layers";
    scanned.insert(scanned.find(repeat) + repeat.size(), ", scan: true");
    check_alike(train_plan(scanned, example("gpt2/layout.yaml")), train_plan(unrolled, example("gpt2/layout.yaml")));
}

TEST_CASE("Llama 3.1 8B under FSDP on 64 devices: scanned and written out, a train step costs the same") {
    const std::string scanned = example("llama3/model.yaml"), layout = example("llama3/layout.yaml");
    const Plan plan = train_plan(scanned, layout);
    check_alike(plan, train_plan(without(scanned, ", scan: true"), layout));
    i64 parameters = 0;
    for (const TensorReport& tensor : plan.report.tensors)
        if (tensor.role == Role::param) parameters += element_count(tensor.shape);
    CHECK(parameters == 8'030'261'248);
}

} // namespace shard
