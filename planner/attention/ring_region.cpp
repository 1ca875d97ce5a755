#include "planner/attention/ring_region.h"

#include "planner/graph/loop_builder.h"
#include "planner/graph/region_ops.h"
#include "planner/ops_support/attention_drop.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace shard {

namespace {

// Why it is sent.
const std::string round_the_ring =
    "keys and values pass round a ring of devices, since the sequence of attention is split";
const std::string put_together = "each device attends to the keys that it holds, and their results are put together";

constexpr std::string_view op_names[] = {"attention",
                                         "attention_logsumexp",
                                         "attention_query_gradient",
                                         "attention_key_gradient",
                                         "attention_value_gradient",
                                         "attention_with_logsumexp"};

} // namespace

RingRegion::RingRegion(Builder& builder, const SplitAttention& attention, const Mesh& mesh, bool zigzag,
                       std::function<void(ValueId, Sharding)> constrained)
    : builder_(builder), attention_(attention), mesh_(mesh), zigzag_(zigzag), constrained_(std::move(constrained)),
      devices_(attention.devices()), loop_(builder.loop()), wide_(computed_as(builder.type(attention.q).dtype)) {
    results_.fill(-1);
}

// --- the region ---

void RingRegion::open() {
    Builder::Place place = builder_.place();
    if (region_ < 0) {
        GraphRegion region;
        for (const AxisRef& axis : attention_.axes) region.axes.push_back(axis);
        std::sort(region.axes.begin(), region.axes.end());
        for (const AxisRef& axis : region.axes) region.names.push_back(mesh_.axes[static_cast<size_t>(axis.axis)].name);
        region.scope = place.prefix;
        region.span = place.span;
        region_ = static_cast<int>(builder_.graph().regions.size());
        builder_.graph().regions.push_back(std::move(region));
    }
    place.region = region_;
    builder_.set_place(std::move(place));
    if (rank_ < 0) rank_ = emit("axis_index", {}, over());
}

// Of a result whose sequence is split so: it is its dim 1.
static ShardingSpec spec_of(const Mesh& mesh, const std::vector<AxisRef>& axes, size_t rank) {
    ShardingSpec spec;
    spec.dims.resize(rank);
    if (rank > 1)
        for (const AxisRef& axis : axes) spec.dims[1].axes.push_back(text(mesh, axis));
    return spec;
}

ValueId RingRegion::enter(ValueId id, const Sharding& as) {
    const auto [known, added] = entered_.try_emplace(id, -1);
    if (!added) return known->second;
    ShardingSpec spec;
    for (const DimSharding& dim : as.dims) {
        DimSpec& of = spec.dims.emplace_back();
        for (const AxisRef& axis : dim.axes)
            if (overlaps_any(axis, attention_.axes)) of.axes.push_back(text(mesh_, axis));
    }
    const ValueId local = enter_region(builder_, id, region_, spec);
    const Graph& graph = builder_.graph();
    constrained_(graph.node(graph.value(local).producer).inputs[0], as);
    return known->second = local;
}

Apply RingRegion::leaving(AttendPart part) const {
    return leaving_region(builder_.graph(), region_,
                          spec_of(mesh_, attention_.query_axes(), type(local(part)).shape.size()));
}

void RingRegion::give(AttendPart part, ValueId local) { results_[static_cast<size_t>(part)] = local; }

// In the order in which they split the sequence.
Attributes RingRegion::over(NamedValues others) const {
    std::vector<std::string> names;
    std::vector<i64> numbers, sizes;
    for (const AxisRef& axis : attention_.axes) {
        names.push_back(mesh_.axes[static_cast<size_t>(axis.axis)].name);
        numbers.push_back(axis.axis);
        sizes.push_back(axis.size);
    }
    Attributes made = attributes_of({{"over", names}, {"mesh_axes", numbers}, {"sizes", sizes}});
    for (const auto& [name, value] : others) made.set(std::string(name), value);
    return made;
}

