// Pages of plans, for tests.
#pragma once

#include "cli/html/page.h"
#include "planner/pipeline/pipeline.h"

namespace shard {

struct HtmlPage {
    Sources sources;
    PlanRequest request;
    Compilation compilation;
    std::vector<When> when;

    HtmlPage(const std::string& model, const std::string& layout, const std::string& mode);
    const Plan& plan() const { return *compilation.plan; }
    std::string html() const { return html(plan()); }
    // Of a plan that is like the compilation's but for its names.
    std::string html(const Plan& plan) const;
};

// The panel alone.
std::string section(const std::string& html, const std::string& id);
i64 count(const std::string& text, const std::string& word);
std::string file_text(const std::string& path); // below the source folder

// Empty if every element is closed in its order and every '&' begins an entity, as in XML; else what is wrong.
std::string markup_problem(const std::string& html);

} // namespace shard
