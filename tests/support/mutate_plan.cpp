#include "tests/support/mutate_plan.h"

#include "plans/base/checked.h"
#include "plans/plan/plan_check.h"
#include "plans/plan/plan_check_types.h"
#include "tests/support/mutate_kernels.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace shard {

namespace {

class Mutator {
public:
    Mutator(Plan& plan, std::span<const std::uint32_t> tape) : plan_(plan), tape_(tape) {}

    void run() {
        const i64 changes = 1 + below(3);
        for (i64 i = 0; i < changes; ++i) change();
        if (below(8) == 0) return;
        for (Buffer& buffer : plan_.buffers) {
            if (!type_of(buffer).empty()) continue;
            buffer.bytes = element_count(buffer.shape) * byte_size(buffer.dtype);
        }
        correct_peak();
    }

private:
    std::uint32_t next() {
        if (tape_.empty()) return 0;
        const std::uint32_t value = tape_.front();
        tape_ = tape_.subspan(1);
        return value;
    }
    i64 below(i64 limit) { return limit <= 0 ? 0 : static_cast<i64>(next()) % limit; }
    template<class T>
    T* pick(std::vector<T>& from) {
        return from.empty() ? nullptr : &from[below(static_cast<i64>(from.size()))];
    }
    static std::string type_of(const Buffer& buffer) {
        const std::optional<i64> count = checked_element_count(buffer.shape);
        return count && checked_multiply(*count, 8) ? "" : "too large";
    }

    template<class Integer>
    void number(Integer& value) {
        constexpr i64 some[] = {0, 1, -1, 2, 3, 4, 8, 64, 128, 1 << 20, i64{1} << 31, i64{1} << 40, i64{1} << 62};
        const i64 old = static_cast<i64>(value);
        switch (below(8)) {
        case 0:
            value = static_cast<Integer>(some[below(std::ssize(some))]);
            break;
        case 1:
            value = static_cast<Integer>(old + 64);
            break;
        case 2:
            value = static_cast<Integer>(old - 64);
            break;
        case 3:
            value = static_cast<Integer>(old + 1);
            break;
        case 4:
            value = static_cast<Integer>(old - 1);
            break;
        case 5:
            value = static_cast<Integer>(old / 2);
            break;
        case 6:
            value = static_cast<Integer>(below(8));
            break;
        default:
            value = std::numeric_limits<Integer>::max();
            break;
        }
    }
    template<class T>
    void list(std::vector<T>& values, void (Mutator::*one)(T&)) {
        const i64 what = below(6);
        if (what == 0 && !values.empty())
            values.erase(values.begin() + below(std::ssize(values)));
        else if (what == 1)
            values.insert(values.begin() + below(std::ssize(values) + 1), values.empty() ? T{} : values.back());
        else if (what == 2 && values.size() > 1)
            std::swap(values.front(), *pick(values));
        else if (T* value = pick(values))
            (this->*one)(*value);
    }
    void id(int& buffer) { buffer = static_cast<int>(below(std::ssize(plan_.buffers) + 2)) - 1; }
    void dtype(DType& type) { type = all_dtypes()[below(std::ssize(all_dtypes()))]; }
    void reduce_op(ReduceOp& op) { op = static_cast<ReduceOp>(below(4)); }
    void real(double& value) {
        constexpr double some[] = {
            0, 1, -1, 0.5, 1e300, -1e300, 1e-300, 4294967296.0, std::numeric_limits<double>::infinity()};
        value = some[below(std::ssize(some))];
    }
    void axis(AxisRef& ref) {
        switch (below(3)) {
        case 0:
            number(ref.axis);
            break;
        case 1:
            number(ref.pre);
            break;
        default:
            number(ref.size);
            break;
        }
    }
    void axes(std::vector<AxisRef>& refs) { list(refs, &Mutator::axis); }
    void affine(Affine& affine) {
        if (below(2) == 0) return number(affine.constant);
        list(affine.terms, &Mutator::term);
    }
    void term(AffineTerm& term) {
        switch (below(4)) {
        case 0:
            term.kind = static_cast<AffineTerm::Kind>(below(3));
            break;
        case 1:
            axis(term.axis);
            break;
        case 2:
            number(term.index);
            break;
        default:
            number(term.coefficient);
            break;
        }
    }
    void small(int& value) { number(value); }
    void size(i64& value) { number(value); }
    void labels(std::vector<int>& values) { list(values, &Mutator::small); }