ValueId RingRegion::emit(std::string_view op, Values operands, Attributes attributes) {
    const std::optional<ValueId> made = builder_.emit(op, std::move(operands), std::move(attributes));
    internal_check(made.has_value(), "an op of a ring of attention was refused");
    return *made;
}

ValueId RingRegion::integer(i64 value) { return builder_.scalar(static_cast<double>(value), DType::i32); }

// --- round the ring ---

RingRegion::Values RingRegion::pass(const Values& values, const std::vector<std::string_view>& names) {
    std::vector<i64> perm; // each device to the next one
    for (i64 device = 0; device < devices_; ++device)
        perm.insert(perm.end(), {device, (device + shift_ + devices_) % devices_});
    Values passed;
    for (size_t n = 0; n < values.size(); ++n) {
        if (values[n] < 0) {
            passed.push_back(-1);
            continue;
        }
        const ValueId made = emit("ppermute", {values[n]}, over({{"perm", perm}, {"passes", round_the_ring}}));
        name(made, names[n]);
        passed.push_back(made);
    }
    return passed;
}

void RingRegion::name(ValueId id, std::string_view what) {
    const Builder::Place& place = builder_.place();
    const std::string_view how = attention_.splits_queries ? "ring" : "combine";
    builder_.rename(id, builder_.unique_name(fmt::format("{}.{}.{}", place.prefix, how, what), "_"), place.span);
}

RingRegion::Block RingRegion::pass(const Block& block) {
    const ValueId before = emit("add", {block.source, integer(devices_ - shift_)});
    return {pass(block.values, {"k", "v", "segments"}), emit("rem", {before, integer(devices_)})};
}

RingRegion::Values RingRegion::walk(const Block& own, const std::function<Values()>& begin, const Step& step) {
    Block at = pass(own), next;
    Values kept = begin();
    if (devices_ > 2) next = pass(at);
    Values sums = step(at, kept);
    const auto add = [&](const Values& received, const Values& terms) {
        Values made;
        for (size_t n = 0; n < terms.size(); ++n)
            made.push_back(terms[n] < 0 ? -1 : emit("add", {received[n], terms[n]}));
        return made;
    };
    const auto go_on = [&](bool is_last) {
        at = next;
        if (!is_last) next = pass(at);
        const Values received = pass(sums, {"dk", "dv"});
        sums = add(received, step(at, kept));
    };
    const i64 trips = devices_ - 3; // but for the own block, the first one and the last
    if (trips == 1) go_on(false);
    if (trips > 1) {
        // Of the lists, those values that are there.
        const std::vector<Values*> lists = {&next.values, &sums, &kept};
        Values inits = {next.source};
        for (const Values* list : lists)
            for (const ValueId id : *list)
                if (id >= 0) inits.push_back(id);
        std::vector<std::vector<int>> varying(inits.size());
        for (std::vector<int>& axes : varying)
            for (const AxisRef& axis : builder_.graph().regions[static_cast<size_t>(region_)].axes)
                axes.push_back(axis.axis);
        GraphLoop header;
        header.trips = trips;
        header.scope = builder_.place().prefix;
        header.span = builder_.place().span;
        LoopBuilder loop(builder_, header, inits, varying);
        const auto take = [&](const std::function<ValueId(size_t)>& from) {
            size_t n = 0;
            next.source = from(n++);
            for (Values* list : lists)
                for (ValueId& id : *list)
                    if (id >= 0) id = from(n++);
        };
        take([&](size_t n) { return loop.argument(n); });
        go_on(false);
        Values yields = {next.source};
        for (const Values* list : lists)
            for (const ValueId id : *list)
                if (id >= 0) yields.push_back(id);
        const LoopBuilder::Results after = loop.close(std::move(yields), {}, {});
        take([&](size_t n) { return after.carried[n]; });
    }
    if (devices_ > 2) go_on(true);
    kept_ = std::move(kept);
    return pass(sums, {"dk", "dv"});
}

// --- what a device has ---

