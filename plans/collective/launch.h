// Small collectives that are one launch. A message of few bytes takes as long as it takes to begin it, so libraries send
// alike ones that begin one right after the other as one: NCCL between ncclGroupStart and ncclGroupEnd, XLA by its
// combiners of all-reduces, all-gathers and reduce-scatters (with their threshold in bytes).
//
// Here: those of one kind that reduces, gathers or scatters, over the same axes, of one element type, for as long as
// the bytes of all take no longer than twice what none would take. The launch takes as long as one collective of all
// bytes, and every one of them ends with it.
#pragma once

#include "plans/collective/collective.h"

#include <optional>

namespace shard {

class Launch {
public:
    Launch(const Mesh& mesh, const Hardware& hardware) : mesh_(&mesh), hardware_(&hardware) {}

    // Adds a collective of `type`, the local one before it. False if it is no part of the launch before: it is then the
    // first of its own.
    bool add(const Collective& collective, const TensorType& type);
    bool would_join(const Collective& collective, const TensorType& type) const;
    // Something else runs: what comes next does not join.
    void end() { first_.reset(); }

    double seconds() const { return seconds_; } // of all that were added since the first

private:
    struct First {
        Collective collective;
        DType dtype;
    };
    const Mesh* mesh_;
    const Hardware* hardware_;
    std::optional<First> first_;
    i64 bytes_ = 0;
    double seconds_ = 0;
};

} // namespace shard
