#include "planner/pipeline/compilation.h"

namespace shard {

ComputeDecisions& decisions_of(Compilation& c) {
    if (!c.decisions)
        c.decisions =
            std::make_shared<ComputeDecisions>(c.layout->mesh, *c.hardware, c.layout->prefer, c.layout->partitioner);
    return *c.decisions;
}

} // namespace shard