RingRegion::Block RingRegion::own_block() {
    const Sharding of_keys = sharding_of_keys(attention_);
    Block block;
    const auto add = [&](ValueId id, const Sharding& as) {
        if (id < 0) return block.values.push_back(-1);
        const ValueId local = enter(id, as);
        block.values.push_back(zigzag_ ? into_zigzag(local) : local);
    };
    add(attention_.k, of_keys);
    add(v_, of_keys);
    Sharding rows = of_keys;
    rows.dims.resize(2);
    add(attention_.key_segments, rows);
    block.source = rank_;
    return block;
}

RingRegion::Rows RingRegion::own_rows(bool of_gradients) {
    const Sharding of_queries = sharding_of_queries(attention_), of_rows = sharding_of_rows(attention_);
    Sharding of_segments = of_rows;
    of_segments.dims.resize(2);
    const auto enter_rows = [&](ValueId id, const Sharding& as) {
        if (id < 0) return -1;
        const ValueId local = enter(id, as);
        return zigzag_ ? into_zigzag(local) : local;
    };
    Rows rows;
    rows.q = enter_rows(attention_.q, of_queries);
    rows.segments = enter_rows(attention_.query_segments, of_segments);
    // A bias or mask has dims of 1; of keys that pass round a device has all.
    const auto enter_pairs = [&](ValueId id) {
        if (id < 0) return -1;
        const Shape& shape = type(id).shape;
        Sharding as;
        const std::vector<AxisRef> queries = attention_.query_axes(), none;
        const std::vector<AxisRef>* const axes[] = {&attention_.batch, &attention_.heads, &queries,
                                                    attention_.splits_queries ? &none : &attention_.axes};
        for (size_t d = 0; d < 4; ++d) as.dims.push_back({shape[d] > 1 ? *axes[d] : none, false, 0});
        return enter(id, as);
    };
    bias_ = enter_pairs(attention_.bias);
    mask_ = enter_pairs(attention_.mask);
    if (attention_.start >= 0) {
        const ValueId start = enter(attention_.start, {});
        start_ = type(start).dtype == DType::i32
                     ? start
                     : emit("cast", {start}, attributes_of({{"dtype", std::string("i32")}}));
    }
    drop_.clear();
    for (const ValueId id : attention_.drop) drop_.push_back(enter(id, {}));
    if (!of_gradients) return rows;
    for (const AttendPart part : {AttendPart::query_gradient, AttendPart::key_gradient, AttendPart::value_gradient}) {
        if (!has(part)) continue;
        const AttendInputs at = attend_inputs(part);
        const Values& operands = attention_.of(part);
        rows.given = enter_rows(operands[static_cast<size_t>(at.given)], of_queries);
        rows.logsumexp = enter_rows(operands[static_cast<size_t>(at.logsumexp)], of_rows);
        if (at.mean >= 0) rows.mean = enter_rows(operands[static_cast<size_t>(at.mean)], of_rows);
    }
    return rows;
}

// --- one block ---

Attributes RingRegion::part_attributes(AttendPart part, bool positions) const {
    const bool drops = attention_.drops() && part != AttendPart::logsumexp;
    Attributes made = drops ? attention_.attributes : without_drop(attention_.attributes);
    if (drops) {
        const Graph& graph = builder_.graph();
        const Shape &q = graph.value(attention_.q).type.shape, &k = graph.value(attention_.k).type.shape;
        if (!made.has("drawn")) made.set("drawn", std::vector<i64>{q[0], q[2], q[1], k[1]});
        if (builder_.loop() != loop_ && made.has("key"))
            made.set("loops_alike", i64{1} + made.integer("loops_alike", 0)); // the ring's own
    }
    if (!positions) made.remove([](std::string_view name) { return name == "causal"; });
    return made;
}

