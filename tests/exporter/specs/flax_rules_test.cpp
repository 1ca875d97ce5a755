// Rules made of shardings, and shardings made of rules; the expected ones follow by hand from Flax's reading of rules:
// in their order, each dim and each mesh axis once.
#include "exporter/specs/flax_rules.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

using Spec = std::vector<std::vector<std::string>>;

} // namespace

TEST_CASE("names that are split alike everywhere get one rule each, in the order in which they occur") {
    const std::vector<ArraySpec> arrays = {{"x", {"batch", "embed"}, {{"data"}, {}}},
                                           {"w", {"embed", "hidden"}, {{}, {"model"}}}};
    CHECK(logical_rules(arrays) == std::vector<LogicalRule>{{"batch", {"data"}}, {"embed", {}}, {"hidden", {"model"}}});
}

TEST_CASE("a name that is split in two ways gets two rules, that of more axes first") {
    const std::vector<ArraySpec> arrays = {{"x", {"batch", "embed"}, {{"data"}, {}}},
                                           {"w", {"embed", "hidden"}, {{"data"}, {"model"}}},
                                           {"v", {"hidden"}, {{"data", "model"}}}};
    const std::vector<LogicalRule> rules = logical_rules(arrays);
    CHECK(rules == std::vector<LogicalRule>{{"batch", {"data"}},
                                            {"embed", {"data"}},
                                            {"embed", {}},
                                            {"hidden", {"data", "model"}},
                                            {"hidden", {"model"}}});
    for (const ArraySpec& array : arrays) CHECK(spec_by_rules(rules, array) == array.spec);
}

TEST_CASE("a rule is passed over where its axes are taken or its dim is") {
    const std::vector<LogicalRule> rules = {{"a", {"x"}}, {"b", {"x", "y"}}, {"a", {"y"}}, {"b", {"y"}}, {"c", {"z"}}};
    CHECK(spec_by_rules(rules, {"", {"b", "a"}, {}}) == Spec{{"y"}, {"x"}});
    CHECK(spec_by_rules(rules, {"", {"b"}, {}}) == Spec{{"x", "y"}});
    CHECK(spec_by_rules(rules, {"", {"", "c", "d"}, {}}) == Spec{{}, {"z"}, {}});
}
