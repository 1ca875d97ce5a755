// redistribute() with a memory: layers repeat, and candidates of one op ask for the same ways again and again. Several
// threads may ask at once.
#pragma once

#include "planner/graph/memo.h"
#include "planner/graph/memo_key.h"
#include "planner/model/partitioner.h"
#include "planner/redistribute/plan_cost.h"
#include "planner/redistribute/redistribute.h"
#include "planner/redistribute/xla_reshard.h"

namespace shard {

class Redistributor {
public:
    // `prefer` is what whoever asks goes by; ways themselves take the least time, or are those of XLA.
    Redistributor(const Mesh& mesh, const Hardware& hardware, Prefer prefer = Prefer::time,
                  Partitioner partitioner = Partitioner::shardc)
        : mesh_(mesh), hardware_(hardware), prefer_(prefer), partitioner_(partitioner) {}

    const Mesh& mesh() const { return mesh_; }
    const Hardware& hardware() const { return hardware_; }
    Prefer prefer() const { return prefer_; }
    bool is_as_xla() const { return partitioner_ == Partitioner::xla; }

    // Valid as long as this lives.
    const Redistribution& find(const TensorType& global, const Sharding& from, const Sharding& to) {
        static const Redistribution nothing;
        if (same_layout(from, to)) return nothing;
        return found_.find(MemoKey().add(global).add(from).add(to).text(), [&] {
            return is_as_xla() ? reshard_as_xla(mesh_, hardware_, global, from, to)
                               : redistribute(mesh_, hardware_, global, from, to);
        });
    }

private:
    const Mesh mesh_;
    const Hardware hardware_;
    const Prefer prefer_;
    const Partitioner partitioner_;
    Memo<Redistribution> found_;
};

} // namespace shard
