#include "planner/graph_text/collective_words.h"

#include "plans/base/parse_number.h"

namespace shard {

namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view between) {
    std::vector<std::string_view> parts;
    for (size_t at = text.find(between); at != std::string_view::npos; at = text.find(between)) {
        parts.push_back(text.substr(0, at));
        text.remove_prefix(at + between.size());
    }
    parts.push_back(text);
    return parts;
}

std::optional<std::vector<AxisRef>> read_axes(const Mesh& mesh, std::string_view text) {
    std::vector<AxisRef> axes;
    for (std::string_view part : split(text, ",")) {
        const std::optional<AxisRef> axis = parse_axis_ref(mesh, part);
        if (!axis) return std::nullopt;
        axes.push_back(*axis);
    }
    return axes;
}

// "dim 0"
std::optional<int> read_dim(std::string_view text) {
    constexpr std::string_view word = "dim ";
    return text.starts_with(word) ? parse_number<int>(text.substr(word.size())) : std::nullopt;
}

bool read_move(std::string_view text, Collective& collective) {
    AxisMove move;
    const std::vector<std::string_view> ends = split(text, " -> ");
    const std::optional<int> first = read_dim(ends.front()), last = read_dim(ends.back());
    if (ends.size() > 2 || !first || !last) return false;
    (ends.size() == 2 || collective.def->uses.from ? move.from : move.to) = *first;
    if (ends.size() == 2) move.to = *last;
    collective.moves.push_back(std::move(move));
    return true;
}

bool read_pair(std::string_view text, Collective& collective) {
    const std::vector<std::string_view> ends = split(text, " -> ");
    const std::optional<i64> source = parse_number<i64>(ends.front()), target = parse_number<i64>(ends.back());
    if (ends.size() != 2 || !source || !target) return false;
    collective.pairs.emplace_back(*source, *target);
    return true;
}

bool read_places(const Mesh& mesh, std::string_view places, Collective& collective) {
    if (places.starts_with("dim ")) {
        for (std::string_view part : split(places, ", "))
            if (!read_move(part, collective)) return false;
        for (size_t m = 0; m < collective.moves.size(); ++m)
            if (collective.moves.size() == 1)
                collective.moves[m].axes = collective.axes;
            else if (collective.moves.size() == collective.axes.size())
                collective.moves[m].axes = {collective.axes[m]};
        return true;
    }
    if (!places.empty() && places[0] >= '0' && places[0] <= '9') {
        for (std::string_view part : split(places, ", "))
            if (!read_pair(part, collective)) return false;
        return true;
    }
    const std::vector<std::string_view> orders = split(places, " -> ");
    if (orders.size() != 2) return false;
    const std::optional<std::vector<AxisRef>> source = read_axes(mesh, orders[0]), target = read_axes(mesh, orders[1]);
    if (!source || !target) return false;
    collective.source_order = *source;
    collective.target_order = *target;
    return true;
}

} // namespace

std::optional<Collective> parse_collective(const Mesh& mesh, std::string_view words) {
    constexpr std::string_view over = " over ", open = " (";
    Collective collective;
    const size_t name_end = words.find(over);
    if (name_end == std::string_view::npos) return std::nullopt;
    collective.def = find_collective(words.substr(0, name_end));
    if (collective.def == nullptr) return std::nullopt;
    words.remove_prefix(name_end + over.size());
    const size_t axes_end = words.find(open);
    const std::optional<std::vector<AxisRef>> axes = read_axes(mesh, words.substr(0, axes_end));
    if (!axes) return std::nullopt;
    collective.axes = *axes;
    if (axes_end == std::string_view::npos) return collective;
    words.remove_prefix(axes_end + open.size());
    if (!words.ends_with(')')) return std::nullopt;
    words.remove_suffix(1);
    return read_places(mesh, words, collective) ? std::optional(collective) : std::nullopt;
}

} // namespace shard
