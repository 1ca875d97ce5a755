#include "executor/checkpoint/layer_names.h"

#include "plans/base/index_of.h"
#include "plans/base/parse_number.h"

#include <algorithm>

namespace shard {

namespace {

// As a repeat writes it: "12", not "012".
std::optional<i64> layer_number(std::string_view part) {
    constexpr size_t most_digits = 9;
    if (part.empty() || part.size() > most_digits || (part.size() > 1 && part.front() == '0')) return std::nullopt;
    if (part.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return parse_number<i64>(part);
}

// The numbers at the positions that `others` also has, or that it lacks.
std::vector<i64> numbers_at(const std::vector<i64>& positions, const std::vector<i64>& numbers,
                            const std::vector<i64>& others, bool shared) {
    std::vector<i64> result;
    for (size_t n = 0; n < positions.size(); ++n)
        if (std::binary_search(others.begin(), others.end(), positions[n]) == shared) result.push_back(numbers[n]);
    return result;
}

// Whether the indices, all different, are those of a whole array of these sizes.
bool fill(const std::vector<std::vector<i64>>& indices, const Shape& sizes) {
    for (const std::vector<i64>& index : indices)
        for (size_t d = 0; d < sizes.size(); ++d)
            if (index[d] >= sizes[d]) return false;
    return checked_element_count(sizes) == static_cast<i64>(indices.size());
}

// The sizes of the array whose indices these are.
std::optional<Shape> sizes_of(const std::vector<std::vector<i64>>& indices) {
    Shape sizes(indices.front().size(), 0);
    for (const std::vector<i64>& index : indices)
        for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::max(sizes[d], index[d] + 1);
    return fill(indices, sizes) ? std::optional<Shape>(sizes) : std::nullopt;
}

} // namespace

LayerNames::LayeredName LayerNames::layered_name(const std::string& name) {
    LayeredName result;
    i64 words = 0;
    for (size_t begin = 0; begin <= name.size();) {
        const size_t end = std::min(name.find('.', begin), name.size());
        const std::string_view part = std::string_view(name).substr(begin, end - begin);
        if (const std::optional<i64> number = layer_number(part)) {
            result.positions.push_back(words);
            result.numbers.push_back(*number);
        } else {
            result.words.append(part).append(".");
            ++words;
        }
        begin = end + 1;
    }
    return result;
}

void LayerNames::add(Families& families, const std::string& name) {
    LayeredName layered = layered_name(name);
    families[layered.words][layered.positions].emplace(std::move(layered.numbers), name);
}

std::vector<LayerSource> LayerNames::find(const std::string& name, const Shape& shape,
                                          std::span<const i64> stacked) const {
    const LayeredName wanted = layered_name(name);
    const Families::const_iterator stored = stored_.find(wanted.words);
    if (stored == stored_.end()) return {};
    if (const Family::const_iterator same = stored->second.find(wanted.positions);
        same != stored->second.end() && same->second.contains(wanted.numbers))
        return {{name, {}, {}, {}}};
    std::vector<LayerSource> found;
    for (const auto& [positions, names] : stored->second) {
        std::vector<LayerSource> sources = read_as(wanted, shape, stacked, positions, names);
        if (sources.empty()) continue;
        if (!found.empty()) return {};
        found = std::move(sources);
    }
    return found;
}

std::vector<LayerSource> LayerNames::read_as(const LayeredName& wanted, const Shape& shape,
                                             std::span<const i64> stacked, const Positions& positions,
                                             const Members& names) const {
    // All loops around the wanted tensor, outer first, and which of them the stored tensors are written out for.
    Positions loops(stacked.begin(), stacked.end());
    loops.insert(loops.end(), wanted.positions.begin(), wanted.positions.end());
    std::sort(loops.begin(), loops.end());
    const bool once = std::adjacent_find(loops.begin(), loops.end()) == loops.end();
    if (!once || positions == wanted.positions || stacked.size() > shape.size() ||
        !std::includes(loops.begin(), loops.end(), positions.begin(), positions.end()))
        return {};

    // What the stack has of layers, the plan must have: a part of a deeper model is another model.
    const std::vector<i64> shared = numbers_at(wanted.positions, wanted.numbers, positions, true);
    std::vector<std::vector<i64>> siblings;
    for (const auto& [numbers, planned] : planned_.at(wanted.words).at(wanted.positions))
        if (numbers_at(wanted.positions, numbers, positions, true) == shared)
            siblings.push_back(numbers_at(wanted.positions, numbers, positions, false));
    const std::optional<Shape> sizes = sizes_of(siblings);
    if (!sizes) return {};

    LayerSource part; // of every member alike
    Shape dims;       // of the plan's stack, those that the members are the layers of
    for (size_t fixed = 0; const i64 loop : loops) {
        const size_t dim = index_of(stacked, loop);
        const bool in_plan = dim < stacked.size();
        if (std::binary_search(positions.begin(), positions.end(), loop)) {
            if (in_plan) dims.push_back(shape[dim]);
        } else if (in_plan) {
            part.from.push_back(LayerSource::every);
            part.layers.push_back(shape[dim]);
        } else {
            part.from.push_back(numbers_at(wanted.positions, wanted.numbers, positions, false)[fixed]);
            part.layers.push_back((*sizes)[fixed++]);
        }
    }
    std::vector<LayerSource> sources;
    std::vector<std::vector<i64>> layers;
    for (const auto& [numbers, stored] : names) {
        if (numbers_at(positions, numbers, wanted.positions, true) != shared) continue;
        layers.push_back(numbers_at(positions, numbers, wanted.positions, false));
        LayerSource& source = sources.emplace_back(part);
        source.stored = stored;
        for (size_t next = 0; const i64 loop : stacked) {
            const bool is_layer = std::binary_search(positions.begin(), positions.end(), loop);
            source.to.push_back(is_layer ? layers.back()[next++] : LayerSource::every);
        }
    }
    return fill(layers, dims) ? sources : std::vector<LayerSource>();
}

} // namespace shard
