#include "planner/ops_support/scan.h"

namespace shard {

const OpDef& op_cummin() {
    static const OpDef def = scan_op<ScanOp::min>(
        "cummin", "The least of an element and all before it along a dim; NaN from a NaN on.\n{cummin: x, dim: length}",
        scan_extremum_gradient);
    return def;
}

} // namespace shard
