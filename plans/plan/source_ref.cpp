#include "plans/plan/source_ref.h"

#include <fmt/format.h>

namespace shard {

SourceRef source_ref(const Sources& sources, const Span& span) {
    if (!span.known() || span.file >= sources.count()) return {};
    return {sources.name(span.file), span.line, span.column};
}

std::string text(const SourceRef& source) {
    return source.line > 0 ? fmt::format("{}:{}", source.file, source.line) : std::string();
}

} // namespace shard
