// Equations of triangular matrices, solved by the inverse, which is made block by block: of
//
//     A 0           A^-1             0
//     C D    it is  -D^-1 C A^-1  D^-1
//
// from blocks of one number on, all blocks of a size at once: log2(n) times twice as large ones, instead of n rows one
// after the other as LAPACK has them. Of matrices that are far from singular both round alike; near those the inverse is
// less exact, and it is multiplied by all of b: an infinity there makes its whole column no numbers.
#include "importer/model/op_context.h"
#include "importer/model/transposed.h"

#include <fmt/format.h>

namespace shard {

namespace {

struct Triangular {
    bool is_left = true;  // a x = b, else x a = b
    bool is_lower = true; // what is on the other side of the diagonal is not looked at
    bool is_transposed = false;
    bool is_unit = false; // nor is the diagonal, which is 1
};

class Inverse {
public:
    // Of a lower triangle (..., size, size).
    Inverse(Draft& draft, DraftId a, bool is_unit)
        : draft_(draft), dtype_(draft.type(a).dtype), batch_(draft.type(a).shape), a_(a), is_unit_(is_unit) {
        batch_.resize(batch_.size() - 2);
        size_ = draft.type(a).shape.back();
        while (whole_ < size_) whole_ *= 2;
    }

    DraftId run() {
        if (whole_ > size_) {
            const i64 first = std::ssize(batch_), more = whole_ - size_;
            a_ = draft_.add("pad", {a_},
                            fmt::format(", dim: [{}, {}], low: [0, 0], high: [{}, {}]", first, first + 1, more, more),
                            {dtype_, with({whole_, whole_})});
        }
        DraftId blocks = of_diagonal();
        for (i64 size = 1; size < whole_; size *= 2) blocks = doubled(blocks, size);
        DraftId inverse = draft_.reshape(blocks, with({whole_, whole_}));
        for (const i64 dim : {std::ssize(batch_), std::ssize(batch_) + 1}) inverse = part(inverse, dim, 0, size_);
        return inverse;
    }

private:
    Shape with(std::initializer_list<i64> last) const {
        Shape shape = batch_;
        shape.insert(shape.end(), last);
        return shape;
    }

    // Places from `begin` on along a dim, as many as `size`.
    DraftId part(DraftId of, i64 dim, i64 begin, i64 size) {
        DraftType type = draft_.type(of);
        if (type.shape[static_cast<size_t>(dim)] == size) return of;
        type.shape[static_cast<size_t>(dim)] = size;
        return draft_.add("slice", {of}, fmt::format(", dim: [{}], start: [{}], limit: [{}]", dim, begin, begin + size),
                          type);
    }

    DraftId counted(i64 size) {
        const DraftId count = draft_.literal("iota", fmt::format("[{}]", size), {}, {}, {DType::i32, {size}});
        draft_.mark_count(count);
        return count;
    }

    // Over the last dims of a shape.
    DraftId last_of(DraftId value, const Shape& shape) {
        const i64 own = std::ssize(draft_.type(value).shape);
        std::vector<i64> dims;
        for (i64 d = std::ssize(shape) - own; d < std::ssize(shape); ++d) dims.push_back(d);
        return draft_.broadcast(value, shape, dims);
    }

    // Of (..., n, rows, n, columns) the blocks (..., n, rows, columns) of the diagonal. What is elsewhere may be anything.
    DraftId on_diagonal(DraftId of, i64 count, i64 rows, i64 columns) {
        if (count == 1) return draft_.reshape(of, with({1, rows, columns}));
        const DraftId place = counted(count);
        const DraftType pairs = {DType::boolean, {count, 1, count, 1}},
                        all = {dtype_, with({count, rows, count, columns})};
        const DraftId is_on = draft_.pointwise(
            "eq", {draft_.broadcast(place, pairs.shape, {0}), draft_.broadcast(place, pairs.shape, {2})}, pairs);
        const DraftId alone = draft_.pointwise("select", {last_of(is_on, all.shape), of, draft_.number(all, {})}, all);
        return draft_.add("reduce_sum", {alone}, fmt::format(", dims: [{}]", std::ssize(batch_) + 2),
                          {dtype_, with({count, rows, columns})});
    }

    // (..., n, 1, 1)
    DraftId of_diagonal() {
        const DraftType type = {dtype_, with({whole_, 1, 1})};
        const DraftId one = draft_.number(type, {1, 0});
        if (is_unit_) return draft_.entry_for(one);
        DraftId diagonal = on_diagonal(draft_.reshape(a_, with({whole_, 1, whole_, 1})), whole_, 1, 1);
        if (whole_ > size_) {
            const DraftType column = {DType::boolean, {whole_, 1, 1}};
            const DraftId is_given = draft_.pointwise("lt",
                                                      {draft_.broadcast(counted(whole_), column.shape, {0}),
                                                       draft_.number({DType::i32, column.shape}, {0, size_})},
                                                      column);
            diagonal = draft_.pointwise("select", {last_of(is_given, type.shape), diagonal, one}, type);
        }
        return draft_.pointwise("div", {one, diagonal}, type);
    }

