#include "executor/checkpoint/stored_names.h"

#include "executor/checkpoint/layer_names.h"
#include "plans/base/checked.h"
#include "plans/base/index_of.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

bool is_name(std::string_view text) {
    for (const char c : text) {
        const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!fits) return false;
    }
    return !text.empty() && (text[0] < '0' || text[0] > '9');
}

constexpr i64 largest_number = 1'000'000'000;

std::optional<i64> small_number(std::string_view text) {
    const std::optional<i64> number = parse_number<i64>(std::string(text));
    return number && *number >= 0 && *number <= largest_number ? number : std::nullopt;
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const size_t end = std::min(text.find(' '), text.size());
        if (end > 0) words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

// "(heads kv) embed"
std::optional<std::vector<std::vector<std::string>>> parse_dims(std::string_view text) {
    std::string spaced;
    for (const char c : text) spaced += c == '(' || c == ')' ? fmt::format(" {} ", c) : std::string(1, c);
    std::vector<std::vector<std::string>> dims;
    bool joined = false;
    for (const std::string& word : words_of(spaced)) {
        if (word == "(" || word == ")") {
            if (joined == (word == "(") || (joined && dims.back().empty())) return std::nullopt;
            joined = !joined;
            if (joined) dims.emplace_back();
        } else if (!is_name(word)) {
            return std::nullopt;
        } else if (joined) {
            dims.back().push_back(word);
        } else {
            dims.push_back({word});
        }
    }
    return joined ? std::nullopt : std::optional(dims);
}

// "layer", "layer_2", ...: of the loops around a parameter, outer first.
std::string loop_variable(size_t loop) { return loop == 0 ? "layer" : fmt::format("layer_{}", loop + 1); }

// Moves on to the next index below the sizes; false after the last.
bool advance(std::vector<i64>& index, const Shape& sizes) {
    for (size_t d = index.size(); d > 0; --d) {
        if (++index[d - 1] < sizes[d - 1]) return true;
        index[d - 1] = 0;
    }
    return false;
}

} // namespace

