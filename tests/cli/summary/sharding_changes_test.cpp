#include "cli/summary/sharding_changes.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

using Strings = std::vector<std::string>;

std::vector<Strings> rows_of(const std::vector<ShardingChange>& changes) {
    std::vector<Strings> rows;
    for (const ShardingChange& change : changes) rows.push_back({change.role, change.name, change.shardings[1]});
    return rows;
}

// Two layers of three weights: wq and wk are cut in the second plan along one dim, wo along another.
std::vector<ShardingChange> train_step() {
    const Strings in = {"[- | -]", "[- | data]"}, out = {"[- | -]", "[data | -]"};
    std::vector<ShardingChange> changes;
    for (const std::string layer : {"block.0", "block.1"}) {
        changes.push_back({layer + ".wq", "param", in});
        changes.push_back({layer + ".wk", "param", in});
        changes.push_back({layer + ".wo", "param", out});
    }
    const std::vector<ShardingChange> params = changes;
    for (const std::string suffix : {".grad", ".mu", ".nu"})
        for (const ShardingChange& param : params)
            changes.push_back({param.name + suffix, suffix == ".grad" ? "gradient" : "state", param.shardings});
    return changes;
}

} // namespace

TEST_CASE("changes of a train step: layers and neighbours are a row, states and gradients lie as their parameters") {
    CHECK(rows_of(alike_changes(train_step(), Detail::screen)) ==
          std::vector<Strings>{{"param", "block.{0,1}.{wq,wk}", "[- | data]"},
                               {"param", "block.{0,1}.wo", "[data | -]"},
                               {"gradient", "grad of the params above", "as the param"},
                               {"state", "mu, nu of the params above", "as the param"}});
    CHECK(alike_changes(train_step(), Detail::screen)[0].first == "block.0.wq");
    CHECK(rows_of(alike_changes(train_step(), Detail::each)).size() == 12); // 3 params, their grad, mu and nu
}

TEST_CASE("arrays of other dims are no row, however alike they are cut") {
    std::vector<ShardingChange> changes = train_step();
    for (ShardingChange& change : changes)
        change.dims = {"embed", change.name.find("wk") == std::string::npos ? "heads" : "kv_heads"};
    const std::vector<Strings> rows = rows_of(alike_changes(changes, Detail::screen));
    CHECK(rows[0] == Strings{"param", "block.{0,1}.wq", "[- | data]"});
    CHECK(rows[1] == Strings{"param", "block.{0,1}.wk", "[- | data]"});
}

TEST_CASE("a state that does not change as its parameter does keeps a row of its own") {
    std::vector<ShardingChange> changes = train_step();
    for (ShardingChange& change : changes)
        if (change.name == "block.1.wo.mu") change.shardings = {"[- | -]", "absent"};
    const std::vector<Strings> rows = rows_of(alike_changes(changes, Detail::screen));
    CHECK(rows[3] == Strings{"state", "block.1.wo.mu", "absent"});
    CHECK(rows[4] == Strings{"state", "mu of 5 of the params above", "as the param"});
    CHECK(rows[5] == Strings{"state", "nu of the params above", "as the param"});
}

} // namespace shard
