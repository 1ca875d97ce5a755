#include "planner/price/unaligned_rows.h"

#include "planner/price/time_report.h"
#include "plans/base/saturating.h"
#include "plans/kernel/gemm_layout.h"
#include "plans/kernel/kernel_cost.h"
#include "plans/plan/plan_check_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace shard {

namespace {

constexpr double share_that_counts = 0.01; // of the step's FLOPs
constexpr i64 small = 8;                   // a matrix with fewer rows or columns is read once: its bytes bound it

struct Rows {
    i64 flops = 0;      // of the products
    i64 local_size = 0; // of the dim, on a device
    i64 parts = 1;      // that the dim is split into
    DType dtype = DType::f32;
};

class Search {
public:
    Search(const Plan& plan, const Local& local, const ScheduleMap& map, i64 alignment)
        : plan_(plan), local_(local), map_(map), alignment_(alignment) {}

    // By logical axis.
    std::map<std::string, Rows> run() {
        for_each_step(plan_, [&](const Step& step, i64 count) {
            const Compute* const compute = std::get_if<Compute>(&step.variant_ref());
            if (compute == nullptr) return;
            if (const Contract* const contract = std::get_if<Contract>(&*compute->kernel))
                look_at(*compute, *contract, count);
        });
        return std::move(found_);
    }

private:
    void look_at(const Compute& compute, const Contract& contract, i64 count) {
        const int ids[] = {compute.inputs[0], compute.inputs[1], compute.output};
        std::vector<TensorType> types;
        for (const int id : ids) types.push_back(local_type(plan_.buffers[static_cast<size_t>(id)]));
        const GemmLayout gemm = gemm_layout(contract, types[0], types[1], types[2]);
        if (std::min({gemm.m, gemm.n, gemm.k}) < small) return;
        const i64 of_all = multiply_saturating(count, flops(contract, std::span(types).first(2), types[2]));
        std::vector<std::string> named; // an axis counts once for a product
        const auto note = [&](size_t operand) {
            const TensorType& type = types[operand];
            if (byte_size(type.dtype) > 2 || type.shape.empty()) return;
            const i64 size = type.shape.back();
            if (size * byte_size(type.dtype) % alignment_ == 0) return;
            const Value* const value = value_of(ids[operand], type.shape);
            if (value == nullptr || value->type.logical.empty()) return;
            const std::string& axis = value->type.logical.back();
            if (axis.empty() || std::find(named.begin(), named.end(), axis) != named.end()) return;
            named.push_back(axis);
            Rows& rows = found_[axis];
            rows.flops = add_saturating(rows.flops, of_all);
            rows.local_size = size;
            const Shape& whole = value->part->global_shape;
            rows.parts =
                whole.size() == type.shape.size() ? std::max<i64>(1, whole.back() / std::max<i64>(1, size)) : 1;
            rows.dtype = type.dtype;
        };
        for (size_t operand = 0; operand < std::size(ids); ++operand) note(operand);
    }

    // Buffers hold several values, one after the other: the one of this shape says what its dims are called.
    const Value* value_of(int buffer, const Shape& shape) const {
        for (const ValueId id : map_.values[static_cast<size_t>(buffer)]) {
            const Value& value = local_.graph.value(id);
            if (value.type.shape == shape && value.type.logical.size() == shape.size() &&
                !value.type.logical.back().empty())
                return &value;
        }
        return nullptr;
    }

    const Plan& plan_;
    const Local& local_;
    const ScheduleMap& map_;
    i64 alignment_;
    std::map<std::string, Rows> found_;
};

} // namespace

void warn_of_unaligned_rows(const Plan& plan, const Local& local, const ScheduleMap& map, const Model& model,
                            const Hardware& hardware, Diagnostics& diagnostics) {
    if (hardware.row_alignment <= 0) return;
    const double all = static_cast<double>(plan.report.flops_per_device);
    for (const auto& [axis, rows] : Search(plan, local, map, hardware.row_alignment).run()) {
        const double share = static_cast<double>(rows.flops) / all;
        const AxisDecl* const decl = model.find_axis(axis);
        if (decl == nullptr || share < share_that_counts) continue;
        const i64 elements = hardware.row_alignment / byte_size(rows.dtype);
        const i64 next = (rows.local_size + elements - 1) / elements * elements * rows.parts;
        diagnostics
            .warning("W0405", decl->name.span,
                     fmt::format("rows of {} {} are no multiple of {} bytes: products with them are slow on {}",
                                 rows.local_size, name(rows.dtype), hardware.row_alignment, hardware.name))
            .note(fmt::format("{:.0f}% of the step's FLOPs are in such products; the predicted time is that of "
                              "aligned rows",
                              100 * share))
            .help(fmt::format("`{}: {}` is the next size that fits", axis, next));
    }
}

} // namespace shard
