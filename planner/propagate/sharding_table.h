// Shardings as small integers, so that what a step does to equal inputs is worked out once: layers repeat.
#pragma once

#include "plans/sharding/sharding.h"

#include <deque>
#include <unordered_map>

namespace shard {

class ShardingTable {
public:
    int intern(const Sharding& sharding) {
        const auto [it, is_new] = ids_.try_emplace(sharding, static_cast<int>(shardings_.size()));
        if (is_new) shardings_.push_back(sharding);
        return it->second;
    }
    const Sharding& at(int id) const { return shardings_[id]; }

private:
    struct Hash {
        size_t operator()(const Sharding& sharding) const {
            size_t hash = sharding.dims.size();
            const auto mix = [&](i64 word) { hash = (hash ^ static_cast<size_t>(word)) * 1099511628211u; };
            const auto mix_axes = [&](const std::vector<AxisRef>& axes) {
                for (const AxisRef& axis : axes) {
                    mix(axis.axis);
                    mix(axis.pre);
                    mix(axis.size);
                }
                mix(-1);
            };
            for (const DimSharding& dim : sharding.dims) {
                mix_axes(dim.axes);
                mix(dim.open ? 1 : 2);
            }
            mix_axes(sharding.replicated);
            mix_axes(sharding.partial);
            return hash;
        }
    };
    std::unordered_map<Sharding, int, Hash> ids_; // looked up, never iterated
    std::deque<Sharding> shardings_;
};

} // namespace shard