// Where the device's queries begin, counted from the first key of the block; -1: at it.
ValueId RingRegion::start_of(ValueId source) {
    const i64 queries = attention_.splits_queries ? builder_.type(attention_.q).shape[1] / devices_ : 0,
              keys = builder_.type(attention_.k).shape[1] / devices_;
    const bool matters = attention_.is_causal() || attention_.attributes.has("window");
    if (!matters || (source == rank_ && queries == keys)) return start_;
    const ValueId first = emit("mul", {rank_, integer(queries)}), of_block = emit("mul", {source, integer(keys)});
    const ValueId start = emit("sub", {first, of_block});
    return start_ < 0 ? start : emit("add", {start, start_});
}

// Of a bias or mask, what is of the keys of the block.
ValueId RingRegion::pairs_of(ValueId pairs, ValueId source) {
    if (pairs < 0 || type(pairs).shape[3] == 1 || !attention_.splits_queries) return pairs;
    const i64 keys = type(pairs).shape[3] / devices_;
    const ValueId first = emit("mul", {source, integer(keys)});
    return emit("dynamic_slice", {pairs, first},
                attributes_of({{"size", std::vector<i64>{keys}}, {"dim", std::vector<i64>{3}}}));
}

ValueId RingRegion::attend(AttendPart part, const Rows& rows, const Values& block, ValueId start, bool positions,
                           ValueId source) {
    const AttendInputs at = attend_inputs(part);
    Values operands = {rows.q, block[0]};
    const auto add = [&](bool is_there, ValueId id) {
        if (is_there && id >= 0) operands.push_back(id);
    };
    add(at.v >= 0, block[1]);
    add(at.given >= 0, rows.given);
    add(at.logsumexp >= 0, rows.logsumexp);
    add(at.mean >= 0, rows.mean);
    add(true, pairs_of(bias_, source));
    add(true, pairs_of(mask_, source));
    add(true, rows.segments);
    add(true, block[2]);
    add(positions, start);
    if (attention_.drops() && part != AttendPart::logsumexp) {
        const ValueId first_query =
                          attention_.splits_queries ? emit("mul", {rank_, integer(type(rows.q).shape[1])}) : integer(0),
                      first_key = emit("mul", {source, integer(type(block[0]).shape[1])});
        operands.insert(operands.end(), drop_.begin(), drop_.end());
        operands.insert(operands.end(), {integer(0), integer(0), first_query, first_key});
    }
    return emit(op_names[static_cast<size_t>(part)], operands, part_attributes(part, positions));
}

// Values of the block in the type that is computed in, and the logsumexp, (batch, queries, heads, 1): the last of them,
// and alone if nobody asks for values.
RingRegion::Values RingRegion::forward_of(const Rows& rows, const Values& block, ValueId start, bool positions,
                                          ValueId source) {
    if (!has(AttendPart::values)) {
        const ValueId logs = attend(AttendPart::logsumexp, rows, block, start, positions, source);
        Shape shape = type(logs).shape;
        shape.push_back(1);
        return {emit("reshape", {logs}, shape_of(shape))};
    }
    const ValueId both = attend(AttendPart::with_logsumexp, rows, block, start, positions, source);
    const Shape shape = type(both).shape;
    Shape zeros(4, 0), limit = shape, last = zeros;
    last.back() = --limit.back();
    return {emit("slice", {both}, attributes_of({{"start", zeros}, {"limit", limit}})),
            emit("slice", {both}, attributes_of({{"start", last}, {"limit", shape}}))};
}

// By weights e^(logsumexp - m) with the larger one as m; where no key is seen yet it is -infinity, and e^ of it 0.
RingRegion::Values RingRegion::merge(const Values& one, const Values& other) {
    constexpr double below_all = -3e38;
    Chain chain(builder_);
    const ValueId larger = chain("max", chain("max", {one.back(), other.back()}), below_all);
    const ValueId weights[] = {chain("exp", {chain("sub", {one.back(), larger})}),
                               chain("exp", {chain("sub", {other.back(), larger})})};
    const ValueId sum = chain("add", {weights[0], weights[1]});
    Values merged;
    if (one.size() > 1) {
        const ValueId both = chain("add", {chain("mul", {one[0], weights[0]}), chain("mul", {other[0], weights[1]})});
        merged.push_back(chain("div", {both, chain("max", sum, 1)}));
    }
    merged.push_back(chain("add", {larger, chain("log", {sum})}));
    internal_check(chain.ok(), "two blocks of attention do not fit");
    return merged;
}

