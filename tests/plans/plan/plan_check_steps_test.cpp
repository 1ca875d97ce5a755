// Every rule of the steps over the state of the buffers, broken alone.
#include "plans/plan/plan_check_steps.h"
#include "plans/plan/plan_check_types.h"
#include "tests/plans/plan/chain.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("check of steps: what is read is there, and what is written is free") {
    for (const int id : {-1, 3}) {
        CHECK(chain([=](Chain& c) { c.step(0).output = id; }) == "steps[0]: an output that is not a buffer");
        CHECK(chain([=](Chain& c) { c.step(0).inputs = {id}; }) == "steps[0]: an input that is not a buffer");
    }
    CHECK(chain([](Chain& c) { c.step(0).inputs = {c.b}; }) == "steps[0]: reads 'b' before it holds a value");
    CHECK(chain([](Chain& c) { c.step(1).output = c.x; }) == "steps[1]: writes over the input 'x'");
    CHECK(chain([](Chain& c) { c.step(1).inputs = {c.a, c.a}; }) == "steps[1]: pointwise: one list of dims per input");
    CHECK(chain([](Chain& c) { c.buffer(c.b).offset = 64; }) == "steps[1]: writes 'b' over a buffer that is alive");
    // a of 128 bytes, from 64 on: in the middle of it there is no room, but for nothing.
    const auto wide = [](const std::function<void(Chain&)>& change) {
        return chain([&](Chain& c) {
            for (const int id : {c.x, c.a}) {
                c.buffer(id).global_shape = c.buffer(id).shape = {32};
                c.buffer(id).bytes = 128;
                c.buffer(id).offset = 128 * id;
            }
            c.buffer(c.b).offset = 256;
            c.plan().inputs[0].init.shape = {32};
            c.step(1).kernel = Reduce{{}, ReduceOp::sum};
            c.step(1).inputs = {c.x};
            c.buffer(c.b).global_shape = c.buffer(c.b).shape = {32};
            c.buffer(c.b).bytes = 128;
            c.plan().arena_bytes = c.plan().peak_bytes = 384;
            change(c);
        });
    };
    CHECK(wide([](Chain&) {}) == "fine");
    CHECK(wide([](Chain& c) { c.buffer(c.b).offset = 192; }) == "steps[1]: writes 'b' over a buffer that is alive");
    CHECK(wide([](Chain& c) { c.step(1).scratch_offset = 192; }) == "fine");
    // b in the bytes of a: its view cannot be written, and its bytes must be alive.
    const auto in_a = [](const std::function<void(Chain&)>& change) {
        return chain([&](Chain& c) {
            c.buffer(c.b).alias_of = c.a;
            c.buffer(c.b).offset = 64;
            c.plan().peak_bytes = 80;
            change(c);
        });
    };
    CHECK(in_a([](Chain& c) { c.buffer(c.b).view = true; }) == "steps[1]: writes 'b', which is a view");
    CHECK(in_a([](Chain& c) {
              c.step(1).inputs = {c.x};
              c.plan().steps.erase(c.plan().steps.begin());
          }) == "steps[0]: writes 'b' in the bytes of a buffer that is not alive");
    CHECK(in_a([](Chain& c) {
              c.step(1).kernel = Reduce{{}, ReduceOp::sum};
          }) == "steps[1]: writes over 'a' while it reads it");
    CHECK(in_a([](Chain& c) { c.plan().outputs[0].buffer = c.a; }) == "outputs: 'b' does not hold a value at the end");
    CHECK(in_a([](Chain& c) { // the second operand turns it round: of its elements some are gone
              for (int id : {c.x, c.a, c.b}) {
                  Buffer& buffer = c.buffer(id);
                  buffer.global_shape = buffer.shape = {2, 2};
                  buffer.sharding.dims.resize(2);
              }
              c.plan().inputs[0].init.shape = {2, 2};
              c.step(0).kernel = pointwise(ScalarOp::neg, 1, 2, DType::f32, DType::f32);
              Pointwise turned = pointwise(ScalarOp::add, 2, 2, DType::f32, DType::f32);
              turned.input_dims[1] = {1, 0};
              c.step(1).kernel = turned;
              c.step(1).inputs = {c.a, c.a};
          }) == "steps[1]: writes over 'a' while it reads it");
}

