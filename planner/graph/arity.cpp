#include "planner/graph/arity.h"

#include "plans/base/units.h"

#include <fmt/format.h>

namespace shard {

std::string arity_text(const OpDef::Arity& arity) {
    if (arity.max < 0) return fmt::format("{} or more operands", arity.min);
    if (arity.min == arity.max) return counted(arity.min, "operand");
    return fmt::format("{} to {} operands", arity.min, arity.max);
}

bool check_arity(std::string_view op, const OpDef::Arity& arity, size_t given, std::string_view doc, Span span,
                 Diagnostics& diagnostics) {
    const int count = static_cast<int>(given);
    if (count >= arity.min && (arity.max < 0 || count <= arity.max)) return true;
    const size_t example = doc.find('\n');
    DiagnosticBuilder error = diagnostics.error(
        "E0221", span,
        fmt::format("'{}' takes {}, but {} {} given", op, arity_text(arity), count, count == 1 ? "is" : "are"));
    if (example != std::string_view::npos) error.help(fmt::format("for example {}", doc.substr(example + 1)));
    return false;
}

} // namespace shard
