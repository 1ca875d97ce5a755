// The texts that the plan was made of, line by line: where the places of the other panels lead.
#include "cli/html/panel.h"

#include "cli/html/words.h"

namespace shard {

namespace {

void draw(Markup& out, const PageData& data) {
    const std::vector<SourceText>& sources = data.plan.sources;
    for (size_t i = 0; i < sources.size(); ++i) {
        if (sources[i].text.empty()) continue; // of places (planner/read/places.h)
        out.leaf("h3", {}, sources[i].name).open("ol", {{"class", "code"}});
        std::string_view rest = sources[i].text;
        for (int line = 1; !rest.empty(); ++line) {
            const std::string_view text = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(rest.size(), text.size() + 1));
            out.leaf("li", {{"id", line_id(i, line)}}, text).line();
        }
        out.close().line();
    }
}

} // namespace

const PanelDef& panel_source_lines() {
    static const PanelDef def = {
        .id = "sources", .title = "Sources", .about = "What the plan was made of.", .order = 8, .draw = draw};
    return def;
}

} // namespace shard