TEST_CASE("check of steps: what is on the host is copied, and nothing else") {
    const auto on_host = [](const std::function<void(Chain&)>& change) {
        return chain([&](Chain& c) { // x is copied to the host, and from there to b
            Move copy;
            copy.flat = true;
            c.step(0).kernel = c.step(1).kernel = copy;
            c.buffer(c.a).on_host = true;
            c.buffer(c.a).offset = 0;
            c.plan().host_arena_bytes = 64;
            c.plan().host_peak_bytes = 16;
            change(c);
        });
    };
    CHECK(on_host([](Chain&) {}) == "fine");
    CHECK(on_host([](Chain& c) { c.step(0).kernel = negated(); }) == "steps[0]: computes 'a' on the host");
    CHECK(on_host([](Chain& c) { c.step(1).kernel = negated(); }) ==
          "steps[1]: computes with 'a', which is on the host");
    CHECK(on_host([](Chain& c) { c.plan().host_peak_bytes = 32; }) ==
          "host_peak_bytes: the steps reach byte 16, the plan says 32");
    CHECK(on_host([](Chain& c) { c.plan().host_arena_bytes = 0; }) == "host_peak_bytes: outside the arena");
    CHECK(on_host([](Chain& c) { c.buffer(c.a).offset = 64; }) == "buffers[1] 'a': its extent is not inside the arena");
    CHECK(on_host([](Chain& c) { c.buffer(c.b).alias_of = c.a; }) ==
          "buffers[2] 'b': an alias outside the bytes of its buffer");
}

TEST_CASE("check of steps: a scalar that places a kernel's block is read too, and cannot be written over") {
    const auto with = [](const std::function<void(Plan&, int, int)>& change) {
        PlanBuilder builder(chain_mesh());
        const int i = builder.input("i", DType::i32, {}), at = builder.buffer("at", DType::i32, {}),
                  of = builder.buffer("of", DType::i32, {});
        builder.compute(pointwise(ScalarOp::neg, 1, 0, DType::i32, DType::i32), {i}, at);
        Pointwise index = pointwise(ScalarOp::neg, 1, 0, DType::i32, DType::i32);
        Gather gather{0, 4, Affine{0, {{AffineTerm::Kind::scalar, {}, at, 1}}}};
        const int table = builder.input("table", DType::i32, {4});
        builder.compute(gather, {table, i}, of);
        change(builder.plan(), at, of);
        return plan_verdict(builder.plan());
    };
    CHECK(with([](Plan&, int, int) {}) == "fine");
    CHECK(with([](Plan& plan, int, int) { plan.steps.erase(plan.steps.begin()); }) ==
          "steps[0]: reads 'at' before it holds a value");
    CHECK(with([](Plan& plan, int at, int of) {
              Buffer& buffer = plan.buffers[of];
              buffer.alias_of = at;
              buffer.offset = plan.buffers[at].offset;
          }) == "steps[1]: writes over 'at' while it reads it");
    CHECK(with([](Plan& plan, int, int) {
              std::get<Compute>(plan.steps[1].variant_ref()).kernel.change([](Kernel& kernel) {
                  std::get<Gather>(kernel).start.terms[0].index = 77;
              });
          }) == "steps[1]: an input that is not a buffer");
}

