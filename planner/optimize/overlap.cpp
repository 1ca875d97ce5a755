#include "planner/optimize/overlap.h"

#include "planner/graph/graph_edit.h"
#include "planner/graph/types_of.h"
#include "planner/graph/view.h"
#include "plans/kernel/kernel_cost.h"
#include "plans/kernel/kernel_in_place.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace shard {

namespace {

// What stands in one loop, or outside of all; an inner loop is one item.
struct Item {
    NodeId first = -1, last = -1;
    std::vector<int> reads;   // items of this level that it needs, each once
    std::vector<int> readers; // the other way round
    double seconds = 0;       // of what is computed, or of a collective while it is sent
    bool collective = false, gathers = false;
};

// Before item `before`, and among those there in this order; an item that stays is the last of them.
struct Place {
    int before = 0;
    bool stays = true;
    int item = 0;

    bool operator<(const Place& other) const {
        return std::tie(before, stays, item) < std::tie(other.before, other.stays, other.item);
    }
};

class Level {
public:
    Level(const Graph& graph, const Mesh& mesh, const Hardware& hardware, const std::vector<double>& loop_seconds)
        : graph_(graph), mesh_(mesh), hardware_(hardware), loop_seconds_(loop_seconds) {}

    // Its items' nodes, first to last, in the new order; true if it is another.
    bool reorder(NodeId begin, NodeId end, bool prefetch, std::vector<std::pair<NodeId, NodeId>>& order) {
        find_items(begin, end);
        find_reads();
        places_.resize(items_.size());
        for (int i = 0; i < count(); ++i) places_[i] = {i, true, i};
        clock_.assign(items_.size() + 1, 0);
        for (int i = 0; i < count(); ++i) clock_[i + 1] = clock_[i] + (items_[i].collective ? 0 : items_[i].seconds);
        for (int i = 0; i < count(); ++i)
            if (reduces(items_[i])) begin_early(i);
        if (prefetch) begin_gathers();
        std::vector<int> sorted(items_.size());
        for (int i = 0; i < count(); ++i) sorted[i] = i;
        std::sort(sorted.begin(), sorted.end(), [this](int a, int b) { return places_[a] < places_[b]; });
        for (int i : sorted) order.emplace_back(items_[i].first, items_[i].last);
        return !std::is_sorted(sorted.begin(), sorted.end());
    }

    double seconds() const { return clock_.back(); }

private:
    int count() const { return static_cast<int>(items_.size()); }
    const Node& node(const Item& item) const { return graph_.node(item.first); }

    void find_items(NodeId begin, NodeId end) {
        item_of_.assign(end - begin, -1);
        begin_ = begin;
        for (NodeId n = begin; n < end; ++n) {
            Item item;
            item.first = item.last = n;
            const Node& node = graph_.node(n);
            if (node.opens() >= 0) {
                item.last = graph_.loops[node.opens()].closes;
                item.seconds = loop_seconds_[node.opens()];
            } else {
                item.collective = node.collective() != nullptr;
                item.gathers = item.collective && node.reshard()->gather_phase.has_value();
                item.seconds = seconds_of(node);
            }
            for (NodeId of = item.first; of <= item.last; ++of) item_of_[of - begin] = count();
            n = item.last;
            items_.push_back(std::move(item));
        }
    }

    double seconds_of(const Node& node) const {
        if (node.collective() != nullptr)
            return node.collective()->def->seconds(*node.collective(), mesh_, hardware_,
                                                   graph_.value(node.inputs[0]).type.bytes());
        if (node.kernel() == nullptr || is_view(graph_, node)) return 0;
        const std::vector<TensorType> types = types_of(graph_, node.inputs);
        const TensorType& result = graph_.value(node.outputs[0]).type;
        int in_place = -1; // memory is laid out later: taken to be where it can be
        for (size_t i = types.size(); i-- > 0;)
            if (can_run_in_place(*node.kernel(), i, types[i], result)) in_place = static_cast<int>(i);
        return kernel_seconds(hardware_, *node.kernel(), types.empty() ? result.dtype : types[0].dtype,
                              flops(*node.kernel(), types, result),
                              kernel_bytes(*node.kernel(), types, result, in_place));
    }

    void find_reads() {
        for (int i = 0; i < count(); ++i) {
            std::vector<int>& reads = items_[i].reads;
            for (NodeId n = items_[i].first; n <= items_[i].last; ++n)
                for (ValueId id : graph_.node(n).inputs) {
                    const NodeId producer = graph_.value(id).producer;
                    if (producer < begin_ || producer >= items_[i].first) continue;
                    reads.push_back(item_of_[producer - begin_]);
                }
            std::sort(reads.begin(), reads.end());
            reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
            for (int read : reads) items_[read].readers.push_back(i);
        }
    }

