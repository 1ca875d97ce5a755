#include "planner/partition/halo.h"

#include "plans/base/division.h"

#include <algorithm>
#include <map>

namespace shard {

namespace {

// Beyond these the steps of a device are many more than those of a gather.
constexpr size_t most_pieces = 64;

// The same box of every sender's block, for the same place of every receiver's; ranks over the axes.
struct Class {
    MovePiece piece; // from the sender's block into the receiver's
    std::map<i64, i64> sender_of = {}, receiver_of = {};

    bool is_local() const {
        return std::all_of(sender_of.begin(), sender_of.end(),
                           [](const auto& pair) { return pair.first == pair.second; });
    }
};

class Exchanges {
public:
    Exchanges(const Move& whole, std::span<const TensorType> operands, const TensorType& result, size_t dim,
              std::span<const AxisRef> axes)
        : whole_(whole), operands_(operands), dim_(dim), axes_(axes.begin(), axes.end()), devices_(total_size(axes)),
          block_(result.shape[dim] / devices_) {}

    std::optional<Halo> run() {
        made_.dim = dim_;
        made_.assemble = {false, {}, {}, whole_.fill, whole_.covers};
        for (const MovePiece& piece : whole_.pieces) {
            if (size_of(piece) % devices_ != 0)
                take_own(piece);
            else if (!classify(piece))
                return std::nullopt;
        }
        for (const Class& one : classes_) put(one);
        if (made_.assemble.pieces.size() > most_pieces) return std::nullopt;
        return std::move(made_);
    }

private:
    i64 size_of(const MovePiece& piece) const { return operands_[piece.operand].shape[dim_]; }
    // `extent` times the device's rank.
    Affine by_rank(i64 extent) const { return block_start(extent * devices_, axes_); }

    // Of an operand that every device has all of.
    void take_own(MovePiece piece) {
        piece.out_start[dim_] = piece.out_start[dim_] + by_rank(block_) * -1;
        made_.assemble.pieces.push_back(std::move(piece));
    }

    // Walks through the piece block by block: of the receivers, and of the senders.
    bool classify(const MovePiece& piece) {
        const i64 sent = size_of(piece) / devices_, stride = piece.in_stride[dim_], spread = piece.out_stride[dim_];
        const i64 from = piece.in_start[dim_].constant, to = piece.out_start[dim_].constant;
        const i64 last = to + spread * (piece.extent[dim_] - 1);
        const i64 low = std::clamp<i64>(floor_div(to, block_), 0, devices_),
                  high = std::clamp<i64>(floor_div(last, block_) + 1, low, devices_);
        for (i64 receiver = low; receiver < high; ++receiver) {
            const i64 first = receiver * block_ - to;
            i64 at = std::max<i64>(0, ceil_div(first, spread));
            const i64 end = std::min(piece.extent[dim_], ceil_div(first + block_, spread));
            while (at < end) {
                const i64 place = from + stride * at, sender = place / sent;
                const i64 next = stride > 0 ? ceil_div((sender + 1) * sent - from, stride)
                                            : floor_div(from - sender * sent, -stride) + 1;
                MovePiece box = piece;
                box.in_start[dim_] = constant(place - sender * sent);
                box.out_start[dim_] = constant(to + spread * at - receiver * block_);
                box.extent[dim_] = std::min(next, end) - at;
                if (!add(std::move(box), sender, receiver)) return false;
                at = std::min(next, end);
            }
        }
        return true;
    }

    bool add(MovePiece box, i64 sender, i64 receiver) {
        const auto fits = [&](const Class& one) {
            return one.piece == box && !one.sender_of.contains(receiver) && !one.receiver_of.contains(sender);
        };
        std::vector<Class>::iterator one = std::find_if(classes_.begin(), classes_.end(), fits);
        if (one == classes_.end()) {
            if (classes_.size() == most_pieces) return false;
            one = classes_.insert(classes_.end(), {std::move(box)});
        }
        one->sender_of[receiver] = sender;
        one->receiver_of[sender] = receiver;
        return true;
    }