TEST_CASE("check of steps: scratch is aligned, inside the arena, large enough, and over nothing that is alive") {
    // Sums of bf16 are made in 16 bytes of scratch, after the last buffer.
    const auto with = [](const std::function<void(Plan&, Compute&)>& change) {
        PlanBuilder builder(chain_mesh());
        const int i = builder.input("i", DType::i32, {3}), u = builder.input("u", DType::bf16, {3}),
                  sums = builder.buffer("sums", DType::bf16, {4});
        builder.compute(Scatter{0, 4, {}}, {i, u}, sums);
        change(builder.plan(), std::get<Compute>(builder.plan().steps[0].variant_ref()));
        return plan_verdict(builder.plan());
    };
    CHECK(with([](Plan&, Compute& c) {
              CHECK(c.scratch_offset == 192);
              CHECK(c.scratch_bytes == 16);
          }) == "fine");
    const std::string outside = "steps[0]: scratch outside the arena";
    CHECK(with([](Plan&, Compute& c) { c.scratch_bytes = -1; }) == outside);
    CHECK(with([](Plan&, Compute& c) { c.scratch_offset = -64; }) == outside);
    CHECK(with([](Plan&, Compute& c) { c.scratch_offset += 8; }) == outside);
    CHECK(with([](Plan&, Compute& c) { c.scratch_bytes = 257; }) == outside); // of an arena of 256
    CHECK(with([](Plan&, Compute& c) { c.scratch_bytes = 65; }) == outside);
    CHECK(with([](Plan& plan, Compute& c) { plan.peak_bytes = 192 + (c.scratch_bytes = 64); }) == "fine");
    CHECK(with([](Plan&, Compute& c) { c.scratch_offset = 256; }) == outside);
    CHECK(with([](Plan& plan, Compute& c) { plan.peak_bytes = 192 + (c.scratch_bytes = 15); }) ==
          "steps[0]: too little scratch for the kernel");
    for (const i64 offset : {0, 64, 128}) // an operand, the other, and the result
        CHECK(with([=](Plan& plan, Compute& c) {
                  c.scratch_offset = offset;
                  plan.peak_bytes = 136;
              }) == "steps[0]: scratch over a buffer that is alive");
    CHECK(with([](Plan& plan, Compute&) { plan.peak_bytes = 136; }) ==
          "peak_bytes: the steps reach byte 208, the plan says 136");
    // Only from below: it ends inside the buffer behind it.
    CHECK(with([](Plan& plan, Compute& c) {
              plan.arena_bytes = 320;
              plan.buffers[1].offset = 256;
              c.scratch_offset = 192;
              c.scratch_bytes = 65;
              plan.peak_bytes = 262;
          }) == "steps[0]: scratch over a buffer that is alive");
}

namespace {

Collective over_m(const PlanBuilder& builder) {
    Collective fields;
    fields.axes = builder.axes({"m"});
    return fields;
}

// r is the sum of x over m; then x is negated into y.
struct Sent {
    PlanBuilder builder{chain_mesh()};
    int x = builder.input("x", DType::f32, {4}), a = builder.buffer("a", DType::f32, {4}),
        r = builder.buffer("r", DType::f32, {4}), y = builder.buffer("y", DType::f32, {4});
    Sent() {
        builder.compute(negated(), {x}, a);
        const int token = builder.start("all_reduce", over_m(builder), a, r);
        builder.compute(negated(), {x}, y);
        builder.wait(token);
        builder.output("r", r);
    }
    Plan& plan() { return builder.plan(); }
    Compute& compute(size_t i) { return std::get<Compute>(plan().steps[i].variant_ref()); }
    Start& start() { return std::get<Start>(plan().steps[1].variant_ref()); }
    void insert(size_t at, Step step) {
        plan().steps.insert(plan().steps.begin() + static_cast<std::ptrdiff_t>(at), std::move(step));
    }
};

std::string sent(const std::function<void(Sent&)>& change) {
    Sent made;
    change(made);
    return plan_verdict(made.plan());
}

} // namespace

