#include "planner/graph_text/line_details.h"

#include "plans/file/plan_json_kernel.h"
#include "plans/file/plan_json_nouns.h"
#include "plans/file/plan_json_steps.h"

namespace shard {

std::optional<LineDetails> read_details(std::string_view json, const Mesh& mesh, std::string& problem) {
    LineDetails out;
    if (json.empty()) return out;
    const JsonParse parsed = parse_json(json);
    if (!parsed.ok) {
        problem = parsed.problem;
        return std::nullopt;
    }
    Diagnostics diagnostics;
    JsonReport report(diagnostics);
    const JsonAt at(parsed.root, report);
    at.known_keys({"mesh", "role", "of", "stacked", "region", "kept", "on_host", "init", "kernel", "exchange", "op",
                   "scope", "remedy", "reduce", "becomes", "origin", "named"});
    if (at.has("mesh")) out.mesh = read_mesh(at["mesh"]);
    if (at.has("role")) out.role = read_role(at["role"]);
    out.of = at.string("of", "");
    out.stacked = at.small("stacked", 0);
    out.region = at.small("region", -1);
    out.kept = at.flag("kept");
    out.on_host = at.flag("on_host");
    if (at.has("init")) out.init = read_generate(at["init"], mesh);
    if (at.has("kernel")) out.kernel = read_kernel(at["kernel"], mesh);
    if (at.has("exchange")) out.exchange = read_collective(at["exchange"], mesh);
    out.op = at.string("op", "");
    out.scope = at.string("scope", "");
    out.remedy = at.string("remedy", "");
    out.reduce = at.string("reduce", "");
    out.becomes = at.string("becomes", "");
    if (at.has("named")) out.named = at["named"].string();
    out.origin = at.small("origin", -1);
    if (report.ok()) return out;
    problem = diagnostics.all().front().message;
    return std::nullopt;
}

} // namespace shard
