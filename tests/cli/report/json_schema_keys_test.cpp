#include "cli/report/json_schema_keys.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace shard {

namespace {

const Item* find(const std::vector<Item>& items, std::string_view name) {
    const auto found = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
    return found == items.end() ? nullptr : &*found;
}

std::vector<std::string> argument_names(const Item& item) {
    std::vector<std::string> names;
    for (const auto& [name, doc] : item.arguments) names.push_back(name);
    return names;
}

} // namespace

TEST_CASE("every key of models, layouts, policies and shardc.yaml is listed once, with what it means") {
    const std::vector<Item> items = schema_keys();
    for (const Item& item : items) {
        CAPTURE(item.name);
        CHECK(std::count_if(items.begin(), items.end(), [&](const Item& other) { return other.name == item.name; }) ==
              1);
        CHECK(item.doc.size() > 5);
        CHECK(item.summary.size() > 5);
    }
    for (const char* const name :
         {"model.graph", "model.graph.NAME.repeat", "model.graph.NAME.manual.body", "model.train.clip.global_norm",
          "model.inputs.NAME.init.key", "layout.mesh.NAME.link", "layout.fsdp.min_size",
          "layout.policy.max_collectives", "policy.max_collectives"})
        CHECK_MESSAGE(find(items, name) != nullptr, name);
    // What an entry of models says as the file does, and a policy in it, is said once.
    CHECK(find(items, "config.strict") != nullptr);
    CHECK(find(items, "config.models.name") != nullptr);
    CHECK(find(items, "config.models.strict") == nullptr);
    CHECK(find(items, "config.policies.max_collectives") == nullptr);
}

TEST_CASE("a key says its choices, what holds without it, whether it has to be there, and what stands inside") {
    const std::vector<Item> items = schema_keys();
    const Item* semantics = find(items, "layout.semantics");
    REQUIRE(semantics != nullptr);
    CHECK(semantics->doc.ends_with("\nOne of linen, nnx.\nUnless given: linen."));
    const Item* mesh = find(items, "layout.mesh");
    REQUIRE(mesh != nullptr);
    CHECK(mesh->doc == "Mesh axes and their sizes, outer to inner. {} is one device.\nIt has to be there.\n"
                       "  mesh: {data: 2, model: 4}\n  mesh: {data: {size: 2, link: dcn}, model: 8}");
    CHECK(argument_names(*mesh) == std::vector<std::string>{"NAME.size", "NAME.link"});
    const Item* repeat = find(items, "model.graph.NAME.repeat");
    REQUIRE(repeat != nullptr);
    CHECK(argument_names(*repeat) ==
          std::vector<std::string>{"times", "axis", "scan", "reverse", "over", "stack", "name"});
}

} // namespace shard
