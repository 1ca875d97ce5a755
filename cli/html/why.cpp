#include "cli/html/why.h"

#include "cli/html/words.h"
#include "cli/report/nouns.h"
#include "planner/explain/explanation.h"
#include "plans/base/units.h"
#include "plans/plan/source_ref.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

void write_dims(Markup& out, const Plan& plan, const std::vector<DimReason>& dims) {
    out.open("ul");
    for (const DimReason& dim : dims) {
        if (dim.axes.empty()) out.leaf("li", {}, dim.name + ": " + dim.whole);
        for (const AxisReason& reason : dim.axes) {
            out.open("li").text(dim.name + " over ");
            write_axes(out, plan.mesh, text(plan.mesh, reason.axis));
            for (size_t i = 0; i < reason.chain.size(); ++i) {
                const Because& because = reason.chain[i];
                out.text((i == 0 ? ": " : ", then ") + because.words);
                if (because.source.line > 0) out.text(" ");
                write_place(out, plan, because.source, text(because.source));
                if (!because.excerpt.empty()) out.text(" ").leaf("code", {}, because.excerpt);
            }
            out.close();
        }
    }
    out.close().line();
}

void write_ways(Markup& out, const Plan& plan, const WaysThere& there) {
    out.open("table");
    write_head(out,
               {fmt::format("from {} to {}", sharding_text(plan.mesh, there.from), sharding_text(plan.mesh, there.to)),
                "steps", "-sent, all together", "-time"});
    out.open("tbody");
    for (size_t i = 0; i < there.ways.size(); ++i) {
        const Redistribution& way = there.ways[i];
        out.open("tr").leaf("td", {}, i == 0 ? "chosen" : "next best");
        out.open("td");
        write_axes(out, plan.mesh, fmt::format("{}", fmt::join(step_words(plan.mesh, way), ", then ")));
        out.close();
        write_number(out, human_bytes(way.wire_bytes_total), static_cast<double>(way.wire_bytes_total));
        write_number(out, human_seconds(way.seconds), way.seconds);
        out.close();
    }
    out.close().close().line();
}

} // namespace

void write_why(Markup& out, const PageData& data, const TensorReport& tensor) {
    const Explanation why = explain_as_planned(data.compilation, data.sources, tensor);
    out.open("details").leaf("summary", {}, "why " + tensor.name + " is split so, and the other ways");
    write_dims(out, data.plan, why.dims);
    for (const WaysThere& there : why.ways) write_ways(out, data.plan, there);
    out.close().line();
}

} // namespace shard
