// The backward pass: k and v go round once more, the other way, and their gradients behind them.
#include "planner/attention/ring_region.h"

#include <algorithm>

namespace shard {

namespace {

const std::vector<AttendPart> of_query = {AttendPart::query_gradient},
                              of_keys = {AttendPart::key_gradient, AttendPart::value_gradient},
                              all_gradients = {AttendPart::query_gradient, AttendPart::key_gradient,
                                               AttendPart::value_gradient};

} // namespace

// dq in the type that is computed in, dk and dv; -1 where nobody asks for one.
RingRegion::Values RingRegion::gradients_of(const std::vector<AttendPart>& parts, const Rows& rows, const Values& block,
                                            ValueId start, bool positions, ValueId source) {
    Chain chain(builder_);
    const auto made = [&](AttendPart part) {
        const bool wanted = has(part) && std::find(parts.begin(), parts.end(), part) != parts.end();
        return wanted ? attend(part, rows, block, start, positions, source) : -1;
    };
    const ValueId of_q = made(AttendPart::query_gradient);
    return {of_q < 0 ? -1 : chain.cast(of_q, wide_), made(AttendPart::key_gradient), made(AttendPart::value_gradient)};
}

bool RingRegion::needs_values() const { return has(AttendPart::query_gradient) || has(AttendPart::key_gradient); }

void RingRegion::write_gradients() {
    open();
    shift_ = -1;
    const AttendPart first = has(AttendPart::query_gradient) ? AttendPart::query_gradient : AttendPart::key_gradient;
    v_ = needs_values() ? attention_.of(first)[2] : -1;
    const Rows rows = own_rows(true);
    const Block own = own_block();
    const auto is_there = [](ValueId id) { return id >= 0; };
    // The own block's share of dq is computed while the first block is under way, and of dk and dv while the last sums are.
    const auto of_own = [&](const std::vector<AttendPart>& gradients) {
        return gradients_of(gradients, rows, own.values, zigzag_ ? -1 : start_of(own.source), true, own.source);
    };
    Values home;
    if (zigzag_) {
        const std::array<Rows, 2> parts = halves(rows);
        home = walk(
            own,
            [&] {
                const ValueId made = of_own(of_query)[0];
                return is_there(made) ? halves(made) : Values();
            },
            [&](const Block& block, Values& kept) {
                const ValueId early = emit("lt", {block.source, rank_});
                const std::array<Values, 2> of_block = halves(block);
                const Values all = gradients_of(all_gradients, parts[1], of_block[0], -1, false, block.source),
                             some = gradients_of(all_gradients, select(early, parts[0], parts[1]),
                                                 select(early, of_block[0], of_block[1]), -1, false, block.source);
                Values terms;
                for (size_t n = 0; n < all.size(); ++n) {
                    if (all[n] < 0) {
                        if (n > 0) terms.push_back(-1);
                        continue;
                    }
                    const ValueId zero = builder_.scalar(0, type(some[n]).dtype);
                    const ValueId low = select(early, some[n], zero), high = select(early, zero, some[n]);
                    if (n == 0) {
                        kept = {emit("add", {kept[0], low}), emit("add", {emit("add", {kept[1], all[n]}), high})};
                    } else {
                        terms.push_back(joined({emit("add", {all[n], low}), high}));
                    }
                }
                return terms;
            });
        if (!kept_.empty()) kept_ = {joined(kept_)};
    } else {
        home = walk(
            own,
            [&] {
                const ValueId made = of_own(of_query)[0];
                return is_there(made) ? Values{made} : Values();
            },
            [&](const Block& block, Values& kept) {
                const Values made =
                    gradients_of(all_gradients, rows, block.values, start_of(block.source), true, block.source);
                if (is_there(made[0])) kept[0] = emit("add", {kept[0], made[0]});
                return Values{made[1], made[2]};
            });
    }
    Chain chain(builder_);
    const auto finish = [&](AttendPart part, ValueId made) {
        if (has(part)) give(part, zigzag_ ? out_of_zigzag(made) : made);
    };
    const Values last = of_own(of_keys);
    if (!kept_.empty()) finish(AttendPart::query_gradient, chain.cast(kept_[0], type(attention_.q).dtype));
    if (is_there(last[1])) finish(AttendPart::key_gradient, emit("add", {home[0], last[1]}));
    if (is_there(last[2])) finish(AttendPart::value_gradient, emit("add", {home[1], last[2]}));
}

} // namespace shard
