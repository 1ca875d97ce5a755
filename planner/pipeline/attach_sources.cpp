#include "planner/pipeline/attach_sources.h"

#include <algorithm>

namespace shard {

void attach_sources(Plan& plan, const Sources& sources, std::span<const int> files, const Diagnostics& diagnostics) {
    plan.sources.clear();
    for (int file : files)
        plan.sources.push_back({sources.name(file), sources.text(file), digest_of(sources.text(file))});
    plan.report.diagnostics = diagnostics.all();
    for (Diagnostic& diagnostic : plan.report.diagnostics)
        for (Label& label : diagnostic.labels) {
            const std::span<const int>::iterator it = std::find(files.begin(), files.end(), label.span.file);
            label.span.file = it == files.end() ? -1 : static_cast<int>(it - files.begin());
        }
}

} // namespace shard
