#include "cli/diagnostics/noted_places.h"

#include "plans/base/parse_number.h"

#include <algorithm>

namespace shard {

std::vector<Label> noted_places(const Placed& placed) {
    std::vector<Label> places;
    for (const std::string_view note : placed.diagnostic->notes) {
        const size_t colon = note.rfind(':');
        if (colon == std::string_view::npos || !note.ends_with(')')) continue;
        const std::optional<int> line = parse_number<int>(note.substr(colon + 1, note.size() - colon - 2));
        for (int file = 0; file < placed.sources->count() && line && *line > 0; ++file) {
            const std::string before = " (" + placed.sources->name(file);
            if (!note.substr(0, colon).ends_with(before)) continue;
            const std::string_view text = placed.sources->line(file, *line);
            const size_t first = std::min(text.find_first_not_of(' '), text.size());
            places.push_back({{file, *line, static_cast<int>(first) + 1, static_cast<int>(text.size() - first)},
                              std::string(note.substr(0, colon - before.size()))});
            break;
        }
    }
    return places;
}

} // namespace shard