    void kernel(Contract& contract) {
        labels(below(3) == 0 ? contract.out : below(2) == 0 ? contract.lhs : contract.rhs);
    }
    void scalar_step(ScalarStep& step) {
        switch (below(5)) {
        case 0:
            step.op = scalar_ops()[below(std::ssize(scalar_ops()))];
            break;
        case 1:
            number(step.args[below(3)]);
            break;
        case 2:
            dtype(step.dtype);
            break;
        case 3:
            real(step.value.value);
            break;
        default:
            affine(step.start);
            break;
        }
    }
    void kernel(Pointwise& pointwise) {
        if (below(3) == 0) return list(pointwise.input_dims, &Mutator::labels);
        list(pointwise.steps, &Mutator::scalar_step);
    }
    void kernel(Reduce& reduce) {
        if (reduce.made && below(2) == 0) return kernel(reduce.made->program);
        if (below(2) == 0) return reduce_op(reduce.op);
        labels(reduce.dims);
    }
    void kernel(Attend& attend) {
        if (below(3) == 0) return below(2) == 0 ? affine(attend.start) : number(attend.window);
        if (below(2) == 0) return real(below(2) == 0 ? attend.scale : attend.soft_cap);
        attend = {static_cast<AttendPart>(below(7)), attend.scale, !attend.causal, attend.window, attend.soft_cap, {}};
    }
    template<class Plain>
    requires requires(Plain& each, const Below& one) { mutate(each, one); }
    void kernel(Plain& each) {
        mutate(each, [this](i64 limit) { return below(limit); });
    }
    void pairs(std::vector<std::pair<int, int>>& batch) {
        if (batch.empty() || below(3) == 0)
            batch.emplace_back(static_cast<int>(below(3)), static_cast<int>(below(3)));
        else if (below(2) == 0)
            batch.pop_back();
        else
            number(below(2) == 0 ? batch.back().first : batch.back().second);
    }
    void piece(MovePiece& piece) {
        switch (below(6)) {
        case 0:
            number(piece.operand);
            break;
        case 1:
            list(piece.in_start, &Mutator::affine);
            break;
        case 2:
            list(piece.in_stride, &Mutator::size);
            break;
        case 3:
            list(piece.out_start, &Mutator::affine);
            break;
        case 4:
            list(piece.out_stride, &Mutator::size);
            break;
        default:
            list(piece.extent, &Mutator::size);
            break;
        }
    }
    void kernel(Move& move) {
        switch (below(5)) {
        case 0:
            move.flat = !move.flat;
            break;
        case 1:
            labels(move.permutation);
            break;
        case 2:
            move.covers = !move.covers;
            break;
        default:
            list(move.pieces, &Mutator::piece);
            break;
        }
    }
    void lookup(int& axis, i64& size, Affine& start, std::vector<std::pair<int, int>>& batch) {
        switch (below(4)) {
        case 0:
            number(axis);
            break;
        case 1:
            number(size);
            break;
        case 2:
            pairs(batch);
            break;
        default:
            affine(start);
            break;
        }
    }
    void kernel(Gather& gather) { lookup(gather.axis, gather.size, gather.start, gather.batch); }
    void kernel(Scatter& scatter) {
        if (below(5) == 0) return reduce_op(scatter.op);
        lookup(scatter.axis, scatter.size, scatter.start, scatter.batch);
    }
    void kernel(Generate& generate) {
        switch (below(5)) {
        case 0:
            list(generate.shape, &Mutator::size);
            break;
        case 1:
            list(generate.start, &Mutator::affine);
            break;
        case 2: {
            Random random;
            Distribution& d = random.distribution;
            d.kind = static_cast<DistributionKind>(below(7));
            for (double* value : {&d.value, &d.low, &d.high, &d.probability, &d.scale, &d.offset}) real(*value);
            random.layout = static_cast<BitLayout>(below(3));
            if (below(4) == 0)
                for (int n = 0, words = below(2) == 0 ? 2 : 4; n < words; ++n) affine(random.words.emplace_back());
            if (below(2) == 0) affine(random.folds.emplace_back());
            if (below(2) == 0) random.blocks.assign(generate.shape.size(), below(4));
            generate.source = random;
            break;
        }
        case 3:
            generate.source = Iota{static_cast<int>(below(4)) - 1};
            break;
        default:
            generate.source = Literal{std::vector<Number>(static_cast<size_t>(below(9)), 1.5)};
            break;
        }
    }

