// redistribute() with a memory: layers repeat, and candidates of one op ask for the same ways again and again.
#pragma once

#include "planner/graph/memo_key.h"
#include "planner/model/partitioner.h"
#include "planner/redistribute/plan_cost.h"
#include "planner/redistribute/redistribute.h"
#include "planner/redistribute/xla_reshard.h"

#include <map>

namespace shard {

class Redistributor {
public:
    // `prefer` is what whoever asks goes by; ways themselves take the least time, or are those of XLA.
    Redistributor(const Mesh& mesh, const Hardware& hardware, Prefer prefer = Prefer::time,
                  Partitioner partitioner = Partitioner::shardc)
        : mesh_(&mesh), hardware_(&hardware), prefer_(prefer), partitioner_(partitioner) {}

    const Mesh& mesh() const { return *mesh_; }
    const Hardware& hardware() const { return *hardware_; }
    Prefer prefer() const { return prefer_; }
    bool is_as_xla() const { return partitioner_ == Partitioner::xla; }

    // Valid as long as this lives.
    const Redistribution& find(const TensorType& global, const Sharding& from, const Sharding& to) {
        static const Redistribution nothing;
        if (same_layout(from, to)) return nothing;
        std::string key = MemoKey().add(global).add(from).add(to).text();
        std::map<std::string, Redistribution>::iterator known = found_.find(key);
        if (known == found_.end())
            known = found_
                        .emplace(key, is_as_xla() ? reshard_as_xla(*mesh_, *hardware_, global, from, to)
                                                  : redistribute(*mesh_, *hardware_, global, from, to))
                        .first;
        return known->second;
    }

private:
    const Mesh* mesh_;
    const Hardware* hardware_;
    Prefer prefer_;
    Partitioner partitioner_;
    std::map<std::string, Redistribution> found_;
};

} // namespace shard