// As merge does it, of all devices at once. One of them has the largest logsumexp, and weight 1, but where no device sees
// a key.
RingRegion::Values RingRegion::combine(const Values& own) {
    constexpr double below_all = -3e38;
    Chain chain(builder_);
    const auto over_devices = [&](std::string_view op, ValueId id, std::string_view what) {
        const ValueId made = emit(op, {id}, over({{"passes", put_together}}));
        name(made, what);
        return made;
    };
    const ValueId largest = chain("max", over_devices("pmax", own.back(), "max"), below_all),
                  weight = chain("exp", {chain("sub", {own.back(), largest})});
    Values combined;
    ValueId sum = -1;
    if (own.size() == 1) {
        sum = over_devices("psum", weight, "sum");
    } else { // values and weights at once
        const ValueId both = emit("concatenate", {chain("mul", {own[0], weight}), weight},
                                  attributes_of({{"dim", std::vector<i64>{3}}}));
        const ValueId sums = over_devices("psum", both, "sum");
        const Shape shape = type(sums).shape;
        Shape zeros(4, 0), limit = shape, last = zeros;
        last.back() = --limit.back();
        sum = emit("slice", {sums}, attributes_of({{"start", last}, {"limit", shape}}));
        const ValueId values = emit("slice", {sums}, attributes_of({{"start", zeros}, {"limit", limit}}));
        combined.push_back(chain("div", {values, chain("max", sum, 1)}));
    }
    combined.push_back(chain("add", {largest, chain("log", {sum})}));
    internal_check(chain.ok(), "what devices made of attention does not fit");
    return combined;
}

// --- forward ---

void RingRegion::write_forward() {
    open();
    v_ = has(AttendPart::values) ? attention_.of(AttendPart::values)[2] : -1;
    const Rows rows = own_rows(false);
    const Block own = own_block();
    if (!attention_.splits_queries) {
        kept_ = combine(forward_of(rows, own.values, start_of(own.source), true, own.source));
    } else if (zigzag_) {
        const std::array<Rows, 2> parts = halves(rows);
        walk(
            own,
            [&] { // low values, low logsumexp, high values, high logsumexp
                Values low, high;
                for (const ValueId id : forward_of(rows, own.values, -1, true, own.source)) {
                    const Values both = halves(id);
                    low.push_back(both[0]);
                    high.push_back(both[1]);
                }
                low.insert(low.end(), high.begin(), high.end());
                return low;
            },
            [&](const Block& block, Values& kept) {
                kept = zigzag_forward(block, kept, parts[0], parts[1]);
                return Values();
            });
    } else {
        walk(
            own, [&] { return forward_of(rows, own.values, start_of(own.source), true, own.source); },
            [&](const Block& block, Values& kept) {
                kept = merge(kept, forward_of(rows, block.values, start_of(block.source), true, block.source));
                return Values();
            });
    }
    Values results = kept_;
    if (zigzag_) {
        results.clear();
        const size_t count = kept_.size() / 2;
        for (size_t n = 0; n < count; ++n) results.push_back(joined({kept_[n], kept_[count + n]}));
    }
    Chain chain(builder_);
    if (has(AttendPart::values)) {
        const ValueId values = chain.cast(results[0], type(attention_.q).dtype);
        give(AttendPart::values, zigzag_ ? out_of_zigzag(values) : values);
    }
    if (!has(AttendPart::logsumexp)) return;
    Shape shape = type(results.back()).shape;
    shape.pop_back();
    const ValueId logs = emit("reshape", {results.back()}, shape_of(shape));
    const ValueId in_order = zigzag_ ? out_of_zigzag(logs) : logs;
    give(AttendPart::logsumexp, in_order);
    entered_[attention_.outputs[static_cast<size_t>(AttendPart::logsumexp)]] = in_order; // the backward pass reads it
}

} // namespace shard
