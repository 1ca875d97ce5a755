// The panels of a page: each draws one thing of a plan and is one file: cli/panels/<name>.cpp defines
// `const PanelDef& panel_<name>()`. They show figures of the plan, its report and its course, and compute none; without
// the script of the page they are complete.
#pragma once

#include "cli/html/markup.h"
#include "cli/report/report.h"
#include "planner/explain/course.h"

namespace shard {

struct PageData {
    const Plan& plan;
    std::span<const When> when; // by collective
    const Compilation& compilation;
    const Sources& sources; // of it
    const PlanRequest& request;
    Course course;
};

struct PanelDef {
    std::string_view id;                     // of its section
    std::string_view title = {}, about = {}; // a panel without a title has no heading and no link to it
    int order = 0;
    void (*draw)(Markup&, const PageData&) = nullptr;
};

const std::vector<const PanelDef*>& all_panels(); // by order

} // namespace shard
