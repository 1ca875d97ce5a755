#include "plans/diagnostics/suggestion.h"

#include "plans/diagnostics/diagnostic.h"

#include <fmt/format.h>

namespace shard {

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates,
                         std::string otherwise) {
    const std::string_view near = nearest(word, candidates);
    return near.empty() ? std::move(otherwise) : fmt::format("did you mean '{}'?", near);
}

} // namespace shard
