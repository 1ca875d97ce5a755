// Plans with `partitioner: xla` beside what XLA makes of the same programs: the same bytes by kind.
#include "tests/support/beside_xla.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <fnmatch.h>

using namespace shard;

TEST_CASE("as xla, dev") {
    const char* only = std::getenv("ONLY");
    std::map<std::string, std::pair<int, int>> by_group;
    for (const OracleCase& of : oracle_cases()) {
        if (only != nullptr && fnmatch(only, of.name.c_str(), 0) != 0) continue;
        const std::map<std::string, i64> sent = sent_by_kind(plan_as_xla(of));
        const bool tpu = sent == of.tpu.sent, cpu = sent == of.cpu.sent;
        ++by_group[of.group].second;
        if (tpu) ++by_group[of.group].first;
        if (!tpu || only != nullptr)
            fmt::print("{} {}\n   ours {}\n   tpu  {}\n   cpu  {}\n",
                       tpu   ? "SAME"
                       : cpu ? "CPU"
                             : "DIFF",
                       of.name, sent, of.tpu.sent, of.cpu.sent);
    }
    for (const auto& [group, counts] : by_group) fmt::print("{} {}/{}\n", group, counts.first, counts.second);
}
