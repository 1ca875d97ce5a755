// Reads a graph line by line: what a line says of values that stand above it, and what it adds. A line's details are
// read before the line.
#pragma once

#include "planner/graph_text/graph_text.h"
#include "planner/graph_text/line_details.h"
#include "planner/graph_text/line_scanner.h"

#include <map>
#include <tuple>

namespace shard {

// Numbers that a text gives to things which it does not show stay below.
inline constexpr i64 id_limit = 1'000'000;

class GraphReader {
public:
    GraphReader(const Sources& sources, int file, Diagnostics& diagnostics)
        : sources_(sources), file_(file), diagnostics_(diagnostics) {}
    std::optional<GraphState> read();

private:
    Graph& graph() { return state_.graph; }
    int here() const { return open_.empty() ? -1 : open_.back(); } // the loop that what is read stands in
    Span source_span(std::string_view source) const;
    void header(LineScanner& at);
    void read_line(LineScanner& at);

    // A value that is there already; -1 after a problem.
    ValueId known(LineScanner& at);
    std::vector<ValueId> known_list(LineScanner& at);

    // Behind "NAME:"; what the line makes.
    ValueId new_value(LineScanner& at, std::string name, const Span& place, NodeId producer);
    void varying(LineScanner& at, std::vector<int>& axes);
    void region(LineScanner& at);
    void input(LineScanner& at, Role role);
    void output(LineScanner& at);
    void update(LineScanner& at);

    // --- loops ---

    // Between the markers nodes stand in the loop; these stand around it.
    NodeId add_marker(Node node);
    void open(LineScanner& at);
    void carry(LineScanner& at, const Span& line);
    void close(LineScanner& at);

    // Behind "NAME: TYPE =", below the end of a loop; false if it is no result of it.
    bool result_of_loop(LineScanner& at, ValueId id);

    // --- nodes ---
    void value_line(LineScanner& at, std::string name, const Span& place);
    void what_it_does(LineScanner& at, Node& node);
    void local_move(LineScanner& at, Node& node, const Span& place);
    void exchange(LineScanner& at, Node& node, const Span& place, std::string_view words);
    void reshard(LineScanner& at, Reshard& reshard);
    void arguments(LineScanner& at, Apply& apply);
    void notes(LineScanner& at, Node& node);

    // --- the whole ---
    bool wrong(int line, std::string what);
    bool finish();
    const Sources& sources_;
    int file_;
    Diagnostics& diagnostics_;
    GraphState state_;
    std::map<std::string, ValueId, std::less<>> names_;
    LineDetails details_; // of the line that is read, as what follows
    Span span_;
    int line_number_ = 0;
    std::vector<int> open_; // loops, outer before inner
    std::vector<std::string> loop_names_;
    int results_of_ = -1; // the loop that has just ended
    size_t yielded_ = 0;
    std::vector<std::tuple<ValueId, std::string, int>> belongs_; // Value::of by name, and its line
    std::vector<std::tuple<int, size_t, std::string>> becomes_;  // a loop's sum: GraphLoop::Sum::becomes by name
};

} // namespace shard
