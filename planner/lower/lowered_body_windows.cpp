// Windows over dims that are split: each device takes, or writes, what of the window lies in its own rows.
#include "planner/lower/lowered_body.h"
#include "planner/ops_support/window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

std::string listed(const std::vector<std::string>& names) { return fmt::format("[{}]", fmt::join(names, ", ")); }

std::string mask_along(const std::string& is_here, size_t dim, const Shape& shape) {
    return fmt::format("broadcast: {}, shape: {}, dims: [{}]", is_here, list_text(shape), dim);
}

} // namespace

// The dims of the window, those first along which `whole`, of which a device has a part, is split.
LoweredBody::Windows LoweredBody::windows_of(const Node& node, const Value& whole, const Shape& window, size_t first) {
    Windows windows;
    const std::vector<i64> dims = window_dims(node.attributes(), node.inputs.size(), first);
    for (size_t n = 0; n < dims.size(); ++n) {
        const size_t d = static_cast<size_t>(dims[n]);
        const std::string start = name(node.inputs[first + n]);
        if (whole.part->sharding.dims[d].axes.empty() || window[d] == whole.part->global_shape[d]) {
            windows.plain_dims.push_back(dims[n]);
            windows.plain_starts.push_back(start);
            continue;
        }
        const DType dtype = local_.value(node.inputs[first + n]).type.dtype;
        windows.split.push_back(
            {d, dtype,
             step("start", fmt::format("clamp: {}, min: 0, max: {}", start, whole.part->global_shape[d] - window[d]))});
    }
    return windows;
}

std::string LoweredBody::rows_from(DType dtype, i64 count, const std::string& start) {
    const std::string rows =
        step("rows", fmt::format("iota: ~, shape: [{}], dim: 0, dtype: {}", count, shard::name(dtype)));
    return step("rows", fmt::format("add: [{}, {}]", rows, start));
}

void LoweredBody::write_window(const Node& node) {
    const ValueId result = node.outputs[0];
    const Value &whole = local_.value(node.inputs[0]), &value = local_.value(result);
    const Windows windows = windows_of(node, whole, value.type.shape, 1);
    std::string taken = name(node.inputs[0]);
    Shape shape = whole.type.shape;
    if (!windows.plain_dims.empty()) {
        std::vector<i64> sizes;
        for (i64 dim : windows.plain_dims) sizes.push_back(shape[dim] = value.type.shape[dim]);
        std::vector<std::string> operands = windows.plain_starts;
        operands.insert(operands.begin(), taken);
        taken = step(value.name + ".window", fmt::format("dynamic_slice: {}, dim: {}, size: {}", listed(operands),
                                                         list_text(windows.plain_dims), list_text(sizes)));
    }
    for (const Windows::Split& split : windows.split) {
        const size_t d = split.dim;
        shape[d] = value.type.shape[d];
        const OwnRows own =
            own_rows(value.name, rows_from(split.dtype, shape[d], split.start), split.dtype,
                     whole.part->global_shape[d], whole.type.shape[d], whole.part->sharding.dims[d].axes);
        const std::string found =
            step(value.name + ".found", fmt::format("gather: [{}, {}], dim: {}", taken, own.row, d));
        const std::string text = masked_text(step("mask", mask_along(own.is_here, d, shape)), found, value.type.dtype);
        if (&split == &windows.split.back()) return entry(result, text);
        taken = step(value.name + ".found", text);
    }
}

void LoweredBody::write_window_update(const Node& node) {
    const ValueId result = node.outputs[0];
    const Value &value = local_.value(result), &update = local_.value(node.inputs[1]);
    const Windows windows = windows_of(node, value, update.type.shape, 2);
    // What the update holds for each of the own rows, and whether it holds any.
    std::string written = name(node.inputs[1]), mask;
    Shape shape = update.type.shape;
    for (const Windows::Split& split : windows.split) shape[split.dim] = value.type.shape[split.dim];
    for (const Windows::Split& split : windows.split) {
        const size_t d = split.dim;
        const i64 rows = shape[d], count = update.type.shape[d];
        std::string index = index_text(value.part->sharding.dims[d].axes);
        if (split.dtype != DType::i32)
            index = step("index", fmt::format("cast: {}, dtype: {}", index, shard::name(split.dtype)));
        const std::string first =
            step("first",
                 fmt::format("sub: [{}, {}]", step("first", fmt::format("mul: [{}, {}]", index, rows)), split.start));
        const std::string row = rows_from(split.dtype, rows, first);
        const OwnRows own = among_own("", row, count);
        written = step(update.name + ".rows", fmt::format("gather: [{}, {}], dim: {}", written, own.row, d));
        const std::string here = step("mask", mask_along(own.is_here, d, shape));
        mask = mask.empty() ? here : step("mask", fmt::format("and: [{}, {}]", mask, here));
    }
    std::string before = name(node.inputs[0]);
    if (windows.plain_dims.empty()) return entry(result, fmt::format("select: [{}, {}, {}]", mask, written, before));
    std::vector<i64> sizes;
    for (i64 dim : windows.plain_dims) sizes.push_back(shape[dim]);
    std::vector<std::string> operands = windows.plain_starts;
    operands.insert(operands.begin(), before);
    const std::string dims = list_text(windows.plain_dims);
    before = step(value.name + ".before",
                  fmt::format("dynamic_slice: {}, dim: {}, size: {}", listed(operands), dims, list_text(sizes)));
    operands.insert(operands.begin() + 1,
                    step(update.name + ".rows", fmt::format("select: [{}, {}, {}]", mask, written, before)));
    entry(result, fmt::format("dynamic_update_slice: {}, dim: {}", listed(operands), dims));
}

// The gradient of all that the windows reach, of which the device's own part is kept.
void LoweredBody::write_selected(const Node& node, const SelectWindows& select) {
    const ValueId result = node.outputs[0];
    const Value& value = local_.value(result);
    const std::string all = step(value.name + ".all", fmt::format("{}: {}{}", node.op()->name, operands_text(node),
                                                                  arguments_text(node, value.type.shape)));
    std::vector<i64> limit;
    for (size_t d = 0; d < select.start.size(); ++d) limit.push_back(select.start[d] + value.type.shape[d]);
    entry(result, fmt::format("slice: {}, start: {}, limit: {}", all, list_text(select.start), list_text(limit)));
}

} // namespace shard
