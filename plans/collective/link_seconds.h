// How the seconds of several links make those of one collective (collective_cost.h says why).
#pragma once

#include "plans/collective/hardware.h"

#include <algorithm>

namespace shard {

class LinkSeconds {
public:
    explicit LinkSeconds(const Hardware& hardware) : hardware_(&hardware) {}

    void add(double latency, double transfer) {
        used_ = true;
        latency_ += latency;
        transfer_ = std::max(transfer_, transfer);
    }
    double total() const {
        if (!used_) return 0; // a group of one device: nothing starts
        const double start = hardware_->collective_launch + latency_;
        return hardware_->latency_adds ? start + transfer_ : std::max(start, transfer_);
    }

private:
    const Hardware* hardware_;
    bool used_ = false;
    double latency_ = 0, transfer_ = 0;
};

// A torus is a ring along each axis.
inline bool is_ring(const Link& link) {
    return link.topology == Link::Topology::ring || link.topology == Link::Topology::torus;
}

} // namespace shard
