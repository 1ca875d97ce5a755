#include "cli/summary/sharding_rows.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

struct Arrays {
    Plan plan;

    Arrays() { plan.mesh = {{{"data", 4, ""}}, {}}; }
    void add(std::string name, Role role, Shape shape, const std::string& sharding, DType dtype = DType::f32) {
        TensorReport tensor;
        tensor.name = std::move(name);
        tensor.role = role;
        tensor.dtype = dtype;
        tensor.logical.resize(shape.size());
        tensor.sharding = *parse_sharding(plan.mesh, sharding);
        tensor.local_shape = local_shape(shape, tensor.sharding);
        tensor.bytes_per_device = element_count(tensor.local_shape) * byte_size(dtype);
        tensor.shape = std::move(shape);
        plan.report.tensors.push_back(std::move(tensor));
    }
    // "name count", a line a row.
    std::string rows(Detail detail) const {
        std::string out;
        for (const ShardingRow& row : sharding_rows(plan, detail).rows)
            out += fmt::format("{}{} {}\n", row.name, row.is_as_params ? " *" : "", row.count);
        return out;
    }
};

} // namespace

TEST_CASE("arrays of a module that lie alike are a row, and roles stand together") {
    Arrays a;
    a.add("z", Role::output, {8}, "[-]");
    a.add("block.0.wq", Role::param, {8, 8}, "[data | -]");
    a.add("block.1.wq", Role::param, {8, 8}, "[data | -]");
    a.add("block.0.wk", Role::param, {8, 8}, "[data | -]");
    a.add("block.1.wk", Role::param, {8, 8}, "[data | -]");
    a.add("block.0.wo", Role::param, {8, 8}, "[- | data]");
    a.add("wte", Role::param, {8, 8}, "[data | -]");
    a.add("block.0.h", Role::value, {8}, "[-]");
    a.add("x", Role::input, {8}, "[-]");
    CHECK(a.rows(Detail::screen) == "x 1\nblock.{0,1}.{wq,wk} 4\nblock.0.wo 1\nwte 1\nz 1\n");
    CHECK(a.rows(Detail::whole) == a.rows(Detail::screen));
    CHECK(a.rows(Detail::each) == "x 1\nblock.0.wq 1\nblock.1.wq 1\nblock.0.wk 1\nblock.1.wk 1\nblock.0.wo 1\nwte 1\n"
                                  "block.0.h 1\nz 1\n");
}

TEST_CASE("states and gradients that lie as their params are a row in all, the others are seen") {
    Arrays a;
    for (const char* w : {"b.w1", "b.w2", "w3"}) {
        a.add(w, Role::param, {8, 8}, "[data | -]");
        a.add(fmt::format("{}.grad", w), Role::gradient, {8, 8}, w[0] == 'w' ? "[- | data]" : "[data | -]",
              DType::bf16);
        a.add(fmt::format("{}.mu", w), Role::state, {8, 8}, "[data | -]");
        a.add(fmt::format("{}.nu", w), Role::state, {8, 8}, "[data | -]");
    }
    a.add("count", Role::state, {}, "[]", DType::i32);
    CHECK(a.rows(Detail::screen) ==
          "b.{w1,w2} 2\nw3 1\ncount 1\nmu, nu of every param * 6\nw3.grad 1\ngrad of 2 params * 2\n");
    const ShardingRows rows = sharding_rows(a.plan, Detail::screen);
    CHECK(rows.rows[3].bytes == 6 * 2 * 8 * 4); // a quarter of 8 x 8 floats each
    CHECK(a.rows(Detail::whole) == "b.{w1,w2} 2\nw3 1\nb.w1.{mu,nu} 2\nb.w2.{mu,nu} 2\nw3.{mu,nu} 2\ncount 1\n"
                                   "b.w1.grad 1\nb.w2.grad 1\nw3.grad 1\n");
}

TEST_CASE("a row for all states stands for several params") {
    Arrays a;
    a.add("w", Role::param, {8}, "[data]");
    a.add("w.mu", Role::state, {8}, "[data]");
    a.add("w.nu", Role::state, {8}, "[data]");
    CHECK(a.rows(Detail::screen) == "w 1\nw.{mu,nu} 2\n");
}

TEST_CASE("of very many rows the largest of the longest role are there, and all other roles") {
    Arrays a;
    a.add("x", Role::input, {4}, "[data]");
    for (int i = 0; i < 40; ++i) a.add(fmt::format("m{}.w", i), Role::param, {4 * (i + 1)}, "[data]");
    a.add("y", Role::output, {4}, "[data]");
    const ShardingRows screen = sharding_rows(a.plan, Detail::screen);
    CHECK(screen.rows.size() == 16);
    CHECK(screen.left_out == 26);
    CHECK(screen.rows.front().name == "x");
    CHECK(screen.rows[1].name == "m26.w"); // the 14 largest of 40
    CHECK(screen.rows[14].name == "m39.w");
    CHECK(screen.rows.back().name == "y");
    CHECK(sharding_rows(a.plan, Detail::whole).rows.size() == 42);
}
