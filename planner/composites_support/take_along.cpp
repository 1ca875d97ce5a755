#include "planner/composites_support/take_along.h"

namespace shard {

ValueId take_along(Chain& chain, ValueId x, ValueId positions, i64 dim) {
    std::vector<i64> batch;
    for (i64 d = 0; d < chain.type(x).rank(); ++d)
        if (d != dim) batch.insert(batch.end(), {d, d});
    Attributes attributes = attributes_of({{"dim", std::vector<i64>{dim}}});
    if (!batch.empty()) attributes.set("batch", std::move(batch));
    return chain("gather", {x, positions}, std::move(attributes));
}

} // namespace shard
