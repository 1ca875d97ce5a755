#include "plans/sharding/sharding.h"

#include "plans/base/parse_number.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace shard {

namespace {

constexpr std::array<std::string_view, 4> reduce_names = {"sum", "prod", "max", "min"};

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const size_t end = text.find(separator);
        parts.push_back(trim(text.substr(0, end)));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::vector<AxisRef>> parse_axes(const Mesh& mesh, std::string_view text) {
    std::vector<AxisRef> axes;
    for (std::string_view part : split(text, ',')) {
        const std::optional<AxisRef> ref = parse_axis_ref(mesh, part);
        if (!ref) return std::nullopt;
        axes.push_back(*ref);
    }
    return axes;
}

std::optional<DimSharding> parse_dim(const Mesh& mesh, std::string_view text) {
    DimSharding dim;
    if (const size_t at = text.rfind('@'); at != std::string_view::npos) {
        const std::optional<int> priority = parse_number<int>(text.substr(at + 1));
        if (!priority || *priority < 0) return std::nullopt;
        dim.priority = *priority;
        text = text.substr(0, at);
    }
    if (!text.empty() && text.back() == '?') {
        dim.open = true;
        text = trim(text.substr(0, text.size() - 1));
        if (text.empty()) return dim;
    } else if (text == "-") {
        return dim;
    }
    std::optional<std::vector<AxisRef>> axes = parse_axes(mesh, text);
    if (!axes) return std::nullopt;
    dim.axes = std::move(*axes);
    return dim;
}

// One "U{...}" or "R{...}".
bool parse_set(const Mesh& mesh, char kind, std::string_view inside, Sharding& sharding) {
    if (kind == 'U') {
        if (const size_t colon = inside.rfind(':'); colon != std::string_view::npos)
            if (const std::optional<ReduceOp> op = parse_reduce_op(inside.substr(colon + 1))) {
                sharding.reduce = *op;
                inside = inside.substr(0, colon);
            }
    }
    std::optional<std::vector<AxisRef>> axes = parse_axes(mesh, inside);
    if (!axes) return false;
    std::sort(axes->begin(), axes->end());
    (kind == 'U' ? sharding.partial : sharding.replicated) = std::move(*axes);
    return true;
}

bool uses_axes_once(const Sharding& sharding) {
    const std::vector<AxisRef> used = used_axes(sharding);
    for (size_t i = 0; i < used.size(); ++i)
        if (overlaps_any(used[i], std::span(used).first(i))) return false;
    return true;
}

std::string suffix(const DimSharding& dim) {
    return (dim.open ? "?" : "") + (dim.priority > 0 ? fmt::format("@{}", dim.priority) : "");
}

} // namespace

std::string_view name(ReduceOp op) { return reduce_names[static_cast<size_t>(op)]; }

std::optional<ReduceOp> parse_reduce_op(std::string_view text) {
    for (size_t i = 0; i < reduce_names.size(); ++i)
        if (reduce_names[i] == text) return static_cast<ReduceOp>(i);
    return std::nullopt;
}

Sharding open_sharding(int rank) {
    Sharding sharding = replicated_sharding(rank);
    for (DimSharding& dim : sharding.dims) dim.open = true;
    return sharding;
}

Sharding replicated_sharding(int rank) {
    Sharding sharding;
    sharding.dims.resize(rank);
    return sharding;
}

bool is_fully_replicated(const Sharding& sharding) {
    return sharding.partial.empty() && std::all_of(sharding.dims.begin(), sharding.dims.end(),
                                                   [](const DimSharding& dim) { return dim.axes.empty(); });
}

i64 shard_count(const DimSharding& dim) { return total_size(dim.axes); }

std::vector<AxisRef> used_axes(const Sharding& sharding) {
    std::vector<AxisRef> used;
    for (const DimSharding& dim : sharding.dims) used.insert(used.end(), dim.axes.begin(), dim.axes.end());
    used.insert(used.end(), sharding.replicated.begin(), sharding.replicated.end());
    used.insert(used.end(), sharding.partial.begin(), sharding.partial.end());
    return used;
}

bool divides(const Shape& shape, const Sharding& sharding) {
    internal_check(shape.size() == sharding.dims.size(), "sharding of another rank");
    for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] % shard_count(sharding.dims[d]) != 0) return false;
    return true;
}

