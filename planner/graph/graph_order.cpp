#include "planner/graph/graph_order.h"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/depth_first_search.hpp>

#include <algorithm>

namespace shard {

namespace {

using SparseGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                       boost::no_property, int, int>;

SparseGraph make_graph(int vertices, const Edges& edges) {
    return SparseGraph(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), vertices);
}

// Remembers the tree edges, and the first edge back to an ancestor.
struct CycleFinder : boost::default_dfs_visitor {
    CycleFinder(std::vector<int>& found_parents, std::pair<int, int>& found_back)
        : parents(&found_parents), back(&found_back) {}
    template<typename Edge>
    void tree_edge(Edge edge, const SparseGraph& graph) {
        (*parents)[target(edge, graph)] = source(edge, graph);
    }
    template<typename Edge>
    void back_edge(Edge edge, const SparseGraph& graph) {
        if (back->first < 0) *back = {source(edge, graph), target(edge, graph)};
    }
    std::vector<int>* parents;
    std::pair<int, int>* back;
};

} // namespace

std::vector<int> find_cycle(int vertices, const Edges& edges) {
    const SparseGraph graph = make_graph(vertices, edges);
    std::vector<int> parents(vertices, -1);
    std::pair<int, int> back = {-1, -1};
    boost::depth_first_search(graph, boost::visitor(CycleFinder(parents, back)));
    std::vector<int> cycle;
    if (back.first < 0) return cycle;
    for (int v = back.first; v != back.second; v = parents[v]) cycle.push_back(v);
    cycle.push_back(back.second);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
}

} // namespace shard
