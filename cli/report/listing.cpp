#include "cli/report/listing.h"

#include "cli/terminal/narrow_yaml.h"
#include "cli/terminal/table.h"
#include "plans/base/version.h"
#include "plans/json/json_text.h"

#include <fmt/format.h>

namespace shard {

std::string listing_text(const Listing& listing, const Paint& paint) {
    Table table({{""}, {"", Align::left, 0, true}});
    for (const Item& item : listing.items) table.add({Cell(item.name, "1"), item.summary});
    return table.render(paint, "");
}

std::string listing_json(const Listing& listing) {
    std::vector<std::string> lines;
    for (const Item& item : listing.items) lines.push_back(item_json(item));
    JsonObject object;
    object.integer("format_version", 1).string("tool", tool_text()).string("list", listing.name);
    object.raw("items", json_lines(lines, 2));
    return object.text() + "\n";
}

std::string found_text(const std::vector<FoundItem>& found, const Paint& paint) {
    std::string out;
    for (const FoundItem& each : found) out += (out.empty() ? "" : "\n") + item_text(*each.registry, each.item, paint);
    return out;
}

std::string found_json(const std::vector<FoundItem>& found) {
    std::vector<std::string> lines;
    for (const FoundItem& each : found)
        lines.push_back(JsonObject().string("list", each.registry->name).raw("item", item_json(each.item)).text());
    return JsonObject()
               .integer("format_version", 1)
               .string("tool", tool_text())
               .raw("found", json_lines(lines, 2))
               .text() +
           "\n";
}

std::string wrapped(std::string_view text, size_t width) {
    std::string out;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        size_t column = 0;
        if (line.starts_with(' ')) {
            out += line;
            line = {};
        }
        while (!line.empty()) {
            std::string_view word = line.substr(0, line.find(' '));
            line.remove_prefix(std::min(word.size() + 1, line.size()));
            size_t size = display_width(word);
            if (column > 0 && column + 1 + size > width) {
                out += '\n';
                column = 0;
            }
            out += column > 0 ? " " : "";
            out += word;
            column += size + (column > 0 ? 1 : 0);
        }
        out += '\n';
    }
    return out;
}

namespace {

std::string item_members(JsonObject object, const Item& item) {
    JsonObject arguments;
    for (const std::pair<std::string, std::string>& argument : item.arguments)
        arguments.string(argument.first, argument.second);
    return object.string("name", item.name)
        .string("summary", item.summary)
        .string("doc", item.doc)
        .raw("arguments", arguments.text())
        .text();
}

} // namespace

std::string item_json(const Item& item) { return item_members({}, item); }

std::string item_payload(const Item& item) {
    return item_members(JsonObject().integer("format_version", 1).string("tool", tool_text()), item) + "\n";
}

std::string item_text(const Registry& registry, const Item& item, const Paint& paint) {
    constexpr size_t most = 100; // columns of a text that is read
    std::string out = fmt::format("{} ({})\n\n", paint.strong(item.name), registry.one);
    out += registry.is_text ? narrow_yaml(item.doc, paint.width) + "\n"
                            : wrapped(item.doc, std::min(most, paint.width > 0 ? paint.width : most));
    if (item.arguments.empty()) return out;
    Table table({{""}, {"", Align::left, 0, true}});
    for (const std::pair<std::string, std::string>& argument : item.arguments)
        table.add({argument.first, argument.second});
    return out + "\n" + table.render(paint, "  ");
}

} // namespace shard
