#include "cli/terminal/table.h"

#include "cli/terminal/wrap.h"
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

namespace {

constexpr size_t gap = 2, least_wrapped = 16; // between columns; of one that wraps

size_t longest_word(std::string_view rest) {
    size_t width = 0;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find(' '), rest.size());
        width = std::max(width, display_width(rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return width;
}

} // namespace

// Of a column whose header is broken between words: as wide as its longest word, or its widest cell.
size_t Table::broken_header_width(size_t column) const {
    size_t width = longest_word(columns_[column].header);
    for (const Row& row : rows_)
        if (!row.note) width = std::max(width, display_width(row.cells[column].text));
    return width;
}

std::vector<size_t> Table::natural_widths() const {
    std::vector<size_t> widths(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
        widths[i] = display_width(columns_[i].header);
        for (const Row& row : rows_)
            if (!row.note) widths[i] = std::max(widths[i], display_width(row.cells[i].text));
    }
    return widths;
}

// Empty if one table does, or none can be cut.
std::vector<Table> Table::by_groups(size_t room) const {
    std::vector<size_t> widths = natural_widths();
    const std::vector<bool> used = used_columns();
    for (size_t i = 0; i < widths.size(); ++i) {
        if (columns_[i].wraps) widths[i] = std::min(widths[i], least_wrapped);
        widths[i] = used[i] ? widths[i] + gap : 0;
    }
    int last = 0;
    for (const Column& column : columns_) last = std::max(last, column.group);
    std::vector<size_t> sums(static_cast<size_t>(last) + 1);
    for (size_t i = 0; i < widths.size(); ++i) sums[static_cast<size_t>(columns_[i].group)] += widths[i];
    std::vector<int> part(sums.size()); // by group, in which table
    for (size_t g = 1, sum = sums[0]; g < sums.size(); ++g) {
        const bool fits = g == 1 || sum + sums[g] <= room + gap;
        sum = fits ? sum + sums[g] : sums[0] + sums[g];
        part[g] = part[g - 1] + (fits ? 0 : 1);
    }
    std::vector<Table> tables;
    for (int p = 0; p <= part.back() && part.back() > 0; ++p) {
        std::vector<size_t> kept;
        for (size_t i = 0; i < columns_.size(); ++i)
            if (columns_[i].group == 0 || part[static_cast<size_t>(columns_[i].group)] == p) kept.push_back(i);
        std::vector<Column> columns;
        for (const size_t i : kept) columns.push_back(columns_[i]), columns.back().group = 0;
        Table& table = tables.emplace_back(std::move(columns));
        for (const Row& row : rows_) {
            if (row.note) continue;
            std::vector<Cell> cells;
            for (const size_t i : kept) cells.push_back(row.cells[i]);
            table.add(std::move(cells));
        }
    }
    return tables;
}

// Of the columns in `used`, from which those are taken out that do not fit and can be spared. `room` is 0 if there is
// no limit.
std::vector<size_t> Table::fitting_widths(std::vector<bool>& used, size_t room) const {
    constexpr size_t least_text = 8; // of a text that does not wrap
    std::vector<size_t> widths = natural_widths();
    const auto too_much = [&]() -> size_t {
        size_t sum = 0;
        for (size_t i = 0; i < widths.size(); ++i)
            if (used[i]) sum += widths[i] + (sum > 0 ? gap : 0);
        return room > 0 && sum > room ? sum - room : 0;
    };
    while (too_much() > 0) {
        size_t first = columns_.size();
        for (size_t i = 0; i < columns_.size(); ++i)
            if (used[i] && columns_[i].spared > 0 &&
                (first == columns_.size() || columns_[i].spared < columns_[first].spared))
                first = i;
        if (first == columns_.size()) break;
        used[first] = false;
    }
    // Takes from the widest of the columns that are wider than their least.
    const auto narrow = [&](const std::vector<size_t>& leasts) {
        for (size_t over = too_much(); over > 0; over = too_much()) {
            size_t widest = columns_.size();
            for (size_t i = 0; i < columns_.size(); ++i)
                if (used[i] && widths[i] > leasts[i] && (widest == columns_.size() || widths[i] > widths[widest]))
                    widest = i;
            if (widest == columns_.size()) return;
            --widths[widest];
        }
    };
    std::vector<size_t> leasts = widths;
    for (size_t i = 0; i < columns_.size(); ++i)
        if (columns_[i].wraps) leasts[i] = std::min(leasts[i], least_wrapped);
    narrow(leasts);
    for (size_t i = 0; i < columns_.size(); ++i) leasts[i] = std::min(leasts[i], broken_header_width(i));
    narrow(leasts); // headers in several lines
    if (room >= Paint::wide) return widths;
    for (size_t i = 0; i < columns_.size() && too_much() > 0; ++i) // what a note can say
        if (columns_[i].wraps && columns_[i].noted) used[i] = false;
    const size_t last = static_cast<size_t>(std::find(used.rbegin(), used.rend(), true).base() - used.begin());
    for (size_t i = 0; i + 1 < last; ++i) // behind the last nothing is pushed aside
        if (columns_[i].align == Align::left)
            leasts[i] = std::min(leasts[i], std::max(least_text, longest_word(columns_[i].header)));
    narrow(leasts); // texts too that are better whole
    return widths;
}

std::string Table::render(const Paint& paint, std::string_view indent) const {
    const size_t room = paint.width == 0 ? 0 : std::max(paint.width, indent.size() + 1) - indent.size();
    std::string parts;
    for (const Table& table : room == 0 ? std::vector<Table>() : by_groups(room))
        parts += (parts.empty() ? "" : "\n") + table.render(paint, indent);
    if (!parts.empty()) return parts;
    std::vector<bool> used = used_columns();
    const std::vector<size_t> widths = fitting_widths(used, room);
    bool headers = false;
    size_t last = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
        if (!used[i]) continue;
        last = i;
        headers = headers || !columns_[i].header.empty();
    }
    std::string out;
    const auto line = [&](const std::vector<Cell>& cells) {
        out += indent;
        std::string gap;
        for (size_t i = 0; i < cells.size(); ++i) {
            if (!used[i]) continue;
            std::string padding(widths[i] - std::min(widths[i], display_width(cells[i].text)), ' ');
            std::string painted =
                paint.on && !cells[i].painted.empty() ? cells[i].painted : paint(cells[i].color, cells[i].text);
            bool right = columns_[i].align == Align::right;
            out += gap + (right ? padding : "") + painted;
            gap = (right ? "" : padding) + (i == last ? "" : "  ");
        }
        out.erase(out.find_last_not_of(' ') + 1); // an empty last cell
        out += '\n';
    };
    // A row takes as many lines as its longest cell.
    const auto lines = [&](const std::vector<Cell>& cells) {
        std::vector<std::vector<std::string>> texts;
        size_t most = 1;
        for (size_t i = 0; i < cells.size(); ++i) {
            const bool fits = !used[i] || display_width(cells[i].text) <= widths[i];
            texts.push_back(fits ? std::vector<std::string>{cells[i].text} : broken(cells[i].text, widths[i]));
            most = std::max(most, texts.back().size());
        }
        if (most == 1) return line(cells);
        for (size_t n = 0; n < most; ++n) {
            std::vector<Cell> part;
            for (size_t i = 0; i < cells.size(); ++i) {
                if (texts[i].size() == 1 && n == 0)
                    part.push_back(cells[i]);
                else
                    part.emplace_back(n < texts[i].size() ? texts[i][n] : "", cells[i].color);
            }
            line(part);
        }
    };
    if (headers) {
        std::vector<Cell> cells;
        for (const Column& column : columns_) cells.emplace_back(column.header, "2");
        lines(cells);
    }
    const auto note = [&](const std::string& said, std::string_view color) {
        const std::string before = std::string(indent) + "    ";
        for (const std::string& text :
             broken(said,
                    paint.width == 0 ? std::string::npos : std::max(paint.width, before.size() + 20) - before.size()))
            out += before + paint(color, text) + "\n";
    };
    std::string left_out; // of the last row
    for (size_t r = 0; r < rows_.size(); ++r) {
        const Row& row = rows_[r];
        if (!row.note) {
            lines(row.cells);
            left_out.clear();
            for (size_t i = 0; i < columns_.size(); ++i)
                if (columns_[i].noted && !used[i] && !row.cells[i].text.empty())
                    left_out += (left_out.empty() ? "" : ": ") + row.cells[i].text;
            if (left_out.empty()) continue;
            if (r + 1 == rows_.size() || !rows_[r + 1].note)
                note(left_out, "");
            else
                left_out += ": ";
            continue;
        }
        note(left_out + row.cells[0].text, row.cells[0].color);
        left_out.clear();
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