TEST_CASE("check of steps: while a collective is in flight its input is not written, and its output not touched") {
    CHECK(sent([](Sent&) {}) == "fine");
    for (const int id : {-1, 4}) {
        CHECK(sent([=](Sent& s) { s.start().input = id; }) ==
              "steps[1]: a collective of something that is not a buffer");
        CHECK(sent([=](Sent& s) { s.start().output = id; }) ==
              "steps[1]: a collective of something that is not a buffer");
    }
    CHECK(sent([](Sent& s) { s.start().input = s.y; }) == "steps[1]: sends 'y' before it holds a value");
    CHECK(sent([](Sent& s) { s.start().output = s.a; }) == "steps[1]: a collective into its own input");
    CHECK(sent([](Sent& s) { s.start().output = s.x; }) == "steps[1]: writes over the input 'x'");
    CHECK(sent([](Sent& s) { s.start().collective.root = 1; }) == "steps[1]: the root is not in the group");
    CHECK(sent([](Sent& s) { s.compute(2).output = s.a; }) == "steps[2]: writes 'a' while a collective uses its bytes");
    CHECK(sent([](Sent& s) { s.compute(2).output = s.r; }) == "steps[2]: writes 'r' while a collective uses its bytes");
    CHECK(sent([](Sent& s) { s.compute(2).inputs = {s.r}; }) == "steps[2]: reads 'r' before it holds a value");
    CHECK(sent([](Sent& s) { s.compute(2).inputs = {s.a}; }) == "fine"); // reading with it is no harm
    CHECK(sent([](Sent& s) { s.insert(2, Release{s.a}); }) == "steps[2]: releases 'a' while a collective uses it");
    CHECK(sent([](Sent& s) { s.insert(2, Release{s.r}); }) == "steps[2]: releases 'r' while a collective uses it");
    CHECK(sent([](Sent& s) { s.insert(4, Release{s.a}); }) == "fine");
    // Two that read it: it is in use until both have come.
    CHECK(sent([](Sent& s) {
              s.builder.plan().steps[2] = s.start();
              Start& second = std::get<Start>(s.plan().steps[2].variant_ref());
              second.token = 7;
              second.output = s.y;
              s.insert(4, Release{s.a});
              s.insert(5, Wait{7});
          }) == "steps[4]: releases 'a' while a collective uses it");
}

TEST_CASE("check of steps: every token is of one collective, and waited for once") {
    CHECK(sent([](Sent& s) { s.insert(4, Wait{0}); }) == "steps[4]: waits for token 0, which is not in flight");
    CHECK(sent([](Sent& s) { s.insert(0, Wait{0}); }) == "steps[0]: waits for token 0, which is not in flight");
    CHECK(sent([](Sent& s) {
              s.plan().outputs.clear();
              s.plan().steps.pop_back();
          }) == "steps: nobody waits for token 0");
    CHECK(sent([](Sent& s) {
              Start again = s.start();
              again.output = s.y;
              s.insert(4, again);
              s.insert(5, Wait{0});
          }) == "steps[4]: token 0 is used by two collectives");
    CHECK(sent([](Sent& s) {
              Start again = s.start();
              again.output = s.y;
              s.plan().steps[2] = again;
          }) == "steps[2]: token 0 is used by two collectives");
}

TEST_CASE("check of steps: only a buffer of one's own is released, once, and no input that stays") {
    for (const int id : {-1, 3})
        CHECK(chain([=](Chain& c) { c.plan().steps.push_back(Release{id}); }) ==
              "steps[2]: releases something that is not a buffer");
    CHECK(chain([](Chain& c) { c.plan().steps.push_back(Release{c.x}); }) == "steps[2]: releases the input 'x'");
    CHECK(chain([](Chain& c) {
              c.plan().steps.push_back(Release{c.a});
              c.plan().steps.push_back(Release{c.a});
          }) == "steps[3]: releases 'a', which is not alive");
    CHECK(chain([](Chain& c) {
              c.buffer(c.b).alias_of = c.a;
              c.buffer(c.b).offset = 64;
              c.plan().peak_bytes = 80;
              c.plan().steps.push_back(Release{c.b});
          }) == "steps[2]: releases 'b', whose bytes belong to another buffer");
    CHECK(chain([](Chain& c) { // in the bytes of the first buffer of all
              c.buffer(c.x).donated = true;
              c.buffer(c.a).alias_of = c.x;
              c.buffer(c.a).offset = 0;
              c.plan().outputs.push_back({"x", c.a, c.x});
              c.plan().steps.push_back(Release{c.a});
          }) == "steps[2]: releases 'a', whose bytes belong to another buffer");
    // What was released is free, and holds nothing any more.
    CHECK(chain([](Chain& c) { c.plan().steps.insert(c.plan().steps.begin() + 1, Release{c.a}); }) ==
          "steps[2]: reads 'a' before it holds a value");
    CHECK(chain([](Chain& c) {
              c.step(1).inputs = {c.x};
              c.buffer(c.b).offset = 64;
              c.plan().peak_bytes = 80;
              c.plan().steps.insert(c.plan().steps.begin() + 1, Release{c.a});
          }) == "fine");
}

