#include "planner/optimize/levels.h"

#include "planner/graph/graph_edit.h"

#include <algorithm>

namespace shard {

namespace {

Level level_of(const Graph& graph, int loop, NodeId begin, NodeId end) {
    Level level;
    level.loop = loop;
    std::vector<int> item_of(end - begin, -1);
    for (NodeId n = begin; n < end; ++n) {
        LevelItem item;
        item.first = item.last = n;
        if (const int opens = graph.node(n).opens(); opens >= 0) item.last = graph.loops[opens].closes;
        for (NodeId of = item.first; of <= item.last; ++of) item_of[of - begin] = static_cast<int>(level.items.size());
        n = item.last;
        level.items.push_back(std::move(item));
    }
    for (int i = 0; i < static_cast<int>(level.items.size()); ++i) {
        std::vector<int>& reads = level.items[i].reads;
        for (NodeId n = level.items[i].first; n <= level.items[i].last; ++n)
            for (ValueId id : graph.node(n).inputs) {
                const NodeId producer = graph.value(id).producer;
                if (producer < begin || producer >= level.items[i].first) continue;
                reads.push_back(item_of[producer - begin]);
            }
        std::sort(reads.begin(), reads.end());
        reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
        for (int read : reads) level.items[read].readers.push_back(i);
    }
    return level;
}

class Arranger {
public:
    explicit Arranger(Graph& graph) : graph_(graph), orders_(graph.loops.size()) {}

    void run(const std::function<std::vector<int>(const Level&)>& arrange) {
        for (int l = static_cast<int>(graph_.loops.size()); l-- > 0;) { // inner before outer
            const GraphLoop& loop = graph_.loops[l];
            if (loop.opens >= 0) arrange_one(level_of(graph_, l, loop.opens + 1, loop.closes), arrange, orders_[l]);
        }
        Order order;
        arrange_one(level_of(graph_, -1, 0, static_cast<NodeId>(graph_.nodes.size())), arrange, order);
        if (!changed_) return;
        emit(order);
        keep_nodes(graph_, nodes_);
    }

private:
    using Order = std::vector<std::pair<NodeId, NodeId>>; // first and last node of items

    void arrange_one(const Level& level, const std::function<std::vector<int>(const Level&)>& arrange, Order& order) {
        const std::vector<int> arranged = arrange(level);
        internal_check(arranged.size() == level.items.size(), "an arranged level has the items that it had");
        changed_ = changed_ || !std::is_sorted(arranged.begin(), arranged.end());
        for (int i : arranged) order.emplace_back(level.items[i].first, level.items[i].last);
    }

    void emit(const Order& order) {
        for (const auto& [first, last] : order) {
            nodes_.push_back(first);
            if (first == last) continue;
            emit(orders_[graph_.node(first).opens()]);
            nodes_.push_back(last);
        }
    }

    Graph& graph_;
    std::vector<Order> orders_; // by loop: its body's
    std::vector<NodeId> nodes_;
    bool changed_ = false;
};

} // namespace

void arrange_levels(Graph& graph, const std::function<std::vector<int>(const Level&)>& arrange) {
    Arranger(graph).run(arrange);
}

} // namespace shard
