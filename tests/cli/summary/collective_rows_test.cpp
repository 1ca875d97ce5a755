#include "cli/summary/collective_rows.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

struct Collectives {
    std::vector<CollectiveReport> reports;
    std::vector<When> when;

    CollectiveReport& add(std::string tensor, std::string kind, Phase phase, double seconds, std::string cause) {
        CollectiveReport& report = reports.emplace_back();
        report.tensor = std::move(tensor);
        report.kind = std::move(kind);
        report.axes = {{0, 1, 2}};
        report.dim = 0;
        report.count = 2;
        report.wire_bytes_per_device = 100;
        report.seconds = seconds;
        report.cause = std::move(cause);
        report.source = {"model.yaml", 7, 1};
        when.push_back({phase, seconds});
        return report;
    }
    CollectiveRows rows(Detail detail) const { return collective_rows(reports, when, detail); }
};

} // namespace

TEST_CASE("what is there for the same cause is a row, whichever tensor it is for") {
    Collectives c;
    c.add("block.0.wq", "all_gather", Phase::forward, 1, "fsdp");
    c.add("block.1.wq", "all_gather", Phase::forward, 1, "fsdp");
    c.add("block.0.wk", "all_gather", Phase::forward, 2, "fsdp").dim = 1;
    c.add("block.0.wk", "all_gather", Phase::backward, 2, "fsdp");
    c.add("block.0.wk", "all_gather", Phase::forward, 2, "a constraint");
    c.when[2].exposed_seconds = 0.5;
    const CollectiveRows rows = c.rows(Detail::screen);
    REQUIRE(rows.rows.size() == 3);
    CHECK(rows.rows[0].tensors == "block.{0,1}.wq, block.0.wk");
    CHECK(rows.rows[0].count == 6);
    CHECK(rows.rows[0].bytes == 300);
    CHECK(rows.rows[0].seconds == 4);
    CHECK(rows.rows[0].exposed_seconds == 2.5);
    CHECK_FALSE(rows.rows[0].is_one_dim);
    CHECK(rows.rows[1].cause == "a constraint");
    CHECK(rows.rows[1].is_one_dim);
    CHECK(rows.rows[2].phase == Phase::backward);
    CHECK(rows.has_phases);
    CHECK(rows.is_partly_hidden);
    CHECK(rows.sums.empty());
    CHECK(c.rows(Detail::each).rows.size() == 5);
    CHECK_FALSE(collective_rows(c.reports, {}, Detail::each).is_partly_hidden); // not asked for
}

TEST_CASE("of many causes those that take longest are rows, and all are summed up by phase, axes and kind") {
    Collectives c;
    for (int i = 0; i < 20; ++i)
        c.add(fmt::format("h{}", i), i % 2 == 0 ? "all_reduce" : "all_gather", i < 15 ? Phase::forward : Phase::update,
              i, fmt::format("cause {}", i));
    const CollectiveRows screen = c.rows(Detail::screen);
    REQUIRE(screen.rows.size() == 5);
    CHECK(screen.left_out == 15);
    CHECK(screen.rows[0].tensors == "h19");
    CHECK(screen.rows[4].tensors == "h15");
    REQUIRE(screen.sums.size() == 4);
    i64 count = 0, bytes = 0;
    double seconds = 0;
    for (const CollectiveRow& sum : screen.sums) count += sum.count, bytes += sum.bytes, seconds += sum.seconds;
    CHECK(count == 40);
    CHECK(bytes == 2000);
    CHECK(seconds == 190);
    CHECK(screen.sums[1].phase == Phase::forward);
    CHECK(screen.sums[2].phase == Phase::update);
    const CollectiveRows whole = c.rows(Detail::whole);
    CHECK(whole.rows.size() == 20);
    CHECK(whole.rows[0].tensors == "h0");
    CHECK(whole.sums.empty());
}

TEST_CASE("sums stand by phase, and in a phase by the axes as the mesh has them") {
    Collectives c;
    for (int i = 0; i < 12; ++i)
        c.add(fmt::format("h{}", i), "all_reduce", i % 2 == 0 ? Phase::update : Phase::forward, i,
              fmt::format("cause {}", i))
            .axes = {{i % 4 < 2 ? 1 : 0, 1, 2}};
    const CollectiveRows screen = c.rows(Detail::screen);
    REQUIRE(screen.sums.size() == 4);
    for (size_t n = 0; n < 4; ++n) {
        CHECK(screen.sums[n].phase == (n < 2 ? Phase::forward : Phase::update));
        CHECK(screen.sums[n].first->axes[0].axis == static_cast<int>(n % 2));
    }
}

TEST_CASE("a remedy is said once, at the first row that it is for") {
    Collectives c;
    c.add("a", "all_gather", Phase::forward, 1, "one").remedy = "without fsdp";
    c.add("b", "all_gather", Phase::forward, 1, "two").remedy = "without fsdp";
    const CollectiveRows rows = c.rows(Detail::screen);
    REQUIRE(rows.rows.size() == 2);
    CHECK(rows.rows[0].remedy == "without fsdp");
    CHECK(rows.rows[1].remedy == "");
}
