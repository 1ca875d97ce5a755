// The body of the manual region that a local graph is: one entry for every op and every collective, slices as
// own_block, loops as modules that are scanned. Views of the same bytes are one name.
#pragma once

#include "planner/graph/graph.h"

#include <map>
#include <set>

namespace shard {

std::string list_text(std::span<const i64> values); // "[8, 16]"
std::string number_text(double value);              // ".nan", "-.inf"
// A path as a name: "block.0.w" is block_0_w.
std::string plain_name(std::string_view path);
std::string mesh_words(const Mesh& mesh); // "data 2 x model 4"
// An entry of a graph: "- x, y: text", or, where the names are longer than YAML lets a key on one line be, the key and
// its value on lines of their own.
std::vector<std::string> entry_lines(const std::string& names, const std::string& text);

class LoweredBody {
public:
    LoweredBody(const Graph& local, const Mesh& mesh, Diagnostics& diagnostics)
        : local_(local), mesh_(mesh), diagnostics_(diagnostics), names_(local.values.size()) {}

    std::string name_input(ValueId id, std::string_view path);
    // "[data, ~]" or "[[data, model], ~]".
    std::string sharding_text(const Sharding& sharding);
    // All entries, each line indented.
    std::string write(std::string_view indent);
    // The modules that the body calls, each line indented by two blanks at least; empty if there are none.
    const std::string& modules() const { return modules_; }
    // The name under which a value leaves; each name once, with entries in output_lines for those that leave twice.
    std::string output(ValueId id);
    std::string output_lines(std::string_view indent) const;

    bool ok() const { return ok_; }
    bool checks() const { return checks_; } // whether the region passes the varying check

private:
    const std::string& name(ValueId id) const { return names_[id]; }
    std::string fresh_name(std::string_view path);
    void entry(ValueId result, const std::string& text);
    std::string over_text(std::span<const AxisRef> axes);
    std::string index_text(std::span<const AxisRef> axes);
    void fail(Span span, std::string what);

    struct OpenLoop {
        std::string index;               // what the body calls the index of the running trip
        std::set<std::string> handed_on; // indices of loops around that the body reads
        std::vector<std::string> outer_lines;
    };
    // Of rows that are split over devices: which of the own ones, clamped, and whether it is one; is_here is empty
    // where every device has all of them.
    struct OwnRows {
        std::string row, is_here;
    };
    std::string step(const std::string& name, const std::string& text); // an entry, under a fresh name
    void open_loop(const Node& node);
    void close_loop(const Node& node);
    std::vector<std::string> read_from_outside(const GraphLoop& loop, int number) const;
    const std::string& index_of(const Node& node); // of the loop that it takes or writes an entry by
    OwnRows own_entry(const Value& stack, const std::string& index, size_t dim);
    void write_loop_slice(const Node& node);
    void write_loop_update(const Node& node);

    void write_node(const Node& node);
    void write_collective(const Node& node);
    void write_permute(const Node& node);
    void write_slice(const Node& node);
    void write_op(const Node& node);
    void write_generated(const Node& node, const Generate& generate);
    void write_lookup(const Node& node, const Gather& gather);
    void write_scatter(const Node& node, const Scatter& scatter);
    void write_attention(const Node& node, const Attend& attend);
    std::string start_text(Affine start, ValueId given);
    void write_selected(const Node& node, const SelectWindows& select);
    std::string mask_text(const std::string& stem, const OwnRows& own, const Lookup& lookup, const TensorType& table,
                          ValueId indices, const Shape& shape);
    OwnRows own_rows(const std::string& stem, const std::string& indices, DType dtype, i64 size, i64 rows,
                     std::span<const AxisRef> axes);
    // `local` counts from the first of the `rows` own rows.
    OwnRows among_own(const std::string& stem, const std::string& local, i64 rows);
    // `found` where `mask` is true, elsewhere zeros.
    static std::string masked_text(const std::string& mask, const std::string& found, DType dtype);

    struct Windows {
        struct Split {
            size_t dim;
            DType dtype; // of the start
            std::string start;
        };
        std::vector<Split> split;
        std::vector<i64> plain_dims;
        std::vector<std::string> plain_starts;
    };
    Windows windows_of(const Node& node, const Value& whole, const Shape& window, size_t first);
    std::string rows_from(DType dtype, i64 count, const std::string& start);
    void write_window(const Node& node);
    void write_window_update(const Node& node);
    void write_cut(const Node& node);
    // Along all dims but one a piece lies at the same place on every device.
    void check_fixed(const Node& node, const MovePiece& piece, std::optional<size_t> but);
    void write_assembly(const Node& node);
    std::string moved_rows(std::string rows, i64 factor, const Affine& by);
    OwnRows rows_of(const MovePiece& piece, size_t dim, i64 held, i64 made);
    std::string affine_text(const Affine& affine);
    std::string operands_text(const Node& node) const;
    std::string arguments_text(const Node& node, const Shape& shape) const;
    // Entries one after the other from a value to a result; all but the last have names of their own.
    void chain(ValueId from, ValueId result, const std::vector<std::string>& steps);

    const Graph& local_;
    const Mesh& mesh_;
    Diagnostics& diagnostics_;
    std::vector<std::string> names_; // by value
    std::set<std::string> taken_;
    std::set<std::string> left_; // names that are outputs
    std::vector<std::string> lines_, output_lines_;
    std::map<int, OpenLoop> open_loops_; // by loop
    std::string modules_;
    bool ok_ = true, checks_ = true;
};

} // namespace shard
