#include "executor/run/declared_at.h"

namespace shard {

Span declared_at(const Plan& plan, std::string_view tensor) {
    for (const TensorReport& report : plan.report.tensors) {
        if (report.name != tensor || report.source.line == 0) continue;
        for (size_t i = 0; i < plan.sources.size(); ++i)
            if (plan.sources[i].name == report.source.file)
                return {static_cast<int>(i), report.source.line, report.source.column, static_cast<int>(tensor.size())};
    }
    return {};
}

} // namespace shard
