// Which keys a query sees, counted pair by pair.
#include "plans/kernel/attend.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

namespace shard {

namespace {

bool sees(const Attend& attend, i64 start, i64 query, i64 key) {
    const i64 behind = start + query - key;
    return !(attend.causal && behind < 0) && (attend.window == 0 || std::abs(behind) < attend.window);
}

i64 count_pairs(const Attend& attend, i64 start, i64 queries, i64 keys) {
    i64 pairs = 0;
    for (i64 query = 0; query < queries; ++query)
        for (i64 key = 0; key < keys; ++key) pairs += sees(attend, start, query, key) ? 1 : 0;
    return pairs;
}

AttendSizes sizes_of(i64 queries, i64 keys) { return {1, queries, 1, 3, keys, 1, 2}; }

} // namespace

TEST_CASE("parts of attention have names, and there are no others") {
    for (const std::string_view name : {"values", "logsumexp", "query_gradient", "key_gradient", "value_gradient"}) {
        REQUIRE(parse_attend_part(name).has_value());
        CHECK(shard::name(*parse_attend_part(name)) == name);
    }
    for (const std::string_view name : {"", "value", "values ", "Values", "scores"}) CHECK(!parse_attend_part(name));
}

TEST_CASE("attention's ranges of keys and of queries are the pairs that see each other, wherever the queries begin") {
    constexpr i64 queries = 5, keys = 7;
    for (const bool causal : {false, true})
        for (const i64 window : {0, 1, 2, 4, 20})
            for (i64 start = -6; start <= 9; ++start) {
                Attend attend;
                attend.causal = causal;
                attend.window = window;
                CAPTURE(causal);
                CAPTURE(window);
                CAPTURE(start);
                for (i64 query = 0; query < queries; ++query) {
                    const AttendRange seen = keys_seen(attend, start, query, query + 1, keys);
                    for (i64 key = 0; key < keys; ++key)
                        CHECK((key >= seen.low && key < seen.high) == sees(attend, start, query, key));
                }
                for (i64 key = 0; key < keys; ++key) {
                    const AttendRange seeing = queries_seeing(attend, start, key, key + 1, queries);
                    for (i64 query = 0; query < queries; ++query)
                        CHECK((query >= seeing.low && query < seeing.high) == sees(attend, start, query, key));
                }
            }
}

TEST_CASE("attention's FLOPs are those of its contractions over the pairs that see each other") {
    for (const bool causal : {false, true})
        for (const i64 window : {0, 1, 3, 9})
            for (const i64 queries : {1, 4, 6})
                for (const i64 keys : {6, 8}) {
                    Attend attend;
                    attend.causal = causal;
                    attend.window = window;
                    const i64 pairs = count_pairs(attend, 0, queries, keys);
                    CAPTURE(causal);
                    CAPTURE(window);
                    CHECK(attend_flops(attend, sizes_of(queries, keys)) == 2 * pairs * (3 + 2));
                }
    Attend attend;
    attend.causal = true;
    attend.part = AttendPart::key_gradient; // 4 + 3 + 2 + 1 pairs, of which a score, its gradient and a term of k's
    CHECK(attend_flops(attend, {2, 4, 6, 3, 4, 2, 2}) == 2 * 2 * 6 * 10 * (3 + 2 + 3));
    attend.part = AttendPart::logsumexp;
    CHECK(attend_flops(attend, {1, 4, 1, 3, 4, 1, 0}) == 2 * 10 * 3);
}

TEST_CASE("of queries that are split attention's FLOPs are those of the device that sees most") {
    for (const i64 window : {0, 2, 3}) {
        Attend attend;
        attend.causal = true;
        attend.window = window;
        attend.start = block_start(8, std::vector<AxisRef>{{0, 1, 4}});
        i64 most = 0;
        for (i64 device = 0; device < 4; ++device) most = std::max(most, count_pairs(attend, 2 * device, 2, 8));
        CHECK(attend_flops(attend, sizes_of(2, 8)) == 2 * most * (3 + 2));
    }
}

TEST_CASE("attention's FLOPs are counted at any size, and its scratch does not grow with the length") {
    constexpr i64 huge = i64{1} << 50;
    Attend attend;
    attend.causal = true;
    CHECK(attend_flops(attend, sizes_of(huge, huge)) == std::numeric_limits<i64>::max());
    const AttendSizes one = {1, 1024, 8, 64, 1024, 8, 64}, longer = {1, 65536, 8, 64, 65536, 8, 64};
    for (const AttendPart part : {AttendPart::values, AttendPart::key_gradient})
        CHECK(attend_scratch(part, one, DType::bf16).bytes == attend_scratch(part, longer, DType::bf16).bytes);
}

} // namespace shard
