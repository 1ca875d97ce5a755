// Every rule that the mesh, the buffers, the inputs and the outputs of a plan have to keep, broken alone.
#include "plans/plan/plan_check.h"
#include "plans/plan/plan_check_types.h"
#include "tests/plans/plan/chain.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

namespace shard {

TEST_CASE("check of a plan: the mesh multiplies, the arena has a size and the peak is inside it") {
    CHECK(chain([](Chain&) {}) == "fine");
    const std::string devices = "mesh: its axes do not multiply to a number of devices";
    CHECK(chain([](Chain& c) { c.plan().mesh.axes[0].size = 0; }) == devices);
    CHECK(chain([](Chain& c) { c.plan().mesh.axes = {{"m", i64{1} << 40, ""}, {"n", i64{1} << 40, ""}}; }) == devices);
    CHECK(chain([](Chain& c) { c.plan().mesh.axes.push_back({"one", 1, ""}); }) == "fine");
    CHECK(chain([](Chain& c) { c.plan().mesh.device_ids = {1, 0}; }) == "fine");
    CHECK(chain([](Chain& c) { c.plan().mesh.device_ids = {0}; }) == "mesh: one id per device");
    CHECK(chain([](Chain& c) { c.plan().mesh.device_ids = {0, 0}; }) == "mesh: one id per device");
    CHECK(chain([](Chain& c) { c.plan().mesh.device_ids = {0, 2}; }) == "mesh: one id per device");
    CHECK(chain([](Chain& c) { c.plan().arena_bytes = i64{1} << 56; }) == "fine");
    CHECK(chain([](Chain& c) { c.plan().arena_bytes = (i64{1} << 56) + 1; }) == "arena_bytes: no size of an arena");
    CHECK(chain([](Chain& c) { c.plan().arena_bytes = -1; }) ==
          "arena_bytes: no size of an arena; peak_bytes: outside the arena");
    CHECK(chain([](Chain& c) { c.plan().peak_bytes = -1; }) == "peak_bytes: outside the arena");
    CHECK(chain([](Chain& c) { c.plan().peak_bytes = c.plan().arena_bytes + 1; }) == "peak_bytes: outside the arena");
    CHECK(chain([](Chain& c) {
              c.plan().arena_bytes = c.plan().peak_bytes;
              c.step(0).scratch_offset = c.step(1).scratch_offset = 0; // of no bytes
          }) == "fine");
    for (const i64 peak : {143, 145})
        CHECK(chain([=](Chain& c) { c.plan().peak_bytes = peak; }) ==
              fmt::format("peak_bytes: the steps reach byte 144, the plan says {}", peak));
}

TEST_CASE("check of a plan: nothing at all is a plan, and one buffer may fill the arena") {
    Plan none;
    CHECK(plan_verdict(none) == "fine");
    PlanBuilder builder(chain_mesh());
    builder.input("x", DType::f32, {16});
    builder.plan().arena_bytes = builder.plan().peak_bytes;
    CHECK(builder.plan().arena_bytes == 64);
    CHECK(plan_verdict(builder.plan()) == "fine");
}

TEST_CASE("check of a plan: buffers lie in the arena, and aliases in their buffers") {
    const auto b = [](const std::function<void(Buffer&)>& change) {
        return chain([&](Chain& c) { change(c.buffer(c.b)); });
    };
    const std::string outside = "buffers[2] 'b': its extent is not inside the arena";
    CHECK(b([](Buffer& of) { of.offset = -64; }) == outside);
    CHECK(b([](Buffer& of) { of.offset = 32; }) == outside);
    CHECK(b([](Buffer& of) { of.offset = 192; }) == outside);
    CHECK(b([](Buffer& of) { of.offset = std::numeric_limits<i64>::max() / 64 * 64; }) == outside);
    CHECK(b([](Buffer& of) {
              of.global_shape = of.shape = {100};
              of.bytes = 400;
          }) == outside);
    CHECK(b([](Buffer& of) { of.bytes = 20; }) == "buffers[2] 'b': 20 bytes for a shape of 16");
    CHECK(b([](Buffer& of) { of.global_shape = {0}; }) == "buffers[2] 'b': the shape (0,) has a dim without elements");
    CHECK(b([](Buffer& of) { of.shape = {0}; }) == "buffers[2] 'b': the shape (0,) has a dim without elements");
    CHECK(b([](Buffer& of) { of.id = 1; }) == "buffers[2] 'b': its id is not its place");
    CHECK(b([](Buffer& of) { of.sharding.dims.clear(); }) ==
          "buffers[2] 'b': the sharding has another number of dims than the shape");
    CHECK(b([](Buffer& of) { of.view = true; }) == "buffers[2] 'b': a view of nothing");
    for (const int later : {2, 3, 99})
        CHECK(b([=](Buffer& of) { of.alias_of = later; }) == "buffers[2] 'b': an alias of a buffer that comes later");
    CHECK(b([](Buffer& of) { of.alias_of = 1; }) == "buffers[2] 'b': an alias outside the bytes of its buffer");
    // In the bytes of a, which b's step reads element by element.
    const auto in_a = [&](const std::function<void(Chain&)>& change) {
        return chain([&](Chain& c) {
            c.buffer(c.b).alias_of = c.a;
            c.buffer(c.b).offset = c.buffer(c.a).offset;
            c.plan().peak_bytes = 80;
            change(c);
        });
    };
    CHECK(in_a([](Chain&) {}) == "fine");
    const auto shaped = [](Chain& c, int id, i64 size) {
        Buffer& buffer = c.buffer(id);
        buffer.global_shape = buffer.shape = {size};
        buffer.bytes = 4 * size;
    };
    CHECK(in_a([&](Chain& c) { shaped(c, c.b, 5); }) == "buffers[2] 'b': an alias outside the bytes of its buffer");
    const std::string view = "buffers[2] 'b': a view of other elements";
    CHECK(in_a([&](Chain& c) {
              c.buffer(c.b).view = true;
              shaped(c, c.b, 3);
          }) == view);
    CHECK(in_a([](Chain& c) {
              c.buffer(c.b).view = true;
              c.buffer(c.b).dtype = DType::i32;
          }) == view);
    CHECK(in_a([](Chain& c) {
              c.buffer(c.b).view = true;
              c.plan().steps.pop_back();
          }) == "fine");
}

TEST_CASE("check of a plan: inputs are buffers of their own that hold whole values") {
    const auto input = [](const std::function<void(PlanInput&)>& change) {
        return chain([&](Chain& c) { change(c.plan().inputs[0]); });
    };
    for (const int id : {-1, 3})
        CHECK(input([=](PlanInput& i) { i.buffer = id; }) == "inputs[0]: not a buffer, or one twice");
    CHECK(chain([](Chain& c) { c.plan().inputs.push_back(c.plan().inputs[0]); }) ==
          "inputs[1]: not a buffer, or one twice");
    const auto two = [](const std::function<void(PlanBuilder&, Buffer&)>& change) {
        PlanBuilder builder(chain_mesh());
        builder.input("x", DType::f32, {4});
        const int y = builder.input("y", DType::f32, {4});
        change(builder, builder.plan().buffers[y]);
        return plan_verdict(builder.plan());
    };
    CHECK(two([](PlanBuilder&, Buffer&) {}) == "fine");
    CHECK(two([](PlanBuilder&, Buffer& y) { y.name = "x"; }) == "inputs[1]: two inputs are called 'x'");
    CHECK(two([](PlanBuilder&, Buffer& y) {
              y.alias_of = 0;
              y.offset = 0;
          }) == "inputs[1]: an input is a buffer of its own that holds whole values");
    CHECK(two([](PlanBuilder& b, Buffer& y) { y.sharding.partial = b.axes({"m"}); }) ==
          "inputs[1]: an input is a buffer of its own that holds whole values");
    CHECK(two([](PlanBuilder& b, Buffer&) { b.plan().inputs[1].init.start = {constant(0)}; }) ==
          "inputs[1]: its initializer makes another shape");
    CHECK(two([](PlanBuilder& b, Buffer&) { b.plan().inputs[1].init.shape = {8}; }) ==
          "inputs[1]: its initializer makes another shape");
    CHECK(two([](PlanBuilder& b, Buffer&) {
              b.plan().inputs[1].init.source = Literal{{1, 2}};
          }) == "inputs[1]: generate: one value per element");
    CHECK(two([](PlanBuilder& b, Buffer& y) {
              y.offset = 0;
              b.plan().peak_bytes = 16;
          }) == "inputs: 'y' lies where another input lies");
    const std::string layers = "inputs[0]: its layers are not those of leading dims";
    CHECK(input([](PlanInput& i) { i.layers = {1}; }) == "fine");
    CHECK(input([](PlanInput& i) { i.layers = {0}; }) == layers);
    CHECK(input([](PlanInput& i) { i.layers = {1, 2}; }) == layers);
}

TEST_CASE("check of a plan: outputs are whole values under names of their own") {
    const auto output = [](const std::function<void(Plan&, PlanOutput&)>& change) {
        return chain([&](Chain& c) { change(c.plan(), c.plan().outputs[0]); });
    };
    for (const int id : {-1, 3})
        CHECK(output([=](Plan&, PlanOutput& o) { o.buffer = id; }) == "outputs[0]: not a buffer");
    CHECK(chain([](Chain& c) { c.buffer(c.b).sharding.partial = c.builder.axes({"m"}); }) ==
          "outputs[0]: an output holds partial values");
    CHECK(output([](Plan& plan, PlanOutput&) { plan.outputs.push_back(plan.outputs[0]); }) ==
          "outputs[1]: two outputs are called 'b'");
    CHECK(output([](Plan& plan, PlanOutput&) { plan.outputs.push_back({"again", plan.outputs[0].buffer}); }) == "fine");
    CHECK(output([](Plan&, PlanOutput& o) { o.name = std::string("b\0c", 3); }) ==
          "outputs[0]: '" + std::string("b\0c", 3) + "' is not a name for a file");
    CHECK(output([](Plan& plan, PlanOutput& o) { plan.steps.push_back(Release{o.buffer}); }) ==
          "outputs: 'b' does not hold a value at the end");
}

TEST_CASE("check of a plan: an output that updates an input is of the same type and layout, in its bytes") {
    // y = -x in place of x.
    const auto with = [](const std::function<void(Plan&)>& change) {
        PlanBuilder builder(chain_mesh());
        const int x = builder.input("x", DType::f32, {4}), y = builder.buffer("y", DType::f32, {4});
        builder.compute(negated(), {x}, y);
        builder.plan().buffers[0].donated = true;
        builder.plan().buffers[1].alias_of = x;
        builder.plan().buffers[1].offset = 0;
        builder.plan().peak_bytes = 16;
        builder.plan().outputs = {{"x", y, x}};
        change(builder.plan());
        return plan_verdict(builder.plan());
    };
    CHECK(with([](Plan&) {}) == "fine");
    const std::string another = "outputs[0]: updates 'x', which has another type or sharding";
    CHECK(with([](Plan& plan) { plan.buffers[1].dtype = DType::i32; }) == another);
    CHECK(with([](Plan& plan) {
              plan.buffers[1].global_shape = {8};
              plan.buffers[1].sharding = *parse_sharding(plan.mesh, "[m]");
          }) == another);
    CHECK(with([](Plan& plan) {
              plan.buffers[0].global_shape = plan.buffers[1].global_shape = {4, 2};
              plan.buffers[0].shape = plan.buffers[1].shape = {4, 1};
              plan.buffers[0].sharding = *parse_sharding(plan.mesh, "[- | m]");
              plan.inputs[0].init.shape = {4, 2};
              plan.buffers[1].global_shape = {8, 1};
              plan.buffers[1].sharding = *parse_sharding(plan.mesh, "[m | -]");
          }) == another);
    CHECK(with([](Plan& plan) {
              plan.mesh.axes.push_back({"n", 2, ""});
              plan.buffers[0].global_shape = plan.buffers[1].global_shape = plan.inputs[0].init.shape = {8};
              plan.buffers[0].sharding = *parse_sharding(plan.mesh, "[m]");
              plan.buffers[1].sharding = *parse_sharding(plan.mesh, "[n]");
          }) == another);
    CHECK(with([](Plan& plan) { plan.buffers[1].view = true; }) ==
          "outputs[0]: updates 'x', but is not written into its bytes");
    CHECK(with([](Plan& plan) { plan.buffers[0].donated = false; }) ==
          "outputs[0]: updates 'x', which is not given away");
    // What is handed on as it was needs not be given away.
    CHECK(with([](Plan& plan) {
              plan.steps.clear();
              plan.outputs[0].buffer = 0;
              plan.buffers[0].donated = false;
          }) == "fine");
}

TEST_CASE("check of a plan: ten problems are enough") {
    Chain made;
    for (int i = 0; i < 12; ++i) made.plan().outputs.push_back({fmt::format("z{}", i), 99});
    CHECK(plan_problems(made.plan()).size() == 10);
}

} // namespace shard
