#include "executor/layer_names.h"

#include <algorithm>
#include <charconv>

namespace shard {

namespace {

struct LayeredName {
    std::string words; // each with a dot behind it
    std::vector<i64> positions, numbers;
};

// As a repeat writes it: "12", not "012".
std::optional<i64> layer_number(std::string_view part) {
    constexpr size_t most_digits = 9;
    if (part.empty() || part.size() > most_digits || (part.size() > 1 && part.front() == '0')) return std::nullopt;
    if (part.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    i64 number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    return number;
}

LayeredName layered_name(const std::string& name) {
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

void LayerNames::add(Families& families, const std::string& name) {
    LayeredName layered = layered_name(name);
    families[layered.words][layered.positions].emplace(std::move(layered.numbers), name);
}

std::vector<LayerSource> LayerNames::find(const std::string& name, const Shape& shape) const {
    const LayeredName wanted = layered_name(name);
    const Families::const_iterator stored = stored_.find(wanted.words);
    if (stored == stored_.end()) return {};
    if (const Family::const_iterator same = stored->second.find(wanted.positions);
        same != stored->second.end() && same->second.contains(wanted.numbers))
        return {{name, {}, {}, {}}};
    std::vector<LayerSource> found;
    for (const auto& [positions, names] : stored->second) {
        if (positions == wanted.positions) continue;
        const std::vector<i64> shared = numbers_at(wanted.positions, wanted.numbers, positions, true);
        const auto is_of = [&shared](const std::vector<i64>& at, const std::vector<i64>& numbers,
                                     const std::vector<i64>& others) {
            return numbers_at(at, numbers, others, true) == shared;
        };
        std::vector<LayerSource> sources;
        std::vector<std::vector<i64>> layers;
        for (const auto& [numbers, stored_name] : names) {
            if (!is_of(positions, numbers, wanted.positions)) continue;
            layers.push_back(numbers_at(positions, numbers, wanted.positions, false));
            sources.push_back(
                {stored_name, numbers_at(wanted.positions, wanted.numbers, positions, false), layers.back(), {}});
        }
        if (sources.empty()) continue;
        // What the stack has of layers, the plan must have: a part of a deeper model is another model.
        std::vector<std::vector<i64>> siblings;
        if (const Families::const_iterator planned = planned_.find(wanted.words); planned != planned_.end())
            if (const auto same = planned->second.find(wanted.positions); same != planned->second.end())
                for (const auto& [numbers, planned_name] : same->second)
                    if (is_of(wanted.positions, numbers, positions))
                        siblings.push_back(numbers_at(wanted.positions, numbers, positions, false));
        const size_t stacked = layers.front().size();
        const std::optional<Shape> sizes = siblings.empty() ? std::nullopt : sizes_of(siblings);
        if (!sizes || shape.size() < stacked ||
            !fill(layers, Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(stacked))))
            continue;
        for (LayerSource& source : sources) source.layers = *sizes;
        if (!found.empty()) return {};
        found = std::move(sources);
    }
    return found;
}

} // namespace shard