Shape local_shape(const Shape& shape, const Sharding& sharding) {
    internal_check(divides(shape, sharding), "local shape of dims that do not divide");
    Shape local = shape;
    for (size_t d = 0; d < shape.size(); ++d) local[d] /= shard_count(sharding.dims[d]);
    return local;
}

std::vector<i64> local_start(const Mesh& mesh, const Shape& shape, const Sharding& sharding,
                             std::span<const i64> coordinates) {
    const Shape local = local_shape(shape, sharding);
    std::vector<i64> start(shape.size());
    for (size_t d = 0; d < shape.size(); ++d)
        start[d] = local[d] * linear_coordinate(mesh, coordinates, sharding.dims[d].axes);
    return start;
}

bool same_layout(const Sharding& a, const Sharding& b) {
    if (a.partial != b.partial || a.dims.size() != b.dims.size()) return false;
    if (!a.partial.empty() && a.reduce != b.reduce) return false;
    for (size_t d = 0; d < a.dims.size(); ++d)
        if (a.dims[d].axes != b.dims[d].axes) return false;
    return true;
}

Sharding closed(const Sharding& sharding) {
    Sharding result = sharding;
    result.replicated.clear();
    for (DimSharding& dim : result.dims) {
        dim.open = false;
        dim.priority = 0;
    }
    return result;
}

std::string text(const Mesh& mesh, const Sharding& sharding) {
    std::string result = "[";
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
        const DimSharding& dim = sharding.dims[d];
        if (d > 0) result += " | ";
        result += dim.axes.empty() && !dim.open ? "-" : text(mesh, dim.axes);
        result += suffix(dim);
    }
    result += ']';
    if (!sharding.partial.empty()) {
        const std::string op = sharding.reduce == ReduceOp::sum ? "" : fmt::format(":{}", name(sharding.reduce));
        result += fmt::format(" U{{{}{}}}", text(mesh, sharding.partial), op);
    }
    if (!sharding.replicated.empty()) result += fmt::format(" R{{{}}}", text(mesh, sharding.replicated));
    return result;
}

std::optional<Sharding> parse_sharding(const Mesh& mesh, std::string_view text) {
    text = trim(text);
    const size_t close = text.find(']');
    if (text.empty() || text.front() != '[' || close == std::string_view::npos) return std::nullopt;
    Sharding sharding;
    const std::string_view inside = trim(text.substr(1, close - 1));
    if (!inside.empty())
        for (std::string_view part : split(inside, '|')) {
            std::optional<DimSharding> dim = parse_dim(mesh, part);
            if (!dim) return std::nullopt;
            sharding.dims.push_back(std::move(*dim));
        }
    for (std::string_view rest = trim(text.substr(close + 1)); !rest.empty();) {
        const size_t end = rest.find('}');
        if (end == std::string_view::npos || rest.size() < 2 || rest[1] != '{') return std::nullopt;
        if ((rest[0] != 'U' && rest[0] != 'R') || !parse_set(mesh, rest[0], rest.substr(2, end - 2), sharding))
            return std::nullopt;
        rest = trim(rest.substr(end + 1));
    }
    if (!uses_axes_once(sharding)) return std::nullopt;
    return sharding;
}

std::string spec_text(const Mesh& mesh, const Sharding& sharding) {
    // YAML reads plain `data`, but `?`, `@`, `:` and parentheses are safe only in quotes.
    const auto quoted = [](const std::string& entry) {
        return entry.find_first_of("?@:()") == std::string::npos ? entry : fmt::format("\"{}\"", entry);
    };
    std::string result = "[";
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
        const DimSharding& dim = sharding.dims[d];
        if (d > 0) result += ", ";
        if (dim.axes.empty()) {
            result += dim.open ? quoted(suffix(dim)) : "~";
            continue;
        }
        std::string entries;
        for (size_t a = 0; a < dim.axes.size(); ++a) {
            const bool last = a + 1 == dim.axes.size();
            entries += (a > 0 ? ", " : "") + quoted(text(mesh, dim.axes[a]) + (last ? suffix(dim) : ""));
        }
        result += dim.axes.size() > 1 ? fmt::format("[{}]", entries) : entries;
    }
    return result + "]";
}

} // namespace shard
