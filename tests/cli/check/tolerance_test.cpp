#include "cli/check/tolerance.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

// By figure: step time, exposed communication, peak memory, bytes, collectives.
std::optional<Tolerance> parsed(std::string_view text) {
    ToleranceMistake mistake;
    return parse_tolerance(text, mistake);
}

std::string mistake_of(std::string_view text) {
    ToleranceMistake mistake;
    CHECK_FALSE(parse_tolerance(text, mistake).has_value());
    return mistake.message + "; " + mistake.help;
}

} // namespace

TEST_CASE("a tolerance is of all figures, or of those that are named") {
    CHECK(parsed("3%") == Tolerance{0.03, 0.03, 0.03, 0.03, 0.03});
    CHECK(parsed("0%") == Tolerance{});
    CHECK(parsed("wire_bytes=1%,step_seconds=5 %") == Tolerance{0.05, 0, 0, 0.01, 0});
    CHECK(parsed("wire_bytes_per_device=1%") == parsed("wire_bytes=1%"));
    CHECK(parsed("50%, step_seconds=12.5%,exposed_seconds=100%") == Tolerance{0.125, 1, 0.5, 0.5, 0.5});
}

TEST_CASE("what is no tolerance is told with what one is") {
    const std::string help = "; write 3%, or wire_bytes=1%,step_seconds=5%";
    for (const char* text : {"3", "", "x%", "-1%", "nan%", "inf%", "0x3%", "1e3%"})
        CHECK(mistake_of(text) == "'" + std::string(text) + "' is not a tolerance" + help);
    CHECK(mistake_of("wire_bytes=1") == "'wire_bytes=1' is not a tolerance" + help);
    CHECK(mistake_of("wire_bites=1%") == "there is no figure 'wire_bites'; did you mean 'wire_bytes'?");
    CHECK(mistake_of("=1%").starts_with("there is no figure ''; figures: step_seconds, exposed_"));
    CHECK(mistake_of("1%,2%") == "'1%,2%' gives two tolerances for all; keep one of them");
    CHECK(mistake_of("wire_bytes=1%,wire_bytes_per_device=2%")
              .ends_with("gives two tolerances for wire_bytes_per_device; keep one of them"));
}
