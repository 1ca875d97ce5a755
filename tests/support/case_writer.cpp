#include "tests/support/case_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

// A whole axis, or with some luck a part of one: {name, pre, size}.
struct Part {
    size_t axis;
    i64 pre, size;
};

Part random_part(CaseWriter& w) {
    Part part{w.choose(w.mesh.size()), 1, 1};
    part.size = w.mesh[part.axis].size;
    if (!w.chance(4)) return part;
    for (i64 factor : {2, 3, 4}) {
        if (part.size % factor != 0 || part.size == factor) continue;
        const bool minor = w.choose(2) == 0;
        part.pre = minor ? factor : 1;
        part.size = minor ? part.size / factor : factor;
        break;
    }
    return part;
}

// Parts that nest, as 2 of 4, or lie side by side may be told apart; halves and thirds of one axis may not.
bool collides(const Part& a, const Part& b) {
    if (a.axis != b.axis) return false;
    return (a.pre == b.pre && a.size == b.size) || (a.pre < b.pre * b.size && b.pre < a.pre * a.size);
}

std::string text(const CaseWriter& w, const Part& part) {
    const CaseAxis& axis = w.mesh[part.axis];
    return part.size == axis.size ? axis.name : fmt::format("{}:({}){}", axis.name, part.pre, part.size);
}

} // namespace

Known CaseWriter::any(const std::function<bool(const Known&)>& fits) {
    std::vector<Known> found;
    for (const Known& value : values)
        if (fits(value)) found.push_back(value);
    return found.empty() ? Known{"", {}} : found[found.size() - 1 - choose(found.size())];
}

Known CaseWriter::emit(const std::string& op, std::vector<i64> shape, std::string dtype, bool exact) {
    std::string name = fmt::format("v{}", next_value);
    if (next_value > 0 && chance(10))
        name = fmt::format("v{}", choose(static_cast<size_t>(next_value)));
    else
        ++next_value;
    graph += fmt::format("  - {}: {{{}}}\n", name, op);
    values.erase(std::remove_if(values.begin(), values.end(), [&](const Known& value) { return value.name == name; }),
                 values.end());
    values.push_back({name, std::move(shape), std::move(dtype), exact});
    return values.back();
}

Known CaseWriter::help(const std::string& op, const Known& like, bool exact) {
    values.push_back({fmt::format("v{}", next_value++), like.shape, like.dtype, exact});
    graph += fmt::format("  - {}: {{{}}}\n", values.back().name, op);
    return values.back();
}

Known CaseWriter::emit_rounded(const std::string& op, std::vector<i64> shape, const std::string& dtype, bool exact) {
    const bool whole = options.integers_only || dtype == "i32" || dtype == "bool";
    return emit(op, std::move(shape), dtype, exact && whole);
}

std::string CaseWriter::floating(const std::string& dtype) const {
    return options.f64_only && (dtype == "f32" || dtype == "bf16") ? "f64" : dtype;
}

Known CaseWriter::tensor(const std::vector<i64>& shape, const std::string& wanted,
                         const std::vector<std::string>& axes) {
    const std::string dtype = floating(wanted);
    const bool param = wanted == "f32" && chance(3);
    const std::string name = fmt::format("{}{}", param ? "w" : "x", next_tensor++);
    std::string text = axes.empty() ? fmt::format("shape: [{}]", fmt::join(shape, ", "))
                                    : fmt::format("axes: [{}]", fmt::join(axes, ", "));
    if (dtype != "f32") text += ", dtype: " + dtype;
    if (axes.empty() ? !chance(4) : chance(3)) text += ", mesh: " + random_spec(*this, shape);
    if (dtype == "i32")
        text += ", init: {randint: {low: 0, high: 8}}";
    else if (dtype != "bool")
        text += ", init: {normal: {stddev: 1.0}}";
    (param ? params : inputs) += fmt::format("  {}: {{{}}}\n", name, text);
    tensors.push_back({name, shape, param ? "params" : "inputs", true});
    values.push_back({name, shape, dtype, true});
    return values.back();
}

i64 elements_of(const std::vector<i64>& shape) {
    i64 count = 1;
    for (i64 size : shape) count *= size;
    return count;
}

bool is_float(const Known& value) { return value.dtype != "i32" && value.dtype != "bool"; }

bool may_split(const CaseWriter& w, i64 size, i64 parts) {
    return size % parts == 0 || (w.options.uneven && parts < 2 * size);
}

std::string random_spec(CaseWriter& w, const std::vector<i64>& shape) {
    std::vector<Part> used;
    std::vector<std::string> dims;
    for (i64 size : shape) {
        std::vector<std::string> axes;
        i64 parts = 1;
        for (size_t tries = w.choose(3); tries > 0; --tries) {
            const Part part = random_part(w);
            const bool taken =
                std::any_of(used.begin(), used.end(), [&](const Part& other) { return collides(part, other); });
            if (taken || !may_split(w, size, parts * part.size)) continue;
            used.push_back(part);
            parts *= part.size;
            axes.push_back(text(w, part));
        }
        const std::string priority = w.chance(8) ? fmt::format("@{}", w.choose(3)) : "";
        const std::string open = w.chance(4) ? "?" : "";
        if (axes.empty())
            dims.push_back(open.empty() ? "~" : fmt::format("\"?{}\"", priority));
        else if (axes.size() == 1)
            dims.push_back(fmt::format("\"{}{}{}\"", axes[0], open, priority));
        else {
            std::string list;
            for (const std::string& axis : axes) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", axis);
            dims.push_back(fmt::format("[{}{}]", list, open.empty() ? "" : ", \"?\""));
        }
    }
    return fmt::format("[{}]", fmt::join(dims, ", "));
}

} // namespace shard
