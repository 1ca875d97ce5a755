#include "exporter/stablehlo/hlo_contract.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

bool holds(const std::vector<int>& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}
i64 place(const std::vector<int>& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

std::string pair_of(std::string_view word, const std::vector<int>& labels, const Contract& kernel) {
    std::vector<i64> lhs, rhs;
    for (int label : labels) {
        lhs.push_back(place(kernel.lhs, label));
        rhs.push_back(place(kernel.rhs, label));
    }
    return fmt::format(", {} = {} x {}", word, hlo_list(lhs), hlo_list(rhs));
}

} // namespace

HloValue hlo_contract(const Contract& kernel, const HloValues& inputs, const HloValue& output, HloOps& ops) {
    std::vector<int> batch, summed, made; // the labels of the product: batch, then lhs's own, then rhs's own
    for (int label : kernel.out)
        if (holds(kernel.lhs, label) && holds(kernel.rhs, label)) batch.push_back(label);
    for (int label : kernel.lhs)
        if (holds(kernel.rhs, label) && !holds(kernel.out, label)) summed.push_back(label);
    made = batch;
    for (const std::vector<int>* labels : {&kernel.lhs, &kernel.rhs})
        for (int label : *labels)
            if (!holds(batch, label) && !holds(summed, label)) made.push_back(label);
    std::vector<i64> order; // of the result's dims in the product
    for (int label : kernel.out) order.push_back(place(made, label));
    Shape shape(order.size());
    for (size_t d = 0; d < order.size(); ++d) shape[static_cast<size_t>(order[d])] = output.shape[d];

    const bool truth = output.dtype == DType::boolean; // "or of and": whether a sum of ones is not 0
    const DType inside = truth ? DType::i32 : computed_as(inputs[0].dtype);
    HloValues operands = inputs;
    if (truth)
        for (HloValue& operand : operands) operand = ops.convert(operand, inside);
    // Without batching_dims there are none; the others must be written, also where nothing is summed.
    std::string dims =
        (batch.empty() ? "" : pair_of("batching_dims", batch, kernel)) + pair_of("contracting_dims", summed, kernel);
    // Products of f32 in f32, as planned, also where a device has something faster.
    if (is_floating(operands[0].dtype) && operands[0].dtype == inside) dims += ", precision = [HIGHEST, HIGHEST]";
    const HloValue product = ops.op("stablehlo.dot_general", operands, dims, inside, shape);
    const HloValue placed = ops.transpose(product, order);
    if (!truth) return ops.convert(placed, output.dtype);
    return ops.pointwise("stablehlo.compare NE,", {placed, ops.constant(0, inside, output.shape)}, DType::boolean);
}

} // namespace shard
