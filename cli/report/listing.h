// Items of registries as `list` and `explain NAME` show them, for people and for scripts.
#pragma once

#include "cli/report/registries.h"
#include "cli/terminal/paint.h"

namespace shard {

struct Listing {
    std::string_view name; // of the registry, or "lists"
    std::vector<Item> items;
};

// An item and where it was found.
struct FoundItem {
    const Registry* registry = nullptr;
    Item item;
};

std::string listing_text(const Listing& listing, const Paint& paint);
std::string listing_json(const Listing& listing);

// The doc of an item as a terminal shows it, with its arguments.
std::string item_text(const Registry& registry, const Item& item, const Paint& paint);
// {name, summary, doc, arguments: {...}}
std::string item_json(const Item& item);
std::string item_payload(const Item& item); // alone, as a payload

// Items of one name, from several registries.
std::string found_text(const std::vector<FoundItem>& found, const Paint& paint);
std::string found_json(const std::vector<FoundItem>& found);

// Text broken into lines of at most `width` columns at spaces; lines that begin with a space are examples and stay as
// they are.
std::string wrapped(std::string_view text, size_t width);

} // namespace shard
