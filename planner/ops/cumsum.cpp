#include "planner/ops_support/scan.h"

namespace shard {

namespace {

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    return {chain("cumsum", {context.cotangent},
                  attributes_of({{"dim", context.attributes.integers("dim")},
                                 {"reverse", !context.attributes.flag("reverse", false)}}))};
}

} // namespace

const OpDef& op_cumsum() {
    static const OpDef def = [] {
        OpDef made = scan_op<ScanOp::sum>(
            "cumsum", "The sum of an element and all before it along a dim.\n{cumsum: x, dim: length}", gradient);
        made.linear_in = {0};
        return made;
    }();
    return def;
}

} // namespace shard
