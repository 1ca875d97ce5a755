#include "importer/program/given_names.h"

#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

namespace shard {

namespace {

bool fits(const GivenAxes& given, const NamedArgument& argument, const Draft& draft, Diagnostics& diagnostics) {
    const Shape& shape = draft.type(argument.value).shape;
    if (given.axes.size() == shape.size()) return true;
    diagnostics
        .error("E0811", given.span,
               fmt::format("'{}' names {} dims, and {} has the shape {}", given.pattern, given.axes.size(),
                           argument.path, list_text(shape)))
        .help("name each dim, or write ~ for one without a name; of several patterns that match the last counts");
    return false;
}

void no_match(const GivenAxes& given, const std::vector<NamedArgument>& arguments, Diagnostics& diagnostics) {
    std::vector<std::string_view> paths;
    for (const NamedArgument& argument : arguments) paths.push_back(argument.path);
    diagnostics.error("E0811", given.span, fmt::format("'{}' matches no argument of the program", given.pattern))
        .help(did_you_mean(given.pattern, paths,
                           "`import --names FILE` writes the paths of all arguments; * stops at dots, ** does not"));
}

} // namespace

std::optional<NamesByArray> given_names(const std::vector<GivenAxes>& given,
                                        const std::vector<NamedArgument>& arguments, const Draft& draft,
                                        Diagnostics& diagnostics) {
    std::vector<bool> is_used(given.size(), false);
    std::map<DraftId, size_t> chosen;
    for (size_t n = 0; n < given.size(); ++n)
        for (const NamedArgument& argument : arguments)
            if (given[n].matches(argument.path)) is_used[n] = true, chosen[argument.value] = n;
    bool is_sound = true;
    for (size_t n = 0; n < given.size(); ++n)
        if (!is_used[n]) no_match(given[n], arguments, diagnostics), is_sound = false;
    NamesByArray names;
    std::map<std::string, const NamedArgument*> first; // that has a name
    std::map<std::string, i64> sizes;
    for (const NamedArgument& argument : arguments) {
        const std::map<DraftId, size_t>::const_iterator it = chosen.find(argument.value);
        if (it == chosen.end()) continue;
        const GivenAxes& own = given[it->second];
        if (!fits(own, argument, draft, diagnostics)) {
            is_sound = false;
            continue;
        }
        for (size_t d = 0; d < own.axes.size(); ++d) {
            const i64 size = draft.type(argument.value).shape[d];
            if (own.axes[d].empty()) continue;
            first.try_emplace(own.axes[d], &argument);
            if (sizes.try_emplace(own.axes[d], size).first->second == size) continue;
            diagnostics
                .error("E0811", own.span,
                       fmt::format("axis '{}' is {} long in {}, and {} in {}", own.axes[d], size, argument.path,
                                   sizes.at(own.axes[d]), first.at(own.axes[d])->path))
                .help("dims of two sizes have two names, as heads and kv_heads");
            is_sound = false;
        }
        names[argument.value] = own.axes;
    }
    return is_sound ? std::optional<NamesByArray>(std::move(names)) : std::nullopt;
}

} // namespace shard
