// What affine expressions, shardings and collectives have to keep, each rule broken alone.
#include "plans/plan/plan_check_kernel.h"
#include "plans/plan/plan_check_types.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

constexpr i64 limit = i64{1} << 60;

TensorType f32(Shape shape) { return {DType::f32, std::move(shape), {}}; }

// Axes data of 2 and model of 12; loop 5 makes 3 trips; buffers of every kind that a term may not read, and some it
// may.
struct World {
    Mesh mesh{{{"data", 2, ""}, {"model", 12, ""}}, {}};
    std::vector<Buffer> buffers;
    AffineScope scope;
    World() {
        for (const TensorType& type : {TensorType{DType::i32, {}, {}},
                                       {DType::f32, {}, {}},
                                       {DType::i32, {1}, {}},
                                       {DType::i64, {}, {}},
                                       {DType::u32, {}, {}}}) {
            Buffer buffer;
            buffer.dtype = type.dtype;
            buffer.shape = type.shape;
            buffers.push_back(buffer);
        }
        scope = {&mesh, {{5, 3}}, buffers};
    }
};

AffineTerm coordinate(AxisRef axis, i64 coefficient = 1) {
    return {AffineTerm::Kind::coordinate, axis, -1, coefficient};
}
AffineTerm loop(int index, i64 coefficient = 1) { return {AffineTerm::Kind::loop, {}, index, coefficient}; }
AffineTerm scalar(int buffer, i64 coefficient = 1) { return {AffineTerm::Kind::scalar, {}, buffer, coefficient}; }
AffineTerm clamped(int buffer, i64 low, i64 high) {
    AffineTerm term = scalar(buffer);
    term.low = low;
    term.high = high;
    return term;
}

// "low..high", or "refused".
std::string range(const Affine& affine) {
    const World world;
    const std::optional<Range> found = range_of(world.scope, affine);
    return found ? std::to_string(found->low) + ".." + std::to_string(found->high) : "refused";
}

} // namespace

TEST_CASE("the range of an affine expression holds every value, or it is refused") {
    CHECK(range({7, {}}) == "7..7");
    CHECK(range({0, {coordinate({0, 1, 2}, 4)}}) == "0..4");
    CHECK(range({-1, {coordinate({1, 2, 3}, -2), loop(5, 10)}}) == "-5..19"); // -4 and 20, less 1
    CHECK(range({0, {clamped(0, 2, 9)}}) == "2..9");

    for (const AxisRef& axis : {AxisRef{-1, 1, 1}, {2, 1, 1}, {1, 0, 2}, {1, 1, 0}, {1, 5, 2}, {1, 2, 4}})
        CHECK(range({0, {coordinate(axis)}}) == "refused");
    CHECK(range({0, {loop(4)}}) == "refused");
    for (const int buffer : {-1, 5, 1, 2}) // not there, of f32, of one dim
        CHECK(range({0, {scalar(buffer)}}) == "refused");
    CHECK(range({0, {clamped(0, 3, 2)}}) == "refused");
    CHECK(range({0, {clamped(0, 3, 3)}}) == "3..3");

    // What the type holds, also where the clamp is wider; of i64 only the clamp says it.
    CHECK(range({0, {scalar(0)}}) == "-2147483648..4294967295");
    CHECK(range({0, {scalar(4)}}) == "-2147483648..4294967295");
    CHECK(range({0, {clamped(0, -limit, 5)}}) == "-2147483648..5");
    CHECK(range({0, {scalar(3)}}) == "refused");
    CHECK(range({0, {clamped(3, 0, i64{1} << 40)}}) == "0..1099511627776");

    CHECK(range({limit, {}}) == std::to_string(limit) + ".." + std::to_string(limit));
    CHECK(range({-limit, {}}) == std::to_string(-limit) + ".." + std::to_string(-limit));
    CHECK(range({limit + 1, {}}) == "refused");
    CHECK(range({-limit - 1, {}}) == "refused");
    CHECK(range({limit, {loop(5)}}) == "refused");
    CHECK(range({-limit, {loop(5, -1)}}) == "refused");
    CHECK(range({limit - 2, {loop(5)}}) != "refused");
    CHECK(range({0, {loop(5, limit)}}) == "refused"); // 2^61
    CHECK(range({0, {loop(5, -limit)}}) == "refused");
    CHECK(range({0, {loop(5, i64{1} << 62)}}) == "refused");          // leaves 64 bits
    CHECK(range({-limit, {clamped(3, -1, limit + 1)}}) == "refused"); // one end alone leaves what can be computed
    CHECK(range({limit, {clamped(3, -limit - 1, 1)}}) == "refused");
    CHECK(range({0, {clamped(3, i64{1} << 62, i64{1} << 62)}}) == "refused");
    CHECK(range({0, {clamped(3, -(i64{1} << 62), 0)}}) == "refused");
}

