#include "planner/model/sharding_checks.h"

#include "planner/model/names.h"
#include "planner/model/rules.h"
#include "plans/base/division.h"
#include "plans/base/parse_number.h"
#include "plans/base/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr i64 divisor_search = 100'000; // candidates tried on each side of the wanted number of parts

std::string_view axis_name(std::string_view axis) { return axis.substr(0, axis.find(':')); }

std::string array_text(const CheckedArray& array) {
    return array.name.empty() ? std::string("the array") : fmt::format("'{}'", array.name);
}

// "model (4)" or "data x model (2 x 4)"
std::string axes_text(const Mesh& mesh, const std::vector<AxisRef>& axes) {
    std::vector<std::string> names;
    std::vector<i64> sizes;
    for (const AxisRef& axis : axes) {
        names.push_back(text(mesh, axis));
        sizes.push_back(axis.size);
    }
    return fmt::format("{} ({})", fmt::join(names, " x "), fmt::join(sizes, " x "));
}

// The numbers of parts nearest to `parts`, at most and at least, that divide `size`.
std::vector<i64> nearby_divisors(i64 size, i64 parts) {
    std::vector<i64> found;
    for (i64 n = std::min(parts, size); n > 1 && n > parts - divisor_search; --n)
        if (size % n == 0) {
            found.push_back(n);
            break;
        }
    for (i64 n = parts + 1; n <= size && n < parts + divisor_search; ++n)
        if (size % n == 0) {
            found.push_back(n);
            break;
        }
    return found;
}

Divisibility choice_for(const DivisibilityDecl& choices, const CheckedArray& array, size_t d) {
    return choices.of(d < array.type->logical.size() ? array.type->logical[d] : "");
}

bool check_dim_divides(const Mesh& mesh, const DimSharding& dim, size_t d, const CheckedArray& array, Span cause,
                       bool may_pad, Diagnostics& diagnostics) {
    const i64 parts = shard_count(dim);
    const i64 size = array.type->shape[d];
    if (size % parts == 0) return true;
    DiagnosticBuilder error =
        diagnostics.error("E0313", cause,
                          fmt::format("{} of {} has size {}, which does not divide into {} parts over {}",
                                      dim_text(d, array.type->logical.empty() ? "" : array.type->logical[d]),
                                      array_text(array), size, parts, axes_text(mesh, dim.axes)));
    if (array.span.known() && !(array.span == cause)) error.label(array.span, "declared here");
    const i64 below = size / parts * parts;
    i64 above = 0;
    if (__builtin_add_overflow(below, parts, &above)) above = 0;
    if (below > 0 && above > 0)
        error.note(fmt::format("sizes that divide into {} parts: {} and {}", parts, below, above));
    else
        error.note(fmt::format("the next size that divides into {} parts: {}", parts, std::max(below, above)));
    const std::vector<i64> divisors = nearby_divisors(size, parts);
    if (divisors.empty())
        error.note(fmt::format("a dim of size {} divides into no number of parts near {}", size, parts));
    else
        error.note(fmt::format("a dim of size {} divides into {} parts", size, fmt::join(divisors, " or ")));
    error.help(may_pad ? "choose other axes for this dim, leave it whole (~), or pad it (`divisibility: pad`)"
                       : "choose other axes for this dim, leave it whole (~), or pad it");
    return false;
}

} // namespace

std::vector<Span> dim_spans(const ShardingSpec& spec) {
    std::vector<Span> spans;
    for (const DimSpec& dim : spec.dims) spans.push_back(dim.span);
    return spans;
}

ShardingSpec without_missing_axes(const Mesh& mesh, ShardingSpec spec) {
    for (DimSpec& dim : spec.dims)
        std::erase_if(dim.axes, [&](const std::string& axis) { return !mesh.find(axis_name(axis)); });
    std::erase_if(spec.replicated, [&](const std::string& axis) { return !mesh.find(axis_name(axis)); });
    return spec;
}

bool check_spec_axes(const Mesh& mesh, const ShardingSpec& spec, Diagnostics& diagnostics) {
    bool good = true;
    for (const DimSpec& dim : spec.dims)
        for (const std::string& axis : dim.axes) {
            if (parse_axis_ref(mesh, axis)) continue;
            good = false;
            const std::string_view whole = axis_name(axis);
            if (const std::optional<int> known = mesh.find(whole)) {
                diagnostics
                    .error("E0316", dim.span,
                           fmt::format("the sub-axis '{}' does not fit the axis '{}' of size {}", axis, whole,
                                       mesh.whole(*known).size))
                    .help("name:(pre)size needs pre * size to divide the axis, and to be a true part of it");
                continue;
            }
            DiagnosticBuilder error =
                diagnostics.error("E0316", dim.span, fmt::format("unknown mesh axis '{}'", whole));
            suggest_axis(error, whole, mesh);
        }
    return good;
}

