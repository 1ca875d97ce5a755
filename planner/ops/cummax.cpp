#include "planner/ops_support/scan.h"

namespace shard {

const OpDef& op_cummax() {
    static const OpDef def = scan_op<ScanOp::max>(
        "cummax",
        "The largest of an element and all before it along a dim; NaN from a NaN on.\n{cummax: x, dim: length}",
        scan_extremum_gradient);
    return def;
}

} // namespace shard
