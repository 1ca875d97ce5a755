#include "cli/summary/verdict.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

Plan plan_of(MemoryReport memory, TimeReport time) {
    Plan plan;
    plan.mesh = {{{"data", 2, ""}}, {}};
    plan.report.memory = memory;
    plan.report.time = time;
    plan.report.flops_per_device = 2000;
    TensorReport w;
    w.role = Role::param;
    w.shape = {1024};
    w.bytes_per_device = 2048;
    plan.report.tensors = {w};
    return plan;
}

std::string fact(const Plan& plan, size_t n) {
    const Fact fact = verdict_of(plan).at(n);
    return (fact.verdict.empty() ? "" : fact.verdict + ": ") + fact.text;
}

} // namespace

TEST_CASE("memory: whether it fits, and what is alive at the peak, the largest first") {
    MemoryReport memory;
    memory.params = 1024;
    memory.activations = 2048;
    memory.peak = 3072;
    CHECK(fact(plan_of(memory, {}), 0) == "3.00 KiB on a device; at the peak activations 2.00 KiB, params 1.00 KiB");
    memory.capacity = 3072;
    CHECK(fact(plan_of(memory, {}), 0).starts_with("fits: 3.00 KiB of 3.00 KiB on a device (100.0%); at the peak"));
    memory.capacity = 3071;
    CHECK(fact(plan_of(memory, {}), 0).starts_with("does not fit: 3.00 KiB of"));
    CHECK_FALSE(verdict_of(plan_of(memory, {})).at(0).is_good);
}

TEST_CASE("time: what bounds a step, and how much of the communication a device waits for") {
    CHECK(fact(plan_of({}, {4, 0, 0, 4}), 1) == "4.00 s a step: compute 4.00 s (2.00 kFLOP)");
    CHECK(fact(plan_of({}, {4, 2, 1, 5}), 1) == "5.00 s a step, bound by compute: compute 4.00 s (2.00 kFLOP); "
                                                "communication 2.00 s, 1.00 s of it exposed (20.0% of the step)");
    CHECK(fact(plan_of({}, {1, 4, 4, 5}), 1) ==
          "5.00 s a step, bound by communication: "
          "communication 4.00 s, all exposed (80.0% of the step); compute 1.00 s (2.00 kFLOP)");
    CHECK(fact(plan_of({}, {4, 2, 0, 4}), 1) ==
          "4.00 s a step, bound by compute: compute 4.00 s (2.00 kFLOP); communication 2.00 s, all hidden");
}

TEST_CASE("params: how many in all, and what of them a device holds") {
    Plan plan = plan_of({}, {});
    CHECK(fact(plan, 2) == "1,024 (4.00 KiB), 2.00 KiB on a device");
    plan.report.tensors[0].bytes_per_device = 4096;
    CHECK(fact(plan, 2) == "1,024 (4.00 KiB), all on every device");
    plan.mesh.axes[0].size = 1;
    CHECK(fact(plan, 2) == "1,024 (4.00 KiB)");
    plan.report.tensors.clear();
    CHECK(verdict_of(plan).size() == 2);
}