namespace {

// a = -x, then three times a = a + x.
struct Looped {
    PlanBuilder builder{chain_mesh()};
    int x = builder.input("x", DType::f32, {4}), a = builder.buffer("a", DType::f32, {4});
    Looped() {
        builder.compute(negated(), {x}, a);
        builder.begin_loop(2, 3);
        builder.compute(added(), {a, x}, a);
        builder.end_loop();
        builder.output("a", a);
    }
    Plan& plan() { return builder.plan(); }
    Loop& loop() { return std::get<Loop>(plan().steps[1].variant_ref()); }
};

std::string looped(const std::function<void(Looped&)>& change) {
    Looped made;
    change(made);
    return plan_verdict(made.plan());
}

} // namespace

TEST_CASE("check of steps: loops have trips and an index of their own, and nest so deep and no deeper") {
    CHECK(looped([](Looped&) {}) == "fine");
    for (const i64 trips : {0, -1})
        CHECK(looped([=](Looped& l) { l.loop().trips = trips; }) == "steps[1]: a loop of no trips");
    for (const int index : {-1, 4096})
        CHECK(looped([=](Looped& l) { l.loop().index = index; }) == "steps[1]: a loop index that is taken");
    for (const int index : {0, 4095}) CHECK(looped([=](Looped& l) { l.loop().index = index; }) == "fine");
    CHECK(looped([](Looped& l) {
              l.loop().body.push_back(Loop{2, 2, {}});
          }) == "steps[1].loop.body[1]: a loop index that is taken");
    CHECK(looped([](Looped& l) { l.plan().steps.push_back(Loop{2, 2, {}}); }) == "fine"); // free again behind it
    for (const int deep : {deepest_loops, deepest_loops + 1}) {
        CHECK(looped([=](Looped& l) {
                  std::vector<Step>* body = &l.plan().steps;
                  for (int i = 0; i < deep; ++i) {
                      body->push_back(Loop{10 + i, 1, {}});
                      body = &std::get<Loop>(body->back().variant_ref()).body;
                  }
              }).ends_with(deep == deepest_loops ? "fine" : "loops nest deeper than 8"));
    }
}

TEST_CASE("check of steps: every trip of a loop finds what the one before found") {
    // A buffer that only the second trip finds released.
    CHECK(looped([](Looped& l) { l.loop().body.push_back(Release{l.a}); }) ==
          "steps[1].loop.body[0]: reads 'a' before it holds a value");
    CHECK(looped([](Looped& l) {
              l.loop().body.push_back(Release{l.a});
              l.loop().trips = 1;
              l.plan().outputs.clear();
          }) == "fine");
    // Tokens belong to the trip that starts them.
    const auto with = [](const std::function<void(Looped&, Start&)>& change) {
        return looped([&](Looped& l) {
            const int r = l.builder.buffer("r", DType::f32, {4});
            Start start;
            start.collective = over_m(l.builder);
            start.collective.def = find_collective("all_reduce");
            start.input = l.x;
            start.output = r;
            change(l, start);
        });
    };
    CHECK(with([](Looped& l, Start& start) {
              l.loop().body.push_back(start);
              l.loop().body.push_back(Wait{0});
          }) == "fine");
    CHECK(with([](Looped& l, Start& start) { l.loop().body.push_back(start); }) ==
          "steps[1].loop.body: a collective is in flight from one trip of a loop to the next");
    CHECK(with([](Looped& l, Start& start) {
              l.plan().steps.insert(l.plan().steps.begin() + 1, start);
              std::get<Loop>(l.plan().steps[2].variant_ref()).body.push_back(Wait{0});
          }) == "steps[2].loop.body: a collective is in flight from one trip of a loop to the next");
    // The trip of a loop is known inside it alone.
    const auto indexed = [](bool inside) {
        return looped([=](Looped& l) {
            Pointwise index;
            ScalarStep step{ScalarOp::index, {0, -1, -1}, DType::f32, 0, {0, {{AffineTerm::Kind::loop, {}, 2, 1}}}};
            index.steps = {step};
            Compute compute;
            compute.kernel = index;
            compute.output = l.a;
            (inside ? l.loop().body : l.plan().steps).push_back(compute);
        });
    };
    CHECK(indexed(true) == "fine");
    CHECK(indexed(false) == "steps[2]: pointwise: an index starts outside what can be computed");
}

} // namespace shard
