// Attention with keys and values that pass from device to device (ring attention: Liu et al. 2023, arXiv:2310.01889),
// written as a manual region of ordinary ops. On device r of c, with the block of keys of device (r - t) mod c at hand in
// step t:
//
//     forward    step 0  (o, l) = attention of the own block, with its logsumexp; the block goes on to device r + 1
//                step t  o and l of this block are put together with those so far
//     gradients  step 0  dq of the own block
//                step t  dq += its share; dk and dv of the block go with it, one step behind, and last come home, where the
//                        own block's share is added
//
// Of queries that all devices have (splits_queries), no block goes anywhere: (o, l) of the own block are put together by a
// pmax of l and a psum of what it weighs, o e^(l - max) and e^(l - max).
//
// A block is under way while the one before it is computed with, so a device holds three of them at most. A device sends
// c - 1 blocks of k and of v each, and as many of dk and dv in the backward pass.
//
// In zigzag order (Brandon et al. 2023, arXiv:2311.09431, have another with the same aim) device r has parts r and
// 2c - 1 - r of 2c parts of the sequence. Of a block's low and high part, its high queries see all of the low keys; and
// either both parts of the queries, or both of the keys, make up the other half of what is to be computed.
#pragma once

#include "planner/attention/split_attention.h"
#include "planner/graph/chain.h"

#include <functional>
#include <map>

namespace shard {

class RingRegion {
public:
    // `constrained`: is told what a value that enters is to lie like.
    RingRegion(Builder& builder, const SplitAttention& attention, const Mesh& mesh, bool zigzag,
               std::function<void(ValueId, Sharding)> constrained);

    // Emits what makes the results of these parts: values and logsumexp, or the gradients. There are none to be written of
    // queries that all devices have.
    void write_forward();
    void write_gradients();
    // What the node does that makes the part's result, and what of.
    Apply leaving(AttendPart part) const;
    ValueId local(AttendPart part) const { return results_[static_cast<size_t>(part)]; }

private:
    using Values = std::vector<ValueId>;
    // What passes round, and which device it is of: k, v and the segments of the keys, -1 where there are none.
    struct Block {
        Values values;
        ValueId source = -1;
    };
    // Of a step: what it does with the block, changing `kept`; the terms of sums that pass round behind it.
    using Step = std::function<Values(const Block& block, Values& kept)>;
    // A part of the sequence, or all of a device's: rows of q and of what there is for each query.
    struct Rows {
        ValueId q = -1, given = -1, logsumexp = -1, mean = -1, segments = -1;
    };

    void open();
    ValueId enter(ValueId id, const Sharding& as);
    // `names`: of what it is, in the order of the values.
    Values pass(const Values& values, const std::vector<std::string_view>& names);
    Block pass(const Block& block);
    // All steps but that of the own block; `own` is emitted while the first block is under way. The sums, come home.
    Values walk(const Block& own, const std::function<Values()>& begin, const Step& step);

    Block own_block();
    Rows own_rows(bool of_gradients);
    Attributes part_attributes(AttendPart part, bool positions) const;
    ValueId attend(AttendPart part, const Rows& rows, const Values& block, ValueId start, bool positions,
                   ValueId source);
    ValueId start_of(ValueId source);
    ValueId pairs_of(ValueId pairs, ValueId source);
    Values forward_of(const Rows& rows, const Values& block, ValueId start, bool positions, ValueId source);
    Values merge(const Values& one, const Values& other);
    Values combine(const Values& own); // of all devices
    Values gradients_of(const std::vector<AttendPart>& parts, const Rows& rows, const Values& block, ValueId start,
                        bool positions, ValueId source);

    // --- zigzag ---
    Values zigzag_forward(const Block& block, const Values& kept, const Rows& low, const Rows& high);
    Values halves(ValueId id);
    ValueId joined(const Values& low_and_high);
    ValueId select(ValueId condition, ValueId yes, ValueId no);
    Values select(ValueId condition, const Values& yes, const Values& no);
    Rows select(ValueId condition, const Rows& yes, const Rows& no);
    std::array<Rows, 2> halves(const Rows& rows);
    std::array<Values, 2> halves(const Block& block); // of its values
    ValueId permuted(ValueId id, const std::vector<i64>& perm);
    ValueId into_zigzag(ValueId id);
    ValueId out_of_zigzag(ValueId id);
    std::array<std::vector<i64>, 2> permutations(bool back) const;

    bool has(AttendPart part) const { return attention_.has(part); }
    bool needs_values() const; // of the gradients
    Attributes over(NamedValues others = {}) const;
    ValueId emit(std::string_view op, Values operands, Attributes attributes = {});
    ValueId integer(i64 value);
    const TensorType& type(ValueId id) const { return builder_.type(id); }
    void give(AttendPart part, ValueId local);
    void name(ValueId id, std::string_view what);

    Builder& builder_;
    const SplitAttention& attention_;
    const Mesh& mesh_;
    bool zigzag_;
    std::function<void(ValueId, Sharding)> constrained_;
    int region_ = -1;
    i64 devices_;
    // The way round: forward and back, so that nobody takes a block that the forward pass had for one that is to come, and
    // keeps it until then.
    i64 shift_ = 1;
    int loop_; // around the attention
    ValueId rank_ = -1, v_ = -1, start_ = -1;
    Values drop_; // scalars that dropout reads
    Values kept_; // after the last step
    ValueId bias_ = -1, mask_ = -1;
    DType wide_;
    std::array<ValueId, attend_parts> results_;
    std::map<ValueId, ValueId> entered_, zigzagged_; // by global value, by local value
};

} // namespace shard
