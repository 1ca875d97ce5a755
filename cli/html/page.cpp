#include "cli/html/page.h"

#include "cli/html/frame.h"
#include "cli/html/panel.h"
#include "cli/html/words.h"
#include "cli/report/nouns.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

void write_heading(Markup& out, const Plan& plan) {
    out.open("header").leaf("h1", {}, plan.model);
    out.open("p").text(plan.mode + ", on ");
    write_axes(out, plan.mesh, mesh_text(plan.mesh));
    if (!plan.report.hardware.empty()) out.text(", " + plan.report.hardware);
    out.close().open("nav", {{"aria-label", "panels"}});
    for (const PanelDef* panel : all_panels())
        if (!panel->title.empty()) out.leaf("a", {{"href", fmt::format("#{}", panel->id)}}, panel->title).text(" ");
    out.close().close().line();
}

} // namespace

std::string plan_html(const PlanPayload& payload) {
    internal_check(payload.made_by.compilation != nullptr, "a page without the compilation that it shows");
    const PlanOrigin& made_by = payload.made_by;
    const PageData data{*payload.plan,    payload.when,     *made_by.compilation,
                        *made_by.sources, *made_by.request, course_of(*made_by.compilation)};
    return framed_page(fmt::format("{}, {}: shardc", data.plan.model, data.plan.mode), [&data](Markup& out) {
        write_heading(out, data.plan);
        out.open("main").line();
        for (const PanelDef* panel : all_panels()) {
            out.open("section", {{"id", panel->id}});
            if (!panel->title.empty()) out.leaf("h2", {}, panel->title).leaf("p", {{"class", "about"}}, panel->about);
            panel->draw(out.line(), data);
            out.close().line();
        }
        out.close();
    });
}

} // namespace shard
