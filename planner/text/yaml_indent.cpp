#include "planner/text/yaml_indent.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// Entries of one list or map that is still open.
struct OpenBlock {
    size_t column = 0; // from 0
    bool is_list = false;
    int last_line = 0;
};

bool is_item(std::string_view line, size_t at) {
    return line.substr(at).starts_with("- ") || line.substr(at) == "-" || line.substr(at) == "-\r";
}

// Which lines begin within brackets, by number from 1.
std::vector<bool> lines_in_brackets(const TextPlaces& places) {
    std::vector<bool> inside;
    BracketScan scan(places, 0);
    int open_line = 0;
    while (scan.next()) {
        const int line = places.at(scan.at()).line;
        if (scan.depth() == 1 && open_line == 0) open_line = line;
        if (scan.depth() > 0) continue;
        inside.resize(std::max<size_t>(inside.size(), static_cast<size_t>(line) + 1));
        for (int each = open_line + 1; open_line > 0 && each <= line; ++each) inside[static_cast<size_t>(each)] = true;
        open_line = 0;
    }
    return inside;
}

class BlockWalk {
public:
    // Blocks that no longer go on at this column are closed; those that the line begins are opened.
    void take(std::string_view line, int number) {
        size_t at = line.find_first_not_of(' ');
        close_beyond(at);
        for (bool item = is_item(line, at);; item = is_item(line, at)) {
            put(at, item, number);
            if (!item) break;
            const size_t next = line.find_first_not_of(" \r", at + 1);
            if (next == std::string_view::npos || line[next] == '#') break;
            at = next;
        }
    }

    std::optional<MisfitLine> misfit(std::string_view line) {
        const size_t at = line.find_first_not_of(' ');
        if (line[at] == '\t') return std::nullopt;
        const bool item = is_item(line, at);
        std::vector<OpenBlock> here;
        std::copy_if(open_.begin(), open_.end(), std::back_inserter(here),
                     [at](const OpenBlock& block) { return block.column == at; });
        if (std::any_of(here.begin(), here.end(), [item](const OpenBlock& b) { return b.is_list == item; }))
            return std::nullopt;
        if (!here.empty() && !item)
            return MisfitLine{{},
                              "this entry has no `- `, and those of its list have",
                              fmt::format("write - {} ...", line.substr(at, line.find_first_of(" \r", at) - at))};
        if (!here.empty())
            return MisfitLine{
                {},
                "this entry has a `- `, and those above it have none",
                fmt::format("write it in front of line {} too, if they make a list", here.back().last_line)};
        if (open_.empty()) return std::nullopt;
        const auto above =
            std::find_if(open_.begin(), open_.end(), [at](const OpenBlock& block) { return block.column > at; });
        if (above == open_.begin())
            return told(
                fmt::format("this line starts in column {}, those above it in column {}", at + 1, above->column + 1));
        const OpenBlock& below = *std::prev(above);
        // Of two items, what stands in the first one is no neighbour.
        if (above == open_.end() || (item && below.is_list && !above->is_list))
            return told(
                fmt::format("this line starts in column {}, its neighbours in column {}", at + 1, below.column + 1));
        return told(fmt::format("this line starts in column {}, those above it in columns {} and {}", at + 1,
                                below.column + 1, above->column + 1));
    }

private:
    static MisfitLine told(std::string message) {
        return {{}, std::move(message), "begin what belongs together in one column"};
    }
    void close_beyond(size_t column) {
        while (!open_.empty() && open_.back().column > column) open_.pop_back();
    }
    void put(size_t column, bool is_list, int number) {
        for (OpenBlock& block : open_)
            if (block.column == column && block.is_list == is_list) {
                // A list may begin in the column of its key.
                while (&open_.back() != &block) open_.pop_back();
                block.last_line = number;
                return;
            }
        open_.push_back({column, is_list, number});
    }

    std::vector<OpenBlock> open_; // outermost first
};

} // namespace

std::optional<MisfitLine> misfit_of_line(const TextPlaces& places, size_t offset) {
    const std::string_view text = places.text();
    const std::vector<bool> inside = lines_in_brackets(places);
    BlockWalk walk;
    int number = 1;
    for (size_t begin = 0; begin < text.size(); ++number) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        const size_t first = line.find_first_not_of(" \r");
        const bool counts = first != std::string_view::npos && line[first] != '#' &&
                            (static_cast<size_t>(number) >= inside.size() || !inside[static_cast<size_t>(number)]);
        if (offset <= end) {
            std::optional<MisfitLine> misfit = counts ? walk.misfit(line) : std::nullopt;
            if (misfit) misfit->place = places.at(begin + first);
            return misfit;
        }
        if (counts) walk.take(line, number);
        begin = end + 1;
    }
    return std::nullopt;
}

} // namespace shard