TEST_CASE("the buffers that an affine expression reads are its scalars") {
    std::vector<int> read = {9};
    add_scalars({0, {loop(5), scalar(4), coordinate({0, 1, 2}), scalar(0)}}, read);
    CHECK(read == std::vector<int>{9, 4, 0});
}

TEST_CASE("types have at least one element a dim, and bytes that 64 bits count") {
    CHECK(type_problem(f32({2, 3})) == "");
    CHECK(type_problem(f32({})) == "");
    CHECK(type_problem(f32({2, 0})) == "the shape (2, 0) has a dim without elements");
    CHECK(type_problem(f32({-1})) == "the shape (-1,) has a dim without elements");
    CHECK(type_problem(f32({i64{1} << 40, i64{1} << 40})) == "the shape's bytes do not fit 64 bits");
    CHECK(type_problem(f32({i64{1} << 61})) == "the shape's bytes do not fit 64 bits"); // the elements would
    CHECK(type_problem({DType::boolean, {i64{1} << 61}, {}}) == "");
}

TEST_CASE("axes are those of the mesh, none twice, and cut where the mesh can be cut") {
    const World world;
    const auto valid = [&world](std::vector<AxisRef> axes) { return valid_axes(world.mesh, axes); };
    CHECK(valid({}));
    CHECK(valid({{1, 1, 12}, {0, 1, 2}}));
    CHECK(valid({{1, 1, 2}, {1, 2, 6}}));
    CHECK(valid({{0, 1, 1}}));
    for (const AxisRef& wrong : {AxisRef{-1, 1, 1}, {2, 1, 1}, {1, 0, 2}, {1, -1, 2}, {1, 1, 0}, {1, 5, 2}, {1, 2, 4}})
        CHECK_FALSE(valid({{0, 1, 2}, wrong}));
    CHECK_FALSE(valid({{0, 1, 2}, {0, 1, 2}}));
    CHECK_FALSE(valid({{1, 1, 4}, {0, 1, 2}, {1, 2, 6}}));
}

TEST_CASE("a sharding splits the shape evenly into the local one") {
    const World world;
    const auto with = [&world](const std::function<void(Sharding&)>& change, Shape local = {12, 4}) {
        Sharding sharding = *parse_sharding(world.mesh, "[data | model:(1)2]");
        change(sharding);
        return sharding_problem(world.mesh, {24, 8}, local, sharding);
    };
    CHECK(with([](Sharding&) {}) == "");
    CHECK(with([](Sharding& s) { s.dims.pop_back(); }) == "the sharding has another number of dims than the shape");
    CHECK(with([](Sharding& s) { s.dims.push_back({}); }) == "the sharding has another number of dims than the shape");
    const std::string axes = "the sharding names axes twice or that the mesh lacks";
    CHECK(with([](Sharding& s) { s.dims[1].axes = s.dims[0].axes; }) == axes);
    CHECK(with([](Sharding& s) { s.partial = {{0, 1, 2}}; }) == axes);
    CHECK(with([](Sharding& s) { s.replicated = {{1, 1, 12}}; }) == axes);
    CHECK(with([](Sharding& s) { s.dims[0].axes[0].axis = 7; }) == axes);
    CHECK(with([](Sharding& s) { s.dims[1].axes = {{1, 1, 12}}; }) == "the sharding does not divide the shape");
    CHECK(with([](Sharding&) {}, {24, 4}) == "the local shape is (24, 4), the sharding gives (12, 4)");
}

