#include "planner/optimize/overlap.h"

#include "planner/graph/view.h"
#include "planner/optimize/levels.h"
#include "planner/optimize/node_seconds.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace shard {

namespace {

// Before item `before`, and among those there in this order; an item that stays is the last of them.
struct Place {
    int before = 0;
    bool stays = true;
    int item = 0;

    bool operator<(const Place& other) const {
        return std::tie(before, stays, item) < std::tie(other.before, other.stays, other.item);
    }
};

class Overlap {
public:
    Overlap(const Graph& graph, const Level& level, const Mesh& mesh, const Hardware& hardware,
            const std::vector<double>& loop_seconds)
        : graph_(graph), items_(level.items) {
        for (int i = 0; i < count(); ++i) {
            seconds_.push_back(items_[i].is_loop() ? loop_seconds[node(i).opens()]
                                                   : node_seconds(graph, node(i), mesh, hardware));
            places_.push_back({i, true, i});
        }
        clock_.assign(items_.size() + 1, 0);
        for (int i = 0; i < count(); ++i) clock_[i + 1] = clock_[i] + (is_collective(i) ? 0 : seconds_[i]);
    }

    std::vector<int> order(bool prefetch) {
        for (int i = 0; i < count(); ++i)
            if (reduces(i)) begin_early(i);
        if (prefetch) begin_gathers();
        std::vector<int> sorted(items_.size());
        for (int i = 0; i < count(); ++i) sorted[i] = i;
        std::sort(sorted.begin(), sorted.end(), [this](int a, int b) { return places_[a] < places_[b]; });
        return sorted;
    }

    double seconds() const { return clock_.back(); } // of what is computed

private:
    int count() const { return static_cast<int>(items_.size()); }
    const Node& node(int i) const { return graph_.node(items_[i].first); }
    bool is_collective(int i) const { return !items_[i].is_loop() && node(i).collective() != nullptr; }
    bool gathers(int i) const { return is_collective(i) && node(i).reshard()->gather_phase.has_value(); }

    bool reduces(int i) const {
        return is_collective(i) && !gathers(i) && !graph_.value(node(i).inputs[0]).part->sharding.partial.empty();
    }

    // Behind what makes its operand, with the views in between.
    void begin_early(int i) {
        std::vector<int> with;
        const int before = earliest(i, &Overlap::is_shown, with);
        with.push_back(i);
        for (int other : with) places_[other] = std::min(places_[other], Place{before, false, other});
    }

    bool is_shown(int i) const { return !items_[i].is_loop() && is_view(graph_, node(i)); }
    // What stores, slices or casts a parameter.
    bool is_made_of_one(int i) const {
        return !items_[i].is_loop() && node(i).kernel() != nullptr && items_[i].reads.size() <= 1;
    }

    // The place behind everything that a collective needs and that stays where it is; what moves along is in `with`.
    int earliest(int i, bool (Overlap::*moves_along)(int) const, std::vector<int>& with) const {
        int before = 0;
        for (int read : items_[i].reads) {
            if (gathers(read)) { // moves by itself, later
                std::vector<int> others;
                before = std::max(before, earliest(read, moves_along, others));
            } else if ((this->*moves_along)(read)) {
                with.push_back(read);
                before = std::max(before, earliest(read, moves_along, with));
            } else {
                before = std::max(before, places_[read].before + (places_[read].stays ? 1 : 0));
            }
        }
        return before;
    }

    int first_reader(int i) const {
        int first = std::numeric_limits<int>::max();
        for (int reader : items_[i].readers) first = std::min(first, places_[reader].before);
        return first;
    }

    // Backwards, each where as much is computed before its reader, or before the next gather begins, as it takes: there
    // is one channel.
    void begin_gathers() {
        std::vector<int> moving;
        for (int i = 0; i < count(); ++i) {
            if (gathers(i) && !items_[i].readers.empty()) moving.push_back(i);
        }
        std::vector<int> first_read;
        for (int i : moving) first_read.push_back(first_reader(i));
        double next_begins = std::numeric_limits<double>::infinity();
        for (size_t g = moving.size(); g-- > 0;) {
            const int i = moving[g];
            i64 waiting = bytes(i);
            int before = 0;
            for (size_t other = g; other-- > 0;) {
                waiting += bytes(moving[other]);
                if (waiting <= 2 * bytes(i)) continue;
                before = first_read[other];
                break;
            }
            std::vector<int> with;
            before = std::max(before, earliest(i, &Overlap::is_made_of_one, with));
            const int reader = first_reader(i);
            const double begins = std::min(clock_[reader], next_begins) - seconds_[i];
            int place = reader;
            while (place > before && clock_[place] > begins) --place;
            next_begins = std::min(next_begins, clock_[place]);
            if (place >= places_[i].before) continue;
            places_[i] = {place, false, i};
            for (int other : with) places_[other] = std::min(places_[other], Place{place, false, other});
        }
    }

    i64 bytes(int i) const { return graph_.value(node(i).outputs[0]).type.bytes(); }

    const Graph& graph_;
    const std::vector<LevelItem>& items_;
    std::vector<double> seconds_; // by item: of what is computed, or of a collective while it is sent
    std::vector<Place> places_;
    std::vector<double> clock_; // by item: what is computed before it
};

} // namespace

void overlap(Local& local, const Mesh& mesh, const Hardware& hardware, bool prefetch) {
    Graph& graph = local.graph;
    std::vector<double> loop_seconds(graph.loops.size()); // of all trips
    arrange_levels(graph, [&](const Level& level) {
        Overlap places(graph, level, mesh, hardware, loop_seconds);
        std::vector<int> order = places.order(prefetch);
        if (level.loop >= 0)
            loop_seconds[level.loop] = places.seconds() * static_cast<double>(graph.loops[level.loop].trips);
        return order;
    });
}

} // namespace shard