std::optional<NameTemplate> NameTemplate::parse(std::string_view text, std::string& problem) {
    NameTemplate made;
    for (size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{')) {
        const size_t close = text.find('}', open);
        std::string_view inside = text.substr(open + 1, close == std::string_view::npos ? close : close - open - 1);
        Number number;
        number.before = text.substr(0, open);
        std::optional<i64> times = 1, plus = 0;
        if (const size_t star = inside.find('*'); star != std::string_view::npos) {
            times = small_number(inside.substr(0, star));
            inside.remove_prefix(star + 1);
        }
        if (const size_t sign = inside.find('+'); sign != std::string_view::npos) {
            plus = small_number(inside.substr(sign + 1));
            inside = inside.substr(0, sign);
        }
        if (close == std::string_view::npos || !is_name(inside) || !times || !plus) {
            problem = "in braces stands a name, which may be multiplied and added to: {layer}, {2*layer+1}";
            return std::nullopt;
        }
        number.times = *times;
        number.plus = *plus;
        number.variable = inside;
        made.variables_.emplace_back(inside);
        made.numbers_.push_back(std::move(number));
        text.remove_prefix(close + 1);
    }
    made.rest_ = text;
    return made;
}

std::string NameTemplate::fill(const std::map<std::string, i64>& numbers) const {
    std::string text;
    for (const Number& number : numbers_)
        text += number.before + std::to_string(number.times * numbers.at(number.variable) + number.plus);
    return text + rest_;
}

std::optional<Rearrangement> Rearrangement::parse(std::string_view text, std::map<std::string, StoredRange> parts,
                                                  std::string& problem) {
    const size_t arrow = text.find("->");
    const auto stored = parse_dims(text.substr(0, arrow));
    const auto param = arrow == std::string_view::npos ? std::nullopt : parse_dims(text.substr(arrow + 2));
    if (!stored || !param) {
        problem = "expected \"STORED -> PARAMETER\", dims by names, joined ones in parentheses: "
                  "\"(heads kv) embed -> embed heads kv\"";
        return std::nullopt;
    }
    Rearrangement made;
    made.stored = *stored;
    std::set<std::string> seen, in_param;
    for (const std::vector<std::string>& dim : *param) {
        if (dim.size() != 1) {
            problem = "dims are joined in what is stored alone";
            return std::nullopt;
        }
        made.param.push_back(dim[0]);
        if (!in_param.insert(dim[0]).second) problem = fmt::format("'{}' stands twice behind the arrow", dim[0]);
    }
    for (const std::vector<std::string>& dim : *stored)
        for (const std::string& name : dim) {
            if (!seen.insert(name).second) problem = fmt::format("'{}' stands twice before the arrow", name);
            if (!in_param.contains(name) && !parts.contains(name))
                problem =
                    fmt::format("'{}' does not stand behind the arrow, and no `part` says which of it is meant", name);
        }
    for (const auto& [name, range] : parts)
        if (!seen.contains(name))
            problem = fmt::format("`part` names '{}', which does not stand before the arrow", name);
    made.parts = std::move(parts);
    return problem.empty() ? std::optional(made) : std::nullopt;
}

std::string path_without_layers(const std::string& param) {
    std::string words = LayerNames::layered_name(param).words;
    words.pop_back();
    return words;
}

namespace {

// The strides of a parameter's dims, its own sizes given, in what is stored.
struct StoredLayout {
    std::map<std::string, i64> strides;
    i64 skipped = 0;
    Shape shape;
};

std::optional<StoredLayout> layout_of(const Rearrangement& rearrangement, const std::map<std::string, i64>& sizes,
                                      std::string& problem) {
    StoredLayout layout;
    i64 stride = 1;
    for (size_t d = rearrangement.stored.size(); d > 0; --d) {
        i64 size = 1;
        const std::vector<std::string>& joined = rearrangement.stored[d - 1];
        for (size_t j = joined.size(); j > 0; --j) {
            const std::string& name = joined[j - 1];
            const auto own = sizes.find(name);
            i64 there = own == sizes.end() ? 1 : own->second;
            if (const auto part = rearrangement.parts.find(name); part != rearrangement.parts.end()) {
                if (part->second.start + there > part->second.of) {
                    problem = fmt::format("{} of '{}' from {} on are more than {}", there, name, part->second.start,
                                          part->second.of);
                    return std::nullopt;
                }
                layout.skipped += part->second.start * stride * size;
                there = part->second.of;
            }
            layout.strides[name] = stride * size;
            const std::optional<i64> product = checked_multiply(size, there);
            const std::optional<i64> whole = product ? checked_multiply(stride, *product) : std::nullopt;
            if (!whole || *whole > (i64{1} << 60)) {
                problem = "what would be stored is too large";
                return std::nullopt;
            }
            size = *product;
        }
        layout.shape.insert(layout.shape.begin(), size);
        stride *= size;
    }
    return layout;
}

// As it is: the checkpoint's dims are the parameter's.
Rearrangement identity(size_t rank) {
    Rearrangement made;
    for (size_t d = 0; d < rank; ++d) {
        made.param.push_back(fmt::format("dim{}", d));
        made.stored.push_back({made.param.back()});
    }
    return made;
}

} // namespace

std::optional<std::vector<StoredSource>>
find_stored(const StoredNames& names, const std::string& param, const Shape& shape, std::span<const i64> stacked,
            const std::function<std::string(const std::vector<std::string>&)>& choose, std::string& problem) {
    const LayerNames::LayeredName layered = LayerNames::layered_name(param);
    const auto found = names.tensors.find(path_without_layers(param));
    if (found == names.tensors.end() || stacked.size() > shape.size()) return std::vector<StoredSource>();
    const StoredName& name = found->second;

    const size_t rank = shape.size() - stacked.size();
    const Rearrangement rearrangement = name.rearrangement.value_or(identity(rank));
    if (rearrangement.param.size() != rank) {
        problem = fmt::format("it has {} dims, and {} stand behind the arrow", rank, rearrangement.param.size());
        return std::nullopt;
    }
    std::map<std::string, i64> sizes;
    std::vector<bool> is_numbered(rank, true); // dims that the stored array lacks: it is of one entry
    for (size_t d = 0; d < rank; ++d) sizes[rearrangement.param[d]] = shape[stacked.size() + d];
    const std::optional<StoredLayout> layout = layout_of(rearrangement, sizes, problem);
    if (!layout) return std::nullopt;
    for (size_t d = 0; d < rank; ++d) is_numbered[d] = !layout->strides.contains(rearrangement.param[d]);

    // The loops around the parameter, outer first: dims of the stack, or numbers in its path.
    std::vector<i64> loops(stacked.begin(), stacked.end());
    loops.insert(loops.end(), layered.positions.begin(), layered.positions.end());
    std::sort(loops.begin(), loops.end());
    std::map<std::string, i64> numbers;
    std::vector<std::string> counted; // variables that the arrays are counted by
    std::vector<size_t> dims;         // and the parameter's dims of them
    Shape counts;
    for (size_t n = 0; n < loops.size(); ++n) {
        if (const size_t dim = index_of(stacked, loops[n]); dim < stacked.size()) {
            counted.push_back(loop_variable(n));
            dims.push_back(dim);
        } else {
            numbers[loop_variable(n)] = layered.numbers[index_of(layered.positions, loops[n])];
        }
    }
    for (size_t d = 0; d < rank; ++d) {
        if (!is_numbered[d]) continue;
        counted.push_back(rearrangement.param[d]);
        dims.push_back(stacked.size() + d);
    }
    for (const size_t dim : dims) counts.push_back(shape[dim]);
    for (const NameTemplate& from : name.from) {
        for (const std::string& variable : from.variables())
            if (!numbers.contains(variable) && index_of(counted, variable) == counted.size())
                problem = fmt::format("{{{}}} is neither a layer nor a dim that is not stored", variable);
        for (const std::string& variable : counted)
            if (index_of(from.variables(), variable) == from.variables().size())
                problem = fmt::format("its name there lacks {{{}}}", variable);
    }
    if (!problem.empty()) return std::nullopt;
    if (checked_element_count(counts).value_or(largest_number) >= largest_number) {
        problem = "it is made of too many arrays";
        return std::nullopt;
    }

    std::vector<StoredSource> sources;
    std::vector<i64> index(dims.size(), 0);
    if (std::find(counts.begin(), counts.end(), 0) != counts.end()) return sources;
    do {
        for (size_t n = 0; n < counted.size(); ++n) numbers[counted[n]] = index[n];
        std::vector<std::string> candidates;
        for (const NameTemplate& from : name.from) candidates.push_back(from.fill(numbers));
        StoredSource source{choose(candidates),
                            std::vector<i64>(shape.size(), 0),
                            shape,
                            std::vector<i64>(shape.size(), 0),
                            layout->skipped,
                            layout->shape};
        for (size_t d = 0; d < rank; ++d)
            if (!is_numbered[d]) source.strides[stacked.size() + d] = layout->strides.at(rearrangement.param[d]);
        for (size_t n = 0; n < dims.size(); ++n) {
            source.start[dims[n]] = index[n];
            source.shape[dims[n]] = 1;
        }
        sources.push_back(std::move(source));
    } while (advance(index, counts));
    return sources;
}

} // namespace shard