namespace {

// A collective over model:(1)4 of a mesh data 2, model 12, from one local type to another.
struct Case {
    std::string kind;
    Collective fields = {};
    TensorType before = f32({8, 12});
    TensorType after = f32({8, 12});
};

std::string problem(Case made, const std::function<void(Case&)>& change = {}) {
    const World world;
    made.fields.def = find_collective(made.kind);
    if (made.fields.axes.empty()) made.fields.axes = {{1, 1, 4}};
    if (change) change(made);
    return collective_problem(world.mesh, made.fields, made.before, made.after);
}

const std::vector<AxisRef> group = {{1, 1, 4}};

Case moving(const std::string& kind, int from, int to, Shape before, Shape after) {
    Case made{kind, {}, f32(std::move(before)), f32(std::move(after))};
    made.fields.moves = {{from, to, group}};
    return made;
}

Case all_reduce() { return {"all_reduce"}; }
Case all_gather() { return moving("all_gather", 0, -1, {2, 12}, {8, 12}); }
Case reduce_scatter() { return moving("reduce_scatter", -1, 0, {8, 12}, {2, 12}); }
Case all_to_all() { return moving("all_to_all", 0, 1, {2, 12}, {8, 3}); }
Case permute() {
    Case made{"collective_permute"};
    made.fields.source_order = {{1, 1, 2}, {1, 2, 2}};
    made.fields.target_order = {{1, 2, 2}, {1, 1, 2}};
    return made;
}
Case pairs() {
    Case made{"collective_permute"};
    made.fields.pairs = {{0, 1}, {1, 0}, {3, 2}};
    return made;
}
Case broadcast() {
    Case made{"broadcast"};
    made.fields.root = 3;
    return made;
}

} // namespace

TEST_CASE("collectives that are right are accepted") {
    for (const Case& made :
         {all_reduce(), all_gather(), reduce_scatter(), all_to_all(), permute(), pairs(), broadcast()})
        CHECK_MESSAGE(problem(made) == "", made.kind);
    CHECK(problem(all_reduce(), [](Case& c) { c.fields.reduce = ReduceOp::max; }) == "");
    CHECK(problem(all_to_all(), [](Case& c) {
              c.fields.moves = {{0, 1, {{1, 1, 2}}}, {1, 0, {{1, 2, 2}}}};
              c.after = c.before; // both dims lose 2 and gain 2
          }) == "");
}

TEST_CASE("a collective's group and moves") {
    CHECK(problem(all_reduce(), [](Case& c) { c.fields.def = nullptr; }) == "a collective without a kind");
    const std::string axes = "the collective names axes twice or that the mesh lacks";
    CHECK(problem(all_reduce(), [](Case& c) { c.fields.axes = {{0, 1, 2}, {0, 1, 2}}; }) == axes);
    CHECK(problem(all_reduce(), [](Case& c) { c.fields.axes = {{9, 1, 2}}; }) == axes);

    const std::string moves = "moves do not go with this kind of collective";
    CHECK(problem(all_reduce(), [](Case& c) { c.fields.moves = {{-1, 0, group}}; }) == moves);
    for (const Case& made : {all_gather(), reduce_scatter(), all_to_all()})
        CHECK(problem(made, [](Case& c) { c.fields.moves.clear(); }) == moves);

    const std::string dims = "a collective's move names the wrong dims";
    const auto move = [](Case made, int from, int to) {
        return problem(std::move(made), [=](Case& c) { c.fields.moves[0].from = from, c.fields.moves[0].to = to; });
    };
    CHECK(move(all_gather(), 0, 1) == dims);
    CHECK(move(all_gather(), -1, -1) == dims);
    CHECK(move(all_gather(), 2, -1) == dims);
    CHECK(move(all_gather(), 0, -2) == dims);
    CHECK(move(reduce_scatter(), 0, 1) == dims);
    CHECK(move(reduce_scatter(), -1, 2) == dims);
    CHECK(move(reduce_scatter(), -2, 0) == dims);
    CHECK(move(all_to_all(), 0, -1) == dims);
    CHECK(move(all_to_all(), -1, 1) == dims);
    CHECK(move(all_to_all(), 1, 1) == dims);

    const std::string moved = "a collective's move names axes twice or that the mesh lacks";
    CHECK(problem(all_gather(), [](Case& c) { c.fields.moves[0].axes.clear(); }) == moved);
    CHECK(problem(all_gather(), [](Case& c) { c.fields.moves[0].axes = {{1, 1, 2}, {1, 1, 2}}; }) == moved);
    CHECK(problem(reduce_scatter(), [](Case& c) {
              c.before = f32({9, 12});
          }) == "dim 0 of size 9 is not split evenly into 4");
    CHECK(problem(all_gather(), [](Case& c) {
              c.before = f32({i64{1} << 62, 12});
          }) == "a collective's result is too large");

    const std::string others = "the moves use other axes than the collective's group";
    CHECK(problem(all_gather(), [](Case& c) { c.fields.axes = {{1, 1, 12}}; }) == others); // more than is moved
    CHECK(problem(all_gather(), [](Case& c) { c.fields.axes = {{0, 1, 2}, {1, 1, 2}}; }) == others); // others, as many
    CHECK(problem(all_gather(), [](Case& c) {                                                        // some twice
              c.fields.moves = {{0, -1, {{1, 1, 2}}}, {1, -1, {{1, 1, 2}}}};
              c.after = f32({4, 24});
          }) == others);
}

