#include "planner/explain/course.h"

namespace shard {

Course course_of(const Compilation& compilation) {
    const Plan& plan = *compilation.plan;
    const std::vector<Content> contents =
        contents_of_buffers(*compilation.graph, *compilation.local, compilation.schedule);
    return {step_time(plan, *compilation.hardware), memory_use(plan, contents)};
}

} // namespace shard
