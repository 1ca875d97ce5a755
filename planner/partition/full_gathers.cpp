#include "planner/partition/full_gathers.h"

#include "planner/redistribute/xla_detour.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

namespace shard {

void warn_of_full_gathers(const Local& local, const Graph& graph, const Mesh& mesh, const Hardware& hardware,
                          Diagnostics& diagnostics) {
    std::set<std::tuple<int, int, int, std::string>> seen; // a module that is repeated says it once
    for (const FullGather& gather : local.full_gathers) {
        const Value& value = graph.value(gather.value);
        const Span span = gather.node < 0 ? value.span : graph.node(gather.node).span;
        const std::string way = fmt::format("{} to {}", text(mesh, gather.from), text(mesh, gather.to));
        if (!seen.insert({span.file, span.line, span.column, way}).second) continue;
        const i64 bytes = reshard_as_xla(mesh, hardware, value.type, gather.from, gather.to).wire_bytes_total;
        DiagnosticBuilder warning =
            diagnostics.warning("W0403", span, fmt::format("XLA gathers all of '{}' on every device", value.name));
        warning.note(fmt::format("no step of its partitioner leads from {}; it logs \"Involuntary full "
                                 "rematerialization\", and all devices send {} bytes",
                                 way, bytes));
        if (const std::optional<XlaDetour> detour = xla_detour(mesh, hardware, value.type, gather.from, gather.to))
            warning.help(fmt::format("constrain it on the way: {{constrain: {}, mesh: {}}}; then they send {} bytes",
                                     value.name, spec_text(mesh, detour->through), detour->wire_bytes_total));
    }
}

} // namespace shard
