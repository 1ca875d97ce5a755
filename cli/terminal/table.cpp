#include "cli/terminal/table.h"

#include "plans/base/base.h"

#include <algorithm>

namespace shard {

void Table::add(std::vector<Cell> cells) {
    internal_check(cells.size() <= columns_.size(), "a table row has more cells than the table has columns");
    cells.resize(columns_.size());
    rows_.push_back({std::move(cells), false});
}

void Table::add_note(std::string text, std::string_view color) {
    rows_.push_back({{Cell(std::move(text), color)}, true});
}

std::vector<bool> Table::used_columns() const {
    std::vector<bool> used(columns_.size(), false);
    for (const Row& row : rows_)
        for (size_t i = 0; !row.note && i < row.cells.size(); ++i)
            if (!row.cells[i].text.empty()) used[i] = true;
    return used;
}

std::string Table::render(const Paint& paint, std::string_view indent) const {
    std::vector<bool> used = used_columns();
    std::vector<size_t> widths(columns_.size());
    bool headers = false;
    size_t last = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
        if (!used[i]) continue;
        last = i;
        widths[i] = display_width(columns_[i].header);
        headers = headers || widths[i] > 0;
        for (const Row& row : rows_)
            if (!row.note) widths[i] = std::max(widths[i], display_width(row.cells[i].text));
    }
    std::string out;
    auto line = [&](const std::vector<Cell>& cells) {
        out += indent;
        std::string gap;
        for (size_t i = 0; i < cells.size(); ++i) {
            if (!used[i]) continue;
            std::string padding(widths[i] - display_width(cells[i].text), ' ');
            std::string painted =
                paint.on && !cells[i].painted.empty() ? cells[i].painted : paint(cells[i].color, cells[i].text);
            bool right = columns_[i].align == Align::right;
            out += gap + (right ? padding : "") + painted;
            gap = (right ? "" : padding) + (i == last ? "" : "  ");
        }
        out.erase(out.find_last_not_of(' ') + 1); // an empty last cell
        out += '\n';
    };
    if (headers) {
        std::vector<Cell> cells;
        for (const Column& column : columns_) cells.emplace_back(column.header, "2");
        line(cells);
    }
    for (const Row& row : rows_) {
        if (row.note)
            out += std::string(indent) + "    " + paint(row.cells[0].color, row.cells[0].text) + "\n";
        else
            line(row.cells);
    }
    return out;
}

namespace {

std::string markdown_cell(std::string_view text) {
    std::string result;
    for (char c : text) {
        if (c == '|' || c == '\\' || c == '<' || c == '*' || c == '_' || c == '`') result += '\\';
        result += c == '\n' ? ' ' : c;
    }
    return result;
}

} // namespace

std::string Table::render_markdown() const {
    std::vector<bool> used = used_columns();
    bool notes = std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.note; });
    std::string head = "|", rule = "|", body;
    for (size_t i = 0; i < columns_.size(); ++i) {
        if (!used[i]) continue;
        head += " " + markdown_cell(columns_[i].header) + " |";
        rule += columns_[i].align == Align::right ? "---:|" : "---|";
    }
    if (notes) head += " notes |", rule += "---|";
    for (size_t r = 0; r < rows_.size(); ++r) {
        if (rows_[r].note) continue;
        body += "|";
        for (size_t i = 0; i < columns_.size(); ++i)
            if (used[i]) body += " " + markdown_cell(rows_[r].cells[i].text) + " |";
        std::string text;
        for (size_t n = r + 1; n < rows_.size() && rows_[n].note; ++n)
            text += (text.empty() ? "" : "; ") + rows_[n].cells[0].text;
        if (notes) body += " " + markdown_cell(text) + " |";
        body += "\n";
    }
    return head + "\n" + rule + "\n" + body;
}

} // namespace shard