    // Of the inverses of blocks, those of blocks of twice their size.
    DraftId doubled(DraftId blocks, i64 size) {
        const i64 count = whole_ / (2 * size), first = std::ssize(batch_);
        const Shape small = with({count, size, size});
        const DraftId pairs = draft_.reshape(blocks, with({count, 2, size, size}));
        const DraftId upper = draft_.reshape(part(pairs, first + 1, 0, 1), small),
                      lower = draft_.reshape(part(pairs, first + 1, 1, 1), small);
        DraftId between = draft_.reshape(a_, with({count, 2, size, count, 2, size}));
        between = part(part(between, first + 1, 1, 1), first + 4, 0, 1);
        between = on_diagonal(draft_.reshape(between, with({count, size, count, size})), count, size, size);
        between = draft_.pointwise("neg", {product(product(lower, between), upper)}, {dtype_, small});
        const DraftId rows[] = {beside(upper, draft_.entry_for(draft_.number({dtype_, small}, {})), first + 2),
                                beside(between, lower, first + 2)};
        return beside(rows[0], rows[1], first + 1);
    }

    DraftId beside(DraftId a, DraftId b, i64 dim) {
        DraftType type = draft_.type(a);
        type.shape[static_cast<size_t>(dim)] *= 2;
        return draft_.add("concatenate", {a, b}, fmt::format(", dim: {}", dim), type);
    }

    DraftId product(DraftId a, DraftId b) {
        std::string batch;
        for (size_t d = 0; d < batch_.size() + 1; ++d) batch += static_cast<char>('a' + d);
        return draft_.literal("einsum", fmt::format("\"{0}xy,{0}yz->{0}xz\"", batch), {a, b}, {}, draft_.type(a));
    }

    Draft& draft_;
    DType dtype_;
    Shape batch_;
    DraftId a_;
    bool is_unit_;
    i64 size_ = 0, whole_ = 1; // with rows added up to a power of two
};

DraftId turned(Draft& draft, DraftId value) { // its last two dims
    std::vector<i64> order;
    for (i64 d = 0; d < std::ssize(draft.type(value).shape); ++d) order.push_back(d);
    std::swap(order[order.size() - 2], order.back());
    return transposed(draft, value, std::move(order));
}

bool solve(OpContext& context, const Triangular& form) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 2 && context.op.results.size() == 1,
                                 "takes 2 operands and has one result"))
        return false;
    const DraftType a = context.type(0), b = context.type(1);
    const size_t rank = a.shape.size();
    bool fits = rank >= 2 && b.shape.size() == rank && a.dtype == b.dtype && *type == b && is_floating(a.dtype);
    for (size_t d = 0; fits && d + 2 < rank; ++d) fits = a.shape[d] == b.shape[d];
    fits =
        fits && a.shape[rank - 1] == a.shape[rank - 2] && a.shape[rank - 1] == b.shape[rank - (form.is_left ? 2 : 1)];
    if (!context.expect(fits, "takes square matrices, and as many rows or columns")) return false;
    if (rank > 18) return context.refuse("matrices by more than 16 dims");
    Draft& draft = context.draft;
    const DraftId lower = form.is_lower ? context.operand(0) : turned(draft, context.operand(0));
    DraftId inverse = Inverse(draft, lower, form.is_unit).run();
    if (form.is_lower == form.is_transposed) inverse = turned(draft, inverse);
    std::string batch;
    for (size_t d = 0; d + 2 < rank; ++d) batch += static_cast<char>('a' + d);
    const std::string_view equation = form.is_left ? "\"{0}xy,{0}yz->{0}xz\"" : "\"{0}yz,{0}xy->{0}xz\"";
    context.set(0, draft.literal("einsum", fmt::format(fmt::runtime(equation), batch), {inverse, context.operand(1)},
                                 {}, *type));
    return true;
}

bool import_triangular_solve(OpContext& context, std::string_view) {
    bool known = true;
    const auto has = [&](std::string_view key) {
        const MlirAttribute* const attribute = find_attribute(context.op.items, {key});
        known = known && attribute != nullptr && (attribute->text == "true" || attribute->text == "false");
        return attribute != nullptr && attribute->text == "true";
    };
    const std::string turns = context.word("transpose_a", {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"});
    const Triangular form = {has("left_side"), has("lower"), turns != "NO_TRANSPOSE", has("unit_diagonal")};
    if (!context.expect(known && !turns.empty(),
                        "says its side, its triangle, its diagonal and whether it is transposed"))
        return false;
    return solve(context, form);
}

// What JAX calls on CPUs: letters of LAPACK's trsm, as numbers.
bool import_trsm(OpContext& context, std::string_view) {
    const MlirAttribute* const config = find_attribute(context.op.items, {"mhlo.backend_config"});
    const auto letter = [&](std::string_view key) {
        const MlirAttribute* const found = config == nullptr ? nullptr : find_attribute(config->items, {key});
        return found == nullptr ? '?' : static_cast<char>(found->integer);
    };
    const char side = letter("side"), uplo = letter("uplo"), turns = letter("trans_x"), diagonal = letter("diag");
    const bool known = (side == 'L' || side == 'R') && (uplo == 'L' || uplo == 'U') &&
                       (turns == 'N' || turns == 'T' || turns == 'C') && (diagonal == 'U' || diagonal == 'N');
    if (!context.expect(known, "says its side, its triangle, its diagonal and whether it is transposed")) return false;
    return solve(context, {side == 'L', uplo == 'L', turns != 'N', diagonal == 'U'});
}

} // namespace

std::vector<ImportRow> import_rows_triangular() {
    return {{"stablehlo.triangular_solve", import_triangular_solve},
            {"custom_call @lapack_strsm_ffi", import_trsm},
            {"custom_call @lapack_dtrsm_ffi", import_trsm}};
}

} // namespace shard
