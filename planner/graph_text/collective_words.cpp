#include "planner/graph_text/collective_words.h"

#include <charconv>

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

template<class Integer>
bool read_integer(std::string_view text, Integer& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
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
bool read_dim(std::string_view text, int& dim) {
    constexpr std::string_view word = "dim ";
    return text.starts_with(word) && read_integer(text.substr(word.size()), dim);
}

bool read_move(std::string_view text, Collective& collective) {
    AxisMove move;
    const std::vector<std::string_view> ends = split(text, " -> ");
    int dim = -1;
    if (ends.size() > 2 || !read_dim(ends[0], dim)) return false;
    (ends.size() == 2 || collective.def->uses.from ? move.from : move.to) = dim;
    if (ends.size() == 2 && !read_dim(ends[1], move.to)) return false;
    collective.moves.push_back(std::move(move));
    return true;
}

bool read_pair(std::string_view text, Collective& collective) {
    const std::vector<std::string_view> ends = split(text, " -> ");
    std::pair<i64, i64> pair;
    if (ends.size() != 2 || !read_integer(ends[0], pair.first) || !read_integer(ends[1], pair.second)) return false;
    collective.pairs.push_back(pair);
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
