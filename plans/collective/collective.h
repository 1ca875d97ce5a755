// Collectives: data that says what to do, and one definition per kind (plans/collectives/<kind>.cpp) that says what it
// means and costs. A local slice is not a collective.
#pragma once

#include "plans/collective/hardware.h"
#include "plans/sharding/sharding.h"

#include <functional>

namespace shard {

//   all_gather      to = -1; on a device the dim `from` grows by the axes
//   reduce_scatter  from = -1; the dim `to` shrinks by them
//   all_to_all      `from` grows, `to` shrinks
// Axes are always the minor-most of the dim they leave or enter, so blocks are contiguous along it.
struct AxisMove {
    int from = -1; // dim that loses the axes (its local size grows): all_gather, all_to_all
    int to = -1;   // dim that gains the axes (its local size shrinks): reduce_scatter, all_to_all
    std::vector<AxisRef> axes;
    bool operator==(const AxisMove&) const = default;
};

struct CollectiveDef;

// One collective. `axes` is the group: devices that differ only along them, rank = linear coordinate. Fields by kind:
//   all_reduce          reduce
//   all_gather          moves {from}
//   reduce_scatter      reduce, moves {to}
//   all_to_all          moves {from, to}
//   collective_permute  source_order, target_order: both hold all of `axes`, in some order and splitting, with the same
//                       total size; the device whose linear coordinate over target_order is p receives the buffer of
//                       the device whose linear coordinate over source_order is p.
//                       Or instead: pairs, of source and destination rank, each rank at most once on each side; who
//                       is no destination holds zeros afterwards.
//   broadcast           root: linear coordinate of the sender
struct Collective {
    const CollectiveDef* def = nullptr;
    std::vector<AxisRef> axes;
    ReduceOp reduce = ReduceOp::sum;
    std::vector<AxisMove> moves;
    std::vector<AxisRef> source_order, target_order;
    i64 root = 0;
    std::vector<std::pair<i64, i64>> pairs = {};
    bool operator==(const Collective&) const = default;
};

struct CollectiveDef {
    std::string_view name; // as in reports: all_reduce, ...
    std::string_view doc;  // what it does, before and after, for `shardc list collectives` and `explain`

    // Which fields of a Collective the kind uses; the check of a plan holds it to them. They say what the kind does:
    // kinds of equal uses do the same, each in its way.
    struct Uses {
        bool reduce = false, from = false, to = false, orders = false, root = false;
        bool operator==(const Uses&) const = default;
    } uses;
    // For names of values that come of it: "gathered". Empty: the kind's name.
    std::string_view result_word = {};

    // The local type afterwards; the input's is `before`.
    TensorType (*after)(const Collective&, const TensorType& before);
    // Bytes sent to other devices by all devices of the mesh together in one execution: exact. bytes = local bytes
    // before. Per device it is this divided by the number of devices (collective_permute: some devices may send
    // nothing).
    i64 (*wire_bytes_total)(const Collective&, const Mesh&, i64 local_bytes_before);
    // Seconds of one execution by the cost model (docs/cost-model.md). Whether latency and bytes / bandwidth add up or
    // the longer counts is the profile's to say.
    double (*seconds)(const Collective&, const Mesh&, const Hardware&, i64 local_bytes_before);
    // Plain definition, for tests: every device's buffer before (f64, indexed by position) -> after.
    std::vector<std::vector<double>> (*meaning)(const Collective&, const Mesh&, const TensorType& before,
                                                const std::vector<std::vector<double>>& buffers);
};

const std::vector<const CollectiveDef*>& all_collectives(); // sorted by name
const CollectiveDef* find_collective(std::string_view name);
const CollectiveDef* collective_with(const CollectiveDef::Uses& uses); // the first that does this; there is one

// A permutation that is written as pairs of ranks: those without orders of axes.
inline bool is_pairwise(const Collective& collective) {
    return collective.def != nullptr && collective.def->uses.orders && collective.source_order.empty();
}

// What a collective does to a sharding (the same for every caller: partition, explain, tests).
Sharding sharding_after(const Collective& collective, const Sharding& before);
std::string text(const Mesh& mesh, const Collective& collective); // "all_gather over data (dim 0)"

} // namespace shard