    void put(const Class& one) {
        if (one.is_local() && std::ssize(one.sender_of) == devices_) {
            made_.assemble.pieces.push_back(one.piece);
            return;
        }
        const std::vector<std::pair<i64, i64>> intervals = receivers(one);
        if (one.is_local() && std::ssize(intervals) == std::ssize(one.sender_of)) { // each for one device
            for (const auto& [rank, end] : intervals) made_.assemble.pieces.push_back(only(one.piece, rank));
            return;
        }
        const TensorType& operand = operands_[one.piece.operand];
        Shape block = operand.shape;
        block[dim_] /= devices_;
        bool is_whole = true;
        for (size_t d = 0; d < block.size(); ++d)
            is_whole = is_whole && one.piece.in_start[d] == Affine{} && one.piece.in_stride[d] == 1 &&
                       one.piece.extent[d] == block[d];
        Halo::Message message;
        message.operand = one.piece.operand;
        message.type = {operand.dtype, one.piece.extent, operand.logical};
        MovePiece cut = one.piece, rest = one.piece;
        cut.operand = 0;
        for (size_t d = 0; d < cut.extent.size(); ++d) {
            cut.out_start[d] = rest.in_start[d] = constant(0);
            cut.out_stride[d] = rest.in_stride[d] = 1;
        }
        if (!is_whole) {
            const bool covers = std::all_of(cut.in_start.begin(), cut.in_start.end(),
                                            [](const Affine& start) { return start.is_constant(); });
            message.cut = {false, {}, {std::move(cut)}, 0, covers};
        }
        if (!one.is_local()) {
            Collective exchange;
            exchange.def = collective_with({.orders = true});
            exchange.axes = axes_;
            exchange.pairs.assign(one.receiver_of.begin(), one.receiver_of.end());
            message.exchange = std::move(exchange);
        }
        if (message.cut || message.exchange) {
            rest.operand = static_cast<int>(operands_.size() + made_.messages.size());
            made_.messages.push_back(std::move(message));
        }
        for (const auto& [low, high] : intervals) made_.assemble.pieces.push_back(only(rest, low, high));
    }

    // The ranks as intervals [low, high).
    static std::vector<std::pair<i64, i64>> receivers(const Class& one) {
        std::vector<std::pair<i64, i64>> intervals;
        for (const auto& [receiver, sender] : one.sender_of) {
            if (!intervals.empty() && intervals.back().second == receiver)
                ++intervals.back().second;
            else
                intervals.emplace_back(receiver, receiver + 1);
        }
        return intervals;
    }

    // For the device of one rank: of the others a box lies beyond both blocks.
    MovePiece only(MovePiece piece, i64 rank) const {
        const i64 beyond = std::max(size_of(piece) / devices_, block_);
        const Affine back = (by_rank(beyond) + constant(-rank * beyond)) * -1;
        piece.in_start[dim_] = piece.in_start[dim_] + back;
        piece.out_start[dim_] = piece.out_start[dim_] + back;
        return piece;
    }

    // For devices of some ranks alone: a box as long as all of theirs together, of which each reads its own part as far
    // as the message goes, and others read beyond it.
    MovePiece only(MovePiece piece, i64 low, i64 high) const {
        if (low == 0 && high == devices_) return piece;
        const i64 extent = piece.extent[dim_];
        const Affine back = (by_rank(extent) + constant(-low * extent)) * -1;
        piece.in_start[dim_] = piece.in_start[dim_] + back;
        piece.out_start[dim_] = piece.out_start[dim_] + back * piece.out_stride[dim_];
        piece.extent[dim_] = extent * (high - low);
        return piece;
    }

    const Move& whole_;
    std::span<const TensorType> operands_;
    const size_t dim_;
    const std::vector<AxisRef> axes_;
    const i64 devices_, block_; // of the result
    std::vector<Class> classes_;
    Halo made_;
};

} // namespace

std::optional<Halo> halo(const Move& whole, std::span<const TensorType> operands, const TensorType& result, size_t dim,
                         std::span<const AxisRef> axes) {
    if (whole.flat || !whole.permutation.empty()) return std::nullopt;
    return Exchanges(whole, operands, result, dim, axes).run();
}

} // namespace shard