    void change(Compute& step) {
        switch (below(5)) {
        case 0:
            return list(step.inputs, &Mutator::id);
        case 1:
            return id(step.output);
        case 2:
            return number(below(2) == 0 ? step.scratch_offset : step.scratch_bytes);
        default:
            step.kernel.change([this](Kernel& own) { std::visit([this](auto& each) { kernel(each); }, own); });
        }
    }
    void axis_move(AxisMove& move) {
        if (below(3) == 0) return axes(move.axes);
        number(below(2) == 0 ? move.from : move.to);
    }
    void change(Start& step) {
        Collective& c = step.collective;
        switch (below(9)) {
        case 0:
            c.def = all_collectives()[below(std::ssize(all_collectives()))];
            break;
        case 1:
            axes(c.axes);
            break;
        case 2:
            reduce_op(c.reduce);
            break;
        case 3:
            list(c.moves, &Mutator::axis_move);
            break;
        case 4:
            axes(c.source_order);
            break;
        case 5:
            axes(c.target_order);
            break;
        case 6:
            number(c.root);
            break;
        case 7:
            id(below(2) == 0 ? step.input : step.output);
            break;
        default:
            number(step.token);
            break;
        }
    }
    void change(Wait& step) { number(step.token); }
    void change(Release& step) { id(step.buffer); }
    void change(Loop& step) {
        switch (below(3)) {
        case 0:
            return number(step.index);
        case 1:
            return number(step.trips);
        default:
            list(step.body, &Mutator::step);
        }
    }
    void step(Step& step) {
        std::visit([this](auto& each) { change(each); }, step.variant_ref());
    }

    void dim(DimSharding& dim) { axes(dim.axes); }
    void buffer(Buffer& b) {
        switch (below(10)) {
        case 0:
            dtype(b.dtype);
            break;
        case 1:
            list(b.global_shape, &Mutator::size);
            break;
        case 2:
            list(b.shape, &Mutator::size);
            break;
        case 3:
            list(b.sharding.dims, &Mutator::dim);
            break;
        case 4:
            axes(b.sharding.partial);
            break;
        case 5:
            number(b.offset);
            break;
        case 6:
            id(b.alias_of);
            break;
        case 7:
            b.view = !b.view;
            break;
        case 8:
            b.donated = !b.donated;
            break;
        default: { // a dim and its local part together
            const size_t d = static_cast<size_t>(below(std::ssize(b.shape)));
            if (d >= b.shape.size() || d >= b.global_shape.size()) break;
            const i64 count = b.shape[d] > 0 ? b.global_shape[d] / b.shape[d] : 1;
            b.shape[d] = 1 + below(9);
            b.global_shape[d] = b.shape[d] * std::min<i64>(count, 64);
        }
        }
    }
    void mesh_axis(MeshAxis& axis) { axis.size = 1 + below(5); }
    void input(PlanInput& input) {
        if (below(3) == 0)
            id(input.buffer);
        else if (below(4) == 0)
            input.layers.push_back(below(4));
        else
            kernel(input.init);
    }
    void output(PlanOutput& output) { id(below(3) == 0 ? output.updates : output.buffer); }

    void change() {
        switch (below(10)) {
        case 0:
            list(plan_.mesh.axes, &Mutator::mesh_axis);
            break;
        case 1:
            number(plan_.arena_bytes);
            break;
        case 2:
            list(plan_.inputs, &Mutator::input);
            break;
        case 3:
            list(plan_.outputs, &Mutator::output);
            break;
        case 4:
        case 5:
            if (Buffer* one = pick(plan_.buffers)) buffer(*one);
            break;
        case 6:
            list(plan_.steps, &Mutator::step);
            break;
        default:
            if (Step* one = pick(plan_.steps)) step(*one);
            break;
        }
    }

    // By what the check says, since only it knows where the steps reach.
    void correct_peak() {
        constexpr std::string_view before = "the steps reach byte ";
        for (const PlanProblem& problem : plan_problems(plan_))
            if (problem.where == "peak_bytes" && problem.what.starts_with(before))
                std::from_chars(problem.what.data() + before.size(), problem.what.data() + problem.what.size(),
                                plan_.peak_bytes);
    }

    Plan& plan_;
    std::span<const std::uint32_t> tape_;
};

// Steps that are run, with the trips of the loops around them.
double work(const std::vector<Step>& steps) {
    double sum = 0;
    for (const Step& step : steps) {
        const Loop* loop = std::get_if<Loop>(&step.variant_ref());
        sum += loop == nullptr ? 1 : static_cast<double>(loop->trips) * work(loop->body);
    }
    return sum;
}

} // namespace

void mutate_plan(Plan& plan, std::span<const std::uint32_t> tape) { Mutator(plan, tape).run(); }

bool is_small(const Plan& plan) {
    i64 elements = 0;
    for (const Buffer& buffer : plan.buffers) elements = std::max(elements, element_count(buffer.global_shape));
    return plan.mesh.device_count() <= 64 && plan.arena_bytes <= i64{1} << 20 && elements <= i64{1} << 20 &&
           work(plan.steps) <= 1000;
}

} // namespace shard
