// A device's memory ends where 64 bits could no longer count it: the last size that fits, and the first that does not.
#include "planner/partition/check_local_sizes.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

Local holding(std::vector<TensorType> types) {
    Local local;
    for (TensorType& type : types) {
        Value value;
        value.name = "v" + std::to_string(local.graph.values.size());
        value.type = std::move(type);
        local.graph.values.push_back(std::move(value));
    }
    return local;
}

} // namespace

TEST_CASE("local sizes: a device holds 2^56 bytes, and not one more") {
    const TensorType half = {DType::f64, {i64{1} << 26, i64{1} << 26}, {}};
    Diagnostics diagnostics;
    CHECK(check_local_sizes(holding({half, half}), diagnostics));
    CHECK(diagnostics.all().empty());
    CHECK_FALSE(check_local_sizes(holding({half, half, {DType::boolean, {1}, {}}}), diagnostics));
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].code == "E0401");
    CHECK(diagnostics.all()[0].message == "too large to plan at 'v2', of which a device would hold (1,)");
}

} // namespace shard
