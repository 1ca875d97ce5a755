#include "plans/sharding/sharding.h"

#include <doctest/doctest.h>

#include <map>

using namespace shard;

namespace {

const Mesh mesh = {{{"data", 2, ""}, {"model", 4, ""}}, {}};

Sharding spec(const char* text) {
    const std::optional<Sharding> sharding = parse_sharding(mesh, text);
    REQUIRE_MESSAGE(sharding, text);
    return *sharding;
}

// Devices that hold the same block, in the order of the blocks.
std::vector<std::vector<i64>> holders(const Shape& shape, const Sharding& sharding) {
    std::map<std::vector<i64>, std::vector<i64>> by_start;
    for (i64 p = 0; p < mesh.device_count(); ++p)
        by_start[local_start(mesh, shape, sharding, coordinates_of(mesh, p))].push_back(p);
    std::vector<std::vector<i64>> groups;
    for (const auto& entry : by_start) groups.push_back(entry.second);
    return groups;
}

} // namespace

TEST_CASE("text and parse of shardings are inverse") {
    for (const char* text :
         {"[data | model? | -]", "[]", "[?]", "[-]", "[data,model | ?]", "[model,data? | -]", "[data@1 | ?@2]",
          "[data?@3]", "[- | -] U{model}", "[-] U{data,model:max}", "[model:(1)2 | -] U{model:(2)2:min}",
          "[? | -] R{data}", "[- | model] R{data}", "[-] U{model} R{data}"})
        CHECK(shard::text(mesh, spec(text)) == text);
    CHECK(spec("[ data|model ? ]") == spec("[data | model?]"));
}

TEST_CASE("what is no sharding is refused") {
    for (const char* bad :
         {"", "data", "[data", "[pipe]", "[data | data]", "[data,]", "[ | ]", "[model:(1)2 | model]", "[data] U{data}",
          "[data] X{model}", "[data] U{model", "[data@x]", "[data@-1]", "[data] U{}"})
        CHECK_MESSAGE(!parse_sharding(mesh, bad), bad);
}

TEST_CASE("local shapes and starts") {
    const Shape shape = {8, 1024};
    CHECK(local_shape(shape, spec("[data | model]")) == Shape{4, 256});
    CHECK(local_shape(shape, spec("[data,model | -]")) == Shape{1, 1024});
    CHECK(local_shape(shape, spec("[- | model:(1)2]")) == Shape{8, 512});
    CHECK(divides({8, 6}, spec("[data | -]")));
    CHECK(!divides({8, 6}, spec("[data | model]")));

    const std::vector<i64> device = coordinates_of(mesh, 6); // data 1, model 2
    CHECK(local_start(mesh, shape, spec("[data | model]"), device) == std::vector<i64>{4, 512});
    CHECK(local_start(mesh, shape, spec("[data,model | -]"), device) == std::vector<i64>{6, 0});
    CHECK(local_start(mesh, shape, spec("[model,data | -]"), device) == std::vector<i64>{5, 0});
    CHECK(local_start(mesh, shape, spec("[- | model:(2)2]"), device) == std::vector<i64>{0, 0});
    CHECK(local_start(mesh, shape, spec("[- | model:(1)2]"), device) == std::vector<i64>{0, 512});
}

TEST_CASE("which devices hold the same block, as in pictures of shardings") {
    const Shape shape = {8, 1024};
    CHECK(holders(shape, spec("[- | model]")) == std::vector<std::vector<i64>>{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
    CHECK(holders(shape, spec("[data | -]")) == std::vector<std::vector<i64>>{{0, 1, 2, 3}, {4, 5, 6, 7}});
    CHECK(holders(shape, spec("[- | -]")) == std::vector<std::vector<i64>>{{0, 1, 2, 3, 4, 5, 6, 7}});
    CHECK(holders(shape, spec("[data | model]")).size() == 8);
    CHECK(holders(shape, spec("[model:(1)2 | -]")) == std::vector<std::vector<i64>>{{0, 1, 4, 5}, {2, 3, 6, 7}});
}

TEST_CASE("layout equality, closing, and small questions") {
    CHECK(same_layout(spec("[data? | ?]"), spec("[data | -] R{model}")));
    CHECK(!same_layout(spec("[data | -]"), spec("[- | data]")));
    CHECK(!same_layout(spec("[data]"), spec("[data] U{model}")));
    CHECK(!same_layout(spec("[-] U{model}"), spec("[-] U{model:max}")));
    CHECK(closed(spec("[data?@1 | ?] U{model:(1)2} R{model:(2)2}")) == spec("[data | -] U{model:(1)2}"));
    CHECK(is_fully_replicated(spec("[? | -] R{data}")));
    CHECK(!is_fully_replicated(spec("[-] U{data}")));
    CHECK(shard_count(spec("[data,model]").dims[0]) == 8);
    CHECK(open_sharding(2) == spec("[? | ?]"));
    CHECK(replicated_sharding(2) == spec("[- | -]"));
    CHECK(used_axes(spec("[model:(1)2 | data] U{model:(2)2}")) ==
          std::vector<AxisRef>{{1, 1, 2}, {0, 1, 2}, {1, 2, 2}});
}

TEST_CASE("the list form is what a file would say") {
    CHECK(spec_text(mesh, spec("[data | -]")) == "[data, ~]");
    CHECK(spec_text(mesh, spec("[data,model | ?]")) == "[[data, model], \"?\"]");
    CHECK(spec_text(mesh, spec("[data? | model:(1)2@1]")) == "[\"data?\", \"model:(1)2@1\"]");
    CHECK(spec_text(mesh, spec("[]")) == "[]");
}

TEST_CASE("names of reductions") {
    for (ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min})
        CHECK(parse_reduce_op(name(op)) == op);
    CHECK(!parse_reduce_op("mean"));
}
