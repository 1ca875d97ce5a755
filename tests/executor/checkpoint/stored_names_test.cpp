#include "executor/checkpoint/stored_names.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

StoredName name_of(const std::string& from, const std::string& rearrange,
                   std::map<std::string, StoredRange> parts = {}) {
    std::string problem;
    StoredName name;
    name.from.push_back(*NameTemplate::parse(from, problem));
    if (!rearrange.empty()) name.rearrangement = Rearrangement::parse(rearrange, std::move(parts), problem);
    CHECK(problem.empty());
    return name;
}

std::vector<StoredSource> find(const std::string& param, const Shape& shape, const std::vector<i64>& stacked,
                               const StoredName& name) {
    StoredNames names;
    names.tensors[path_without_layers(param)] = name;
    std::string problem;
    const auto first = [](const std::vector<std::string>& candidates) { return candidates.front(); };
    const auto found = find_stored(names, param, shape, stacked, first, problem);
    CHECK(problem.empty());
    REQUIRE(found);
    return *found;
}

} // namespace

TEST_CASE("heads that are joined and dims in another order are strides of what is stored") {
    // [(heads 2, kv 3), embed 5]: an entry of kv is 5 further on, a head 15.
    const std::vector<StoredSource> found =
        find("wq", {5, 2, 3}, {}, name_of("q.weight", "(heads kv) embed -> embed heads kv"));
    REQUIRE(found.size() == 1);
    CHECK(found[0].stored == "q.weight");
    CHECK(found[0].stored_shape == Shape{6, 5});
    CHECK(found[0].strides == std::vector<i64>{1, 15, 5});
    CHECK(found[0].skipped == 0);
}

TEST_CASE("a part of a dim is skipped to, and the dim is longer there") {
    // [embed 5, (qkv 3, heads 2, kv 3)]: the second of three is 6 in.
    const std::vector<StoredSource> found = find(
        "wk", {5, 2, 3}, {}, name_of("c_attn.weight", "embed (qkv heads kv) -> embed heads kv", {{"qkv", {1, 3}}}));
    REQUIRE(found.size() == 1);
    CHECK(found[0].stored_shape == Shape{5, 18});
    CHECK(found[0].strides == std::vector<i64>{18, 3, 1});
    CHECK(found[0].skipped == 6);
    // The last 3 of each head's 7.
    const std::vector<StoredSource> range =
        find("v", {2, 3}, {}, name_of("kv.weight", "(heads kv) -> heads kv", {{"kv", {4, 7}}}));
    REQUIRE(range.size() == 1);
    CHECK(range[0].stored_shape == Shape{14});
    CHECK(range[0].strides == std::vector<i64>{7, 1});
    CHECK(range[0].skipped == 4);
}

TEST_CASE("layers of a stack and experts are arrays of their own") {
    const StoredName name = name_of("h.{2*layer+1}.expert.{expert}", "mlp embed -> expert embed mlp");
    const std::vector<StoredSource> found = find("block.w", {2, 3, 5, 7}, {1}, name);
    REQUIRE(found.size() == 6);
    CHECK(found[0].stored == "h.1.expert.0");
    CHECK(found[5].stored == "h.3.expert.2");
    CHECK(found[5].start == std::vector<i64>{1, 2, 0, 0});
    CHECK(found[5].shape == Shape{1, 1, 5, 7});
    CHECK(found[5].stored_shape == Shape{7, 5});
    CHECK(found[5].strides == std::vector<i64>{0, 0, 1, 5});
    // Written out, the number is in the name.
    const std::vector<StoredSource> third = find("block.3.w", {3, 5, 7}, {}, name);
    REQUIRE(third.size() == 3);
    CHECK(third[1].stored == "h.7.expert.1");
    // A loop in a loop: the outer number comes first.
    const std::vector<StoredSource> inner = find("outer.1.inner.w", {2, 5}, {2}, name_of("{layer}.{layer_2}.w", ""));
    REQUIRE(inner.size() == 2);
    CHECK(inner[1].stored == "1.1.w");
}

TEST_CASE("a parameter without names, and one of no entries, have no sources") {
    StoredNames names;
    std::string problem;
    const auto first = [](const std::vector<std::string>& candidates) { return candidates.front(); };
    CHECK(find_stored(names, "w", {2}, {}, first, problem)->empty());
    CHECK(find("block.w", {0, 2}, {1}, name_of("h.{layer}", "")).empty());
}

} // namespace shard