TEST_CASE("a collective's orders, pairs, root and reduction") {
    CHECK(problem(all_reduce(), [](Case& c) { c.fields.source_order = group; }) ==
          "orders of axes do not go with this kind of collective");
    CHECK(problem(all_reduce(), [](Case& c) { c.fields.target_order = group; }) ==
          "orders of axes do not go with this kind of collective");
    CHECK(problem(all_reduce(), [](Case& c) {
              c.fields.pairs = {{0, 1}};
          }) == "pairs of ranks do not go with this kind of collective");
    CHECK(problem(permute(), [](Case& c) {
              c.fields.pairs = {{0, 1}};
          }) == "pairs of ranks do not go with this kind of collective");
    CHECK(problem(pairs(), [](Case& c) { c.fields.target_order = group; }) ==
          "an order of axes does not hold the collective's axes");

    for (const std::pair<i64, i64>& pair : {std::pair<i64, i64>{-1, 3}, {4, 3}, {2, -1}, {2, 4}})
        CHECK(problem(pairs(), [&](Case& c) { c.fields.pairs.push_back(pair); }) ==
              "a pair names a rank that the group lacks");
    for (const std::pair<i64, i64>& pair : {std::pair<i64, i64>{0, 3}, {2, 1}})
        CHECK(problem(pairs(), [&](Case& c) { c.fields.pairs.push_back(pair); }) ==
              "two pairs name the same source or destination");

    const std::string order = "an order of axes does not hold the collective's axes";
    CHECK(problem(permute(), [](Case& c) { c.fields.source_order.pop_back(); }) == order);
    CHECK(problem(permute(), [](Case& c) { c.fields.target_order.pop_back(); }) == order);
    CHECK(problem(permute(), [](Case& c) { c.fields.target_order = {{0, 1, 2}, {1, 1, 2}}; }) == order);
    CHECK(problem(permute(), [](Case& c) { c.fields.source_order = {{1, 1, 2}, {1, 1, 2}}; }) == order);

    for (const i64 root : {-1, 4})
        CHECK(problem(broadcast(), [=](Case& c) { c.fields.root = root; }) == "the root is not in the group");
    CHECK(problem(all_reduce(), [](Case& c) { c.fields.root = 1; }) == "the root is not in the group");
    for (const Case& made : {all_gather(), all_to_all(), permute(), broadcast()})
        CHECK(problem(made, [](Case& c) { c.fields.reduce = ReduceOp::max; }) ==
              "a reduction does not go with this kind of collective");
    CHECK(problem(reduce_scatter(), [](Case& c) { c.fields.reduce = ReduceOp::max; }) == "");
}

TEST_CASE("a collective's result is what the kind makes of its operand") {
    CHECK(problem(all_reduce(), [](Case& c) {
              c.after = f32({12, 8});
          }) == "the result is f32 (12, 8), the collective gives f32 (8, 12)");
    CHECK(problem(all_gather(), [](Case& c) { c.after = c.before; }) ==
          "the result is f32 (2, 12), the collective gives f32 (8, 12)");
    CHECK(problem(all_reduce(), [](Case& c) { c.after.dtype = DType::i32; }) ==
          "the result is i32 (8, 12), the collective gives f32 (8, 12)");
    CHECK(problem(all_gather(), [](Case& c) { // each dim fits, and their product does not
              c.before = f32({i64{1} << 57, 8});
              c.after = f32({i64{1} << 59, 8});
          }) == "the shape's bytes do not fit 64 bits");
}

TEST_CASE("only a collective that keeps its blocks where they are runs in place") {
    for (const CollectiveDef* def : all_collectives()) {
        Collective collective;
        collective.def = def;
        CHECK_MESSAGE(can_run_in_place(collective) == (def->name == "all_reduce"), def->name);
    }
    CHECK_FALSE(can_run_in_place(Collective{}));
}

TEST_CASE("aliases lead to the buffer that is allocated, views to the one whose contents they show") {
    std::vector<Buffer> buffers(4);
    buffers[1].alias_of = 0;
    buffers[2].alias_of = 1;
    buffers[2].view = true;
    buffers[3].alias_of = 2;
    buffers[3].view = true;
    CHECK(root_of(buffers, 3) == 0);
    CHECK(contents_of(buffers, 3) == 1);
    CHECK(contents_of(buffers, 1) == 1);
    CHECK(root_of(buffers, 0) == 0);
}
