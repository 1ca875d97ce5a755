#include "planner/graph/builder.h"
#include "planner/graph/chain.h"
#include "planner/graph/node_classes.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

class Classes {
public:
    ValueId input(Shape shape, DType dtype = DType::f32) {
        Value value;
        value.name = builder_.unique_name("x", "#");
        value.type = {dtype, shape, std::vector<std::string>(shape.size())};
        return builder_.add_input(std::move(value));
    }
    ValueId add(std::string_view op, std::vector<ValueId> operands, Attributes attributes = {}) {
        return builder_.emit(op, std::move(operands), std::move(attributes)).value();
    }
    // Of what makes each value.
    std::vector<int> of(const std::vector<ValueId>& values) const {
        const NodeClasses classes(graph_);
        std::vector<int> found;
        for (const ValueId id : values) found.push_back(classes.class_of(graph_.value(id).producer));
        return found;
    }

private:
    Graph graph_;
    Diagnostics diagnostics_;
    Builder builder_{graph_, diagnostics_};
};

} // namespace

TEST_CASE("nodes are of one class where op, attributes and types are equal, whatever they read") {
    Classes c;
    const ValueId x = c.input({4, 8}), y = c.input({4, 8}), narrow = c.input({4, 8}, DType::bf16),
                  wide = c.input({8, 4});
    const ValueId first = c.add("add", {x, y});
    const std::vector<ValueId> made = {first, c.add("add", {first, x}), c.add("sub", {x, y}),
                                       c.add("add", {narrow, narrow}), c.add("add", {wide, wide})};
    CHECK(c.of(made) == std::vector<int>{0, 0, 1, 2, 3});
}

TEST_CASE("attributes tell classes apart by every bit") {
    Classes c;
    const ValueId x = c.input({4, 4});
    const auto number = [&](double value) {
        return c.add("constant", {},
                     attributes_of({{"value", std::vector<double>{value}},
                                    {"shape", std::vector<i64>{4}},
                                    {"dtype", std::string("f32")}}));
    };
    const auto sum = [&](i64 dim) {
        return c.add("reduce_sum", {x}, attributes_of({{"dims", std::vector<i64>{dim}}}));
    };
    CHECK(c.of({number(0.0), number(-0.0), number(0.0), sum(0), sum(1), sum(0)}) == std::vector<int>{0, 1, 0, 2, 3, 2});
}

} // namespace shard
