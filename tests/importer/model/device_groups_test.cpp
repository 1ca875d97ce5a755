#include "importer/model/device_groups.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const ProgramMesh mesh = {{"data", "model"}, {2, 4}}; // device 4 d + m

using Groups = std::vector<std::vector<i64>>;
using Names = std::vector<std::string>;

} // namespace

TEST_CASE("groups of devices run over the axes that their members differ in, in the order in which they count") {
    CHECK(axes_of_groups(mesh, {{0, 1, 2, 3}, {4, 5, 6, 7}}) == Names{"model"});
    CHECK(axes_of_groups(mesh, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}) == Names{"data"});
    CHECK(axes_of_groups(mesh, {{0, 1, 2, 3, 4, 5, 6, 7}}) == Names{"data", "model"});
    CHECK(axes_of_groups(mesh, {{0, 4, 1, 5, 2, 6, 3, 7}}) == Names{"model", "data"});
    CHECK(axes_of_groups(mesh, {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}) == Names{});
}

TEST_CASE("groups that are no axes have none") {
    for (const Groups& groups :
         {Groups{}, Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, Groups{{0, 1, 2, 3}}, Groups{{0, 1, 2, 3}, {4, 5, 6, 8}},
          Groups{{1, 0, 2, 3}, {4, 5, 6, 7}}, Groups{{0, 1, 2, 7}, {4, 5, 6, 3}}, Groups{{0, 1, 2, 3}, {4, 5, 6, 6}}})
        CHECK_FALSE(axes_of_groups(mesh, groups).has_value());
}

TEST_CASE("pairs of devices are pairs along an axis if they are the same at each place along the others") {
    const std::optional<PermutedAxes> along = axes_of_pairs(mesh, {{0, 1}, {4, 5}, {1, 2}, {5, 6}, {2, 0}, {6, 4}});
    REQUIRE(along.has_value());
    CHECK(along->axes == Names{"model"});
    CHECK(along->pairs == std::vector<std::pair<i64, i64>>{{0, 1}, {1, 2}, {2, 0}});
    CHECK_FALSE(axes_of_pairs(mesh, {{0, 1}, {4, 6}}).has_value());
    CHECK_FALSE(axes_of_pairs(mesh, {{0, 1}}).has_value());
    CHECK_FALSE(axes_of_pairs(mesh, {{0, 8}, {4, 5}}).has_value());
    const std::optional<PermutedAxes> over_both = axes_of_pairs(mesh, {{0, 5}, {5, 0}});
    REQUIRE(over_both.has_value());
    CHECK(over_both->axes == Names{"data", "model"});
    CHECK(over_both->pairs == std::vector<std::pair<i64, i64>>{{0, 5}, {5, 0}});
}