    bool reduces(const Item& item) const {
        return item.collective && !item.gathers && !graph_.value(node(item).inputs[0]).part.sharding.partial.empty();
    }

    // Behind what makes its operand, with the views in between.
    void begin_early(int i) {
        std::vector<int> with;
        const int before = earliest(i, &Level::is_shown, with);
        with.push_back(i);
        for (int other : with) places_[other] = std::min(places_[other], Place{before, false, other});
    }

    bool is_shown(const Item& item) const { return item.first == item.last && is_view(graph_, node(item)); }
    // What stores, slices or casts a parameter.
    bool is_made_of_one(const Item& item) const {
        return item.first == item.last && node(item).kernel() != nullptr && item.reads.size() <= 1;
    }

    // The place behind everything that a collective needs and that stays where it is; what moves along is in `with`.
    int earliest(int i, bool (Level::*moves_along)(const Item&) const, std::vector<int>& with) const {
        int before = 0;
        for (int read : items_[i].reads) {
            const Item& item = items_[read];
            if (item.gathers) { // moves by itself, later
                std::vector<int> others;
                before = std::max(before, earliest(read, moves_along, others));
            } else if ((this->*moves_along)(item)) {
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
        std::vector<int> gathers;
        for (int i = 0; i < count(); ++i) {
            if (!items_[i].gathers || items_[i].readers.empty()) continue;
            gathers.push_back(i);
        }
        std::vector<int> first_read;
        for (int i : gathers) first_read.push_back(first_reader(i));
        double next_begins = std::numeric_limits<double>::infinity();
        for (size_t g = gathers.size(); g-- > 0;) {
            const int i = gathers[g];
            i64 waiting = bytes(i);
            int before = 0;
            for (size_t other = g; other-- > 0;) {
                waiting += bytes(gathers[other]);
                if (waiting <= 2 * bytes(i)) continue;
                before = first_read[other];
                break;
            }
            std::vector<int> with;
            before = std::max(before, earliest(i, &Level::is_made_of_one, with));
            const int reader = first_reader(i);
            const double begins = std::min(clock_[reader], next_begins) - items_[i].seconds;
            int place = reader;
            while (place > before && clock_[place] > begins) --place;
            next_begins = std::min(next_begins, clock_[place]);
            if (place >= places_[i].before) continue;
            places_[i] = {place, false, i};
            for (int other : with) places_[other] = std::min(places_[other], Place{place, false, other});
        }
    }

    i64 bytes(int i) const { return graph_.value(node(items_[i]).outputs[0]).type.bytes(); }

    const Graph& graph_;
    const Mesh& mesh_;
    const Hardware& hardware_;
    const std::vector<double>& loop_seconds_;
    NodeId begin_ = 0;
    std::vector<Item> items_;
    std::vector<int> item_of_; // by node from begin_ on
    std::vector<Place> places_;
    std::vector<double> clock_; // by item: what is computed before it
};

class Overlapper {
public:
    Overlapper(Graph& graph, const Mesh& mesh, const Hardware& hardware)
        : graph_(graph), mesh_(mesh), hardware_(hardware), seconds_(graph.loops.size()), orders_(graph.loops.size()) {}

    void run(bool prefetch) {
        for (int l = static_cast<int>(graph_.loops.size()); l-- > 0;) { // inner before outer
            const GraphLoop& loop = graph_.loops[l];
            if (loop.opens < 0) continue;
            Level level(graph_, mesh_, hardware_, seconds_);
            changed_ = level.reorder(loop.opens + 1, loop.closes, prefetch, orders_[l]) || changed_;
            seconds_[l] = level.seconds() * static_cast<double>(loop.trips);
        }
        std::vector<std::pair<NodeId, NodeId>> order;
        Level level(graph_, mesh_, hardware_, seconds_);
        changed_ = level.reorder(0, static_cast<NodeId>(graph_.nodes.size()), prefetch, order) || changed_;
        if (!changed_) return;
        emit(order);
        keep_nodes(graph_, nodes_);
    }

private:
    void emit(const std::vector<std::pair<NodeId, NodeId>>& order) {
        for (const auto& [first, last] : order) {
            nodes_.push_back(first);
            if (first == last) continue;
            emit(orders_[graph_.node(first).opens()]);
            nodes_.push_back(last);
        }
    }

    Graph& graph_;
    const Mesh& mesh_;
    const Hardware& hardware_;
    std::vector<double> seconds_;                                // by loop: of all trips
    std::vector<std::vector<std::pair<NodeId, NodeId>>> orders_; // by loop: its body's
    std::vector<NodeId> nodes_;
    bool changed_ = false;
};

} // namespace

void overlap(Local& local, const Mesh& mesh, const Hardware& hardware, bool prefetch) {
    Overlapper(local.graph, mesh, hardware).run(prefetch);
}

} // namespace shard
