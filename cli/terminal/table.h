// A table of aligned columns for text reports. Colour is applied after alignment, so it never shifts a column. A table
// that is wider than the terminal does without the columns that can be spared, and breaks the text of those that wrap,
// then headers, then, where it is narrow, texts that are better whole; numbers stay whole. One with groups of columns is
// printed as several instead, as many groups in each as fit.
//
//     Table table({{"name"}, {"bytes", Align::right}});
//     table.add({"x", "16.0 KiB"});
//     table.render(paint, "  ")  ->  "  name     bytes\n  x     16.0 KiB\n"
#pragma once

#include "cli/terminal/paint.h"

#include <vector>

namespace shard {

enum class Align { left, right };

struct Column {
    std::string header;
    Align align = Align::left;
    int spared = 0;     // in which order columns are left out where they do not fit, 1 first; 0: never
    bool wraps = false; // where even then they do not fit
    int group = 0;      // those of a group stay together, beside those of group 0
    bool noted = false; // where it is left out, its text begins the row's first note: "model.yaml:7: because ..."
};

struct Cell {
    std::string text;
    std::string_view color = {};
    std::string painted = {}; // instead of `text` when colour is on, if a cell has several colours
    Cell(std::string cell_text = {}, std::string_view cell_color = {})
        : text(std::move(cell_text)), color(cell_color) {}
    Cell(const char* cell_text) : text(cell_text) {}
};

class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void add(std::vector<Cell> cells); // missing cells at the end are empty
    // Lines under the last row, indented to the first column: why a row is there.
    void add_note(std::string text, std::string_view color = {});
    bool empty() const { return rows_.empty(); }

    // Columns that are empty in every row are left out. Headers are left out if all are empty.
    std::string render(const Paint& paint, std::string_view indent) const;
    std::string render_markdown() const; // notes become a last column

private:
    struct Row {
        std::vector<Cell> cells;
        bool note = false;
    };
    std::vector<bool> used_columns() const;
    std::vector<size_t> natural_widths() const;
    std::vector<Table> by_groups(size_t room) const;
    size_t broken_header_width(size_t column) const;
    std::vector<size_t> fitting_widths(std::vector<bool>& used, size_t room) const;
    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

} // namespace shard
