#include "plans/sharding/mesh.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const Mesh two_by_four = {{{"data", 2, ""}, {"model", 4, ""}}, {}};
const Mesh eight = {{{"a", 8, ""}}, {}};

} // namespace

TEST_CASE("positions count row-major, the last axis fastest") {
    CHECK(two_by_four.device_count() == 8);
    CHECK(coordinates_of(two_by_four, 5) == std::vector<i64>{1, 1});
    CHECK(coordinates_of(two_by_four, 3) == std::vector<i64>{0, 3});
    for (i64 p = 0; p < 8; ++p) CHECK(position_of(two_by_four, coordinates_of(two_by_four, p)) == p);
    CHECK(two_by_four.find("model") == 1);
    CHECK(!two_by_four.find("mod"));
    Mesh permuted = two_by_four;
    permuted.device_ids = {7, 6, 5, 4, 3, 2, 1, 0};
    CHECK(permuted.device_id(0) == 7);
    CHECK(two_by_four.device_id(6) == 6);
}

TEST_CASE("a mesh without axes is one device") {
    const Mesh empty;
    CHECK(empty.device_count() == 1);
    CHECK(coordinates_of(empty, 0).empty());
    CHECK(group_of(empty, 0, {}) == std::vector<i64>{0});
}

TEST_CASE("groups hold the devices that differ only along the given axes") {
    const AxisRef data = two_by_four.whole(0);
    const AxisRef model = two_by_four.whole(1);
    CHECK(group_of(two_by_four, 0, std::span(&data, 1)) == std::vector<i64>{0, 4});
    CHECK(group_of(two_by_four, 7, std::span(&data, 1)) == std::vector<i64>{3, 7});
    CHECK(group_of(two_by_four, 6, std::span(&model, 1)) == std::vector<i64>{4, 5, 6, 7});
    const std::vector<AxisRef> swapped = {model, data}; // rank = linear coordinate over the given order
    CHECK(group_of(two_by_four, 3, swapped) == std::vector<i64>{0, 4, 1, 5, 2, 6, 3, 7});
}

TEST_CASE("sub-axis coordinates: a:(2)2 of an axis of 8 is its middle bit") {
    const AxisRef middle = {0, 2, 2};
    for (i64 p = 0; p < 8; ++p) CHECK(coordinate(eight, coordinates_of(eight, p), middle) == p / 2 % 2);
    CHECK(group_of(eight, 5, std::span(&middle, 1)) == std::vector<i64>{5, 7});
    const AxisRef major = {0, 1, 4};
    CHECK(group_of(eight, 1, std::span(&major, 1)) == std::vector<i64>{1, 3, 5, 7});
}

TEST_CASE("overlap, containment and prefix of the parts of an axis of 8") {
    struct Row {
        AxisRef a, b;
        bool overlaps, contains, prefix; // contains: a holds b; prefix: b is a prefix of a
    };
    const AxisRef whole = {0, 1, 8}, major2 = {0, 1, 2}, major4 = {0, 1, 4}, middle2 = {0, 2, 2}, minor2 = {0, 4, 2},
                  minor4 = {0, 2, 4}, other = {1, 1, 8};
    const Row rows[] = {
        {whole, whole, true, true, true},       {whole, major2, true, true, true},
        {whole, minor2, true, true, false},     {major2, whole, true, false, false},
        {major2, minor4, false, false, false},  {major4, minor4, true, false, false},
        {major4, major2, true, true, true},     {minor4, middle2, true, true, true},
        {middle2, minor2, false, false, false}, {whole, other, false, false, false},
    };
    for (const Row& row : rows) {
        CAPTURE(text(Mesh{{{"a", 8, ""}, {"b", 8, ""}}, {}}, row.a));
        CAPTURE(text(Mesh{{{"a", 8, ""}, {"b", 8, ""}}, {}}, row.b));
        CHECK(overlaps(row.a, row.b) == row.overlaps);
        CHECK(overlaps(row.b, row.a) == row.overlaps);
        CHECK(contains(row.a, row.b) == row.contains);
        CHECK(is_prefix(row.b, row.a) == row.prefix);
    }
    CHECK(overlaps(AxisRef{0, 1, 1}, AxisRef{0, 1, 1})); // an axis of size 1 is still itself
}

TEST_CASE("prefix without overlap, rest, append, unused") {
    const AxisRef whole = {0, 1, 8}, major2 = {0, 1, 2}, minor4 = {0, 2, 4}, minor2 = {0, 4, 2};
    CHECK(prefix_without_overlap(whole, std::span(&minor4, 1)) == major2);
    CHECK(prefix_without_overlap(whole, std::span(&major2, 1)) == std::nullopt);
    CHECK(prefix_without_overlap(major2, std::span(&minor4, 1)) == major2);
    const std::vector<AxisRef> both = {minor2, minor4};
    CHECK(prefix_without_overlap(whole, both) == major2);

    CHECK(rest_after(whole, major2) == minor4);
    CHECK(rest_after(whole, whole) == std::nullopt);

    std::vector<AxisRef> list = {major2};
    append_axis(list, minor4);
    CHECK(list == std::vector<AxisRef>{whole});
    append_axis(list, AxisRef{1, 1, 2});
    CHECK(list.size() == 2);
    list = {minor4}; // minor before major is another order: no merge
    append_axis(list, major2);
    CHECK(list.size() == 2);

    const std::vector<AxisRef> middle = {{0, 2, 2}};
    CHECK(unused_axes(eight, middle) == std::vector<AxisRef>{{0, 1, 2}, {0, 4, 2}});
    const std::vector<AxisRef> model = {two_by_four.whole(1)};
    CHECK(unused_axes(two_by_four, model) == std::vector<AxisRef>{two_by_four.whole(0)});
    CHECK(unused_axes(two_by_four, {}).size() == 2);
}

TEST_CASE("text and parse of axis references are inverse") {
    for (const AxisRef& ref : {AxisRef{0, 1, 8}, AxisRef{0, 1, 2}, AxisRef{0, 2, 2}, AxisRef{0, 2, 4}})
        CHECK(parse_axis_ref(eight, text(eight, ref)) == ref);
    CHECK(text(eight, AxisRef{0, 2, 4}) == "a:(2)4");
    CHECK(text(eight, AxisRef{0, 1, 8}) == "a");
    for (const char* bad : {"b", "", "a:(1)8", "a:(3)2", "a:(2)8", "a:(2)1", "a:(0)2", "a:2", "a:(2)x", "a:(2"})
        CHECK_MESSAGE(!parse_axis_ref(eight, bad), bad);
}