std::optional<Sharding> spec_sharding(const Mesh& mesh, const ShardingSpec& spec, const CheckedArray& array,
                                      Diagnostics& diagnostics) {
    if (spec.dims.size() != array.type->shape.size()) {
        DiagnosticBuilder error = diagnostics.error(
            "E0312", spec.span,
            fmt::format("the sharding has {}, {} has {} {}",
                        spec.dims.size() == 1 ? "1 entry" : fmt::format("{} entries", spec.dims.size()),
                        array_text(array), counted(static_cast<i64>(array.type->shape.size()), "dim"),
                        shape_text(array.type->shape)));
        if (array.span.known() && !(array.span == spec.span)) error.label(array.span, "declared here");
        return std::nullopt;
    }
    Sharding sharding;
    std::vector<AxisRef> used;
    for (const DimSpec& dim : spec.dims) {
        DimSharding& made = sharding.dims.emplace_back();
        made.open = dim.open;
        made.priority = dim.priority;
        for (const std::string& axis : dim.axes) {
            const std::optional<AxisRef> ref = parse_axis_ref(mesh, axis);
            internal_check(ref.has_value(), "a sharding's axes are checked first");
            if (overlaps_any(*ref, used)) {
                diagnostics
                    .error("E0311", dim.span,
                           fmt::format("mesh axis '{}' is used twice in the sharding of {}", axis, array_text(array)))
                    .help("an axis splits one dim only");
                return std::nullopt;
            }
            used.push_back(*ref);
            append_axis(made.axes, *ref);
        }
    }
    for (const std::string& axis : spec.replicated) sharding.replicated.push_back(*parse_axis_ref(mesh, axis));
    std::sort(sharding.replicated.begin(), sharding.replicated.end());
    return sharding;
}

std::vector<std::vector<AxisRef>> drop_uneven(const Mesh& mesh, const DivisibilityDecl& choices, Sharding& sharding,
                                              const CheckedArray& array, const std::vector<Span>& causes,
                                              Diagnostics& diagnostics) {
    std::vector<std::vector<AxisRef>> dropped(sharding.dims.size());
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
        if (choice_for(choices, array, d) != Divisibility::drop) continue;
        DimSharding& dim = sharding.dims[d];
        const i64 size = array.type->shape[d];
        const std::vector<AxisRef> asked = dim.axes;
        while (size % shard_count(dim) != 0) {
            dropped[d].insert(dropped[d].begin(), dim.axes.back());
            dim.axes.pop_back();
        }
        if (dropped[d].empty()) continue;
        DiagnosticBuilder warning = diagnostics.warning(
            "W0310", causes[d],
            fmt::format("{} of {} has size {}, which does not divide over {}: {}",
                        dim_text(d, array.type->logical.empty() ? "" : array.type->logical[d]), array_text(array), size,
                        axes_text(mesh, asked),
                        dim.axes.empty() ? "it stays whole"
                                         : fmt::format("it is split over {} alone", axes_text(mesh, dim.axes))));
        if (array.span.known() && !(array.span == causes[d])) warning.label(array.span, "declared here");
        warning.help("`divisibility: drop` asks for this; `pad` splits the dim");
    }
    return dropped;
}

void warn_of_empty_parts(const Mesh& mesh, const DivisibilityDecl& choices, const Sharding& sharding,
                         const CheckedArray& array, const std::vector<Span>& causes, Diagnostics& diagnostics) {
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
        if (choice_for(choices, array, d) != Divisibility::pad) continue;
        const i64 size = array.type->shape[d], parts = shard_count(sharding.dims[d]);
        const i64 used = ceil_div(size, ceil_div(size, parts));
        if (used == parts) continue;
        DiagnosticBuilder warning = diagnostics.warning(
            "W0311", causes[d],
            fmt::format("{} of {} has size {}, which leaves {} of {} parts over {} with padding alone",
                        dim_text(d, array.type->logical.empty() ? "" : array.type->logical[d]), array_text(array), size,
                        parts - used, parts, axes_text(mesh, sharding.dims[d].axes)));
        if (array.span.known() && !(array.span == causes[d])) warning.label(array.span, "declared here");
        warning.help(fmt::format("{} parts would hold as much each; choose other axes for this dim", used));
    }
}

bool check_divides(const Mesh& mesh, const Sharding& sharding, const CheckedArray& array,
                   const std::vector<Span>& causes, Diagnostics& diagnostics, const DivisibilityDecl* choices) {
    bool good = true;
    for (size_t d = 0; d < sharding.dims.size(); ++d)
        if (choices == nullptr || choice_for(*choices, array, d) != Divisibility::pad)
            good =
                check_dim_divides(mesh, sharding.dims[d], d, array, causes[d], choices != nullptr, diagnostics) && good;
    return good;
}

std::optional<UndividedDim> undivided_dim(const Diagnostic& diagnostic) {
    if (diagnostic.code != "E0313") return std::nullopt;
    const std::string_view message = diagnostic.message;
    const auto number_after = [message](std::string_view words) {
        const size_t at = message.find(words);
        if (at == std::string_view::npos) return std::optional<i64>();
        const std::string_view rest = message.substr(at + words.size());
        return parse_number<i64>(rest.substr(0, rest.find_first_of(", ")));
    };
    const std::optional<i64> size = number_after(" has size "), parts = number_after(" does not divide into ");
    if (!size || !parts || *parts < 1) return std::nullopt;
    const size_t open = message.find('('), of = message.find(" of ");
    const std::string_view logical =
        open < of ? message.substr(open + 1, message.find(')', open) - open - 1) : std::string_view();
    return UndividedDim{std::string(logical), *size, *parts};
}

} // namespace shard
