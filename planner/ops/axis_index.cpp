#include "planner/ops_support/device.h"
#include "planner/ops_support/rule_maker.h"

namespace shard {

namespace {

// As one row of a table of all ranks, of which each device makes its own.
bool is_row(const Attributes& attributes) { return attributes.flag("row", false); }

InferResult infer(const InferContext& context) {
    return InferResult{{make_type(DType::i32, is_row(context.attributes) ? Shape{1} : Shape{})}};
}

bool splits(std::span<const TensorType>, const Attributes& attributes) { return !is_row(attributes); }
std::optional<ValueId> expand(Builder& builder, std::span<const ValueId>, const Attributes& attributes) {
    Chain chain(builder);
    const ValueId row = chain("axis_index", {}, over_same(attributes, {{"row", true}}));
    const ValueId index = chain.ok() ? without_dim(chain, row, 0) : row;
    return chain.ok() ? std::optional(index) : std::nullopt;
}

IndexRule rule(std::span<const TensorType>, std::span<const TensorType>, const Attributes&) {
    RuleMaker maker(0, 1);
    maker.result().push_back({maker.factor(FactorKind::need_replication, 1)});
    return maker.rule();
}

Kernel lower(const LowerContext& context) {
    const i64 n = group_size(context.attributes);
    return Generate{Iota{0}, {n}, {block_start(n, group_axes(context.attributes))}};
}

std::vector<ValueId> meaning(Chain& chain, std::span<const ValueId>, const Attributes& attributes) {
    std::vector<ValueId> ranks;
    for (i64 rank = 0; rank < group_size(attributes); ++rank)
        ranks.push_back(chain("constant", {},
                              attributes_of({{"value", std::vector<double>{static_cast<double>(rank)}},
                                             {"shape", std::vector<i64>{1}},
                                             {"dtype", std::string(name(DType::i32))}})));
    return ranks;
}

} // namespace

const OpDef& op_axis_index() {
    static const DeviceOp device = {DeviceOp::Varying::adds, nullptr, meaning};
    static const OpDef def = [] {
        OpDef made;
        made.name = "axis_index";
        made.doc =
            "In a manual region: the device's index along a mesh axis, or along several, row-major with the last "
            "one fastest.\n{axis_index: i}";
        made.operands = {0, 0};
        made.attributes = {over_attribute()};
        made.subject = "over";
        made.infer = infer;
        made.splits = splits;
        made.expand = expand;
        made.rule = rule;
        made.lower = lower;
        made.device = &device;
        return made;
    }();
    return def;
}

} // namespace shard
