#include "exporter/stablehlo/hlo_ragged.h"

#include "exporter/stablehlo/hlo_contract.h"
#include "exporter/stablehlo/hlo_reduce.h"

#include <numeric>

namespace shard {

namespace {

// Of (batch..., rows, groups), whether the row is in the group.
HloValue membership(const RaggedContract& kernel, const HloValue& given, i64 rows, i64 groups, HloBody& body) {
    HloOps& ops = body.ops();
    const i64 dim = static_cast<i64>(given.shape.size()) - 1;
    const HloValue sizes = ops.convert(given, DType::i64);
    HloValue counts = ops.pointwise("stablehlo.maximum", {sizes, ops.constant(0, DType::i64, sizes.shape)});
    if (groups != sizes.shape.back()) { // a device may have groups behind the last one, without rows
        const std::vector<i64> none(sizes.shape.size(), 0);
        std::vector<i64> behind = none;
        behind.back() = groups;
        counts = ops.pad(counts, ops.constant(0, DType::i64), none, behind, none);
    }
    const HloValue ends = hlo_scan(Scan{static_cast<int>(dim), ScanOp::sum, false}, {counts}, counts, ops);
    const HloValue begins = ops.pointwise("stablehlo.subtract", {ends, counts});
    Shape own = given.shape, shape = given.shape;
    own.back() = groups;
    shape.back() = rows;
    shape.push_back(groups);
    std::vector<i64> along(given.shape.size());
    std::iota(along.begin(), along.end(), i64{0});
    along.back() = dim + 1;
    const auto here = [&](const HloValue& all) {
        if (groups == given.shape.back()) return ops.broadcast(all, along, shape);
        HloValues starts;
        for (i64 d = 0; d < dim; ++d) starts.push_back(ops.constant(0, DType::i64));
        starts.push_back(body.affine(kernel.group));
        return ops.broadcast(ops.dynamic_slice(all, starts, own), along, shape);
    };
    const HloValue from = here(begins), to = here(ends);
    HloValue row = ops.iota(dim, DType::i64, shape);
    if (kernel.row != Affine{}) row = ops.pointwise("stablehlo.add", {row, ops.filled(body.affine(kernel.row), shape)});
    const HloValue after = ops.pointwise("stablehlo.compare GE,", {row, from}, DType::boolean);
    return ops.pointwise("stablehlo.and", {after, ops.less({row, to})});
}

} // namespace

HloValue hlo_ragged(const RaggedContract& kernel, const HloValues& inputs, const HloValue& output, HloBody& body) {
    HloOps& ops = body.ops();
    const bool of_rows = kernel.part == RaggedPart::rows;
    const HloValue& lhs = inputs[0];
    const Shape& matrices = of_rows ? inputs[1].shape : output.shape;
    const size_t batch = lhs.shape.size() - 2, own = matrices.size() - 3;
    const i64 rows = lhs.shape[batch], groups = matrices[own];
    Shape shape(lhs.shape.begin(), lhs.shape.end() - 1);
    shape.insert(shape.end(), {groups, lhs.shape.back()});
    const HloValue member = membership(kernel, inputs[2], rows, groups, body);
    std::vector<i64> of_member(batch + 2), of_lhs(batch + 2);
    std::iota(of_member.begin(), of_member.end(), i64{0});
    std::iota(of_lhs.begin(), of_lhs.end(), i64{0});
    of_lhs.back() = static_cast<i64>(batch) + 2;
    const HloValue chosen = ops.broadcast(member, of_member, shape), repeated = ops.broadcast(lhs, of_lhs, shape);
    const HloValue masked = ops.pointwise("stablehlo.select", {chosen, repeated, ops.constant(0, lhs.dtype, shape)});

    // Labels: the batch dims by their numbers, then these.
    const int row = static_cast<int>(batch), group = row + 1, k = row + 2, n = row + 3;
    std::vector<int> all(batch);
    std::iota(all.begin(), all.end(), 0);
    const auto with = [](std::vector<int> labels, std::initializer_list<int> more) {
        labels.insert(labels.end(), more);
        return labels;
    };
    const std::vector<int> last(all.end() - static_cast<std::ptrdiff_t>(own), all.end());
    Contract contract;
    contract.lhs = with(all, {row, group, k});
    contract.rhs = !of_rows            ? with(all, {row, n})
                   : kernel.transposed ? with(last, {group, n, k})
                                       : with(last, {group, k, n});
    contract.out = of_rows ? with(all, {row, n}) : with(last, {group, k, n});
    return hlo_contract(contract, {masked, inputs[1]}, output, ops);
}

} // namespace shard
