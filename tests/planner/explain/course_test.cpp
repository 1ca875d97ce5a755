#include "planner/explain/course.h"

#include "planner/pipeline/pipeline.h"
#include "test_paths.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace shard {
namespace {

struct Walked {
    Compilation compilation;
    Course course;
};

// A train step with loops, overlap and values that take over the bytes of others.
Walked tiny_gpt() {
    const std::filesystem::path folder = std::filesystem::path(SHARDC_SOURCE_DIR) / "examples/tiny_gpt";
    Sources sources;
    const auto add = [&](const std::string& name) {
        std::ifstream stream(folder / name, std::ios::binary);
        return sources.add(name, std::string(std::istreambuf_iterator<char>(stream), {}));
    };
    PlanRequest request;
    request.model_file = add("model.yaml");
    request.layout_file = add("fsdp_model.yaml");
    request.mode = "train";
    Walked out{compile(sources, request), {}};
    REQUIRE(out.compilation.plan);
    out.course = course_of(out.compilation);
    return out;
}

i64 steps_of(const std::vector<Step>& steps) {
    i64 count = 0;
    for (const Step& step : steps) {
        const Loop* loop = std::get_if<Loop>(&step.variant_ref());
        count += 1 + (loop == nullptr ? 0 : steps_of(loop->body));
    }
    return count;
}

} // namespace

TEST_CASE("what is held at the peak is what the report says, kind by kind") {
    const Walked walked = tiny_gpt();
    const MemoryUse& use = walked.course.memory;
    MemoryReport sum;
    for (const HeldBytes& held : use.held)
        if (held.first <= use.peak_step && use.peak_step <= held.last) bytes_of(sum, held.kind) += held.bytes;
    sum.peak = walked.compilation.plan->report.memory.peak;
    sum.capacity = walked.compilation.plan->report.memory.capacity;
    const std::vector<HeldBytes> alive = held_at_peak(use);
    add_largest(sum, use, *walked.compilation.plan, walked.compilation.plan->report.tensors);
    CHECK(sum == walked.compilation.plan->report.memory);
    REQUIRE(sum.largest.size() == 12);
    CHECK(sum.others == static_cast<i64>(alive.size()) - 12);
    for (size_t i = 0; i < sum.largest.size(); ++i) {
        CHECK(sum.largest[i].bytes == alive[i].bytes);
        CHECK((i == 0 || sum.largest[i].bytes <= sum.largest[i - 1].bytes));
        CHECK(held_name(*walked.compilation.plan, walked.compilation.plan->report.tensors, alive[i]) ==
              sum.largest[i].name);
    }
    const auto has_place = [](const AtPeak& value) { return value.source.line > 0; };
    CHECK(std::count_if(sum.largest.begin(), sum.largest.end(), has_place) > 6);
}

TEST_CASE("no two things are held in the same bytes at a time, and all inside the arena") {
    const Walked walked = tiny_gpt();
    const std::vector<HeldBytes>& all = walked.course.memory.held;
    i64 overlaps = 0, outside = 0;
    for (size_t i = 0; i < all.size(); ++i) {
        outside += all[i].offset + all[i].bytes > walked.compilation.plan->arena_bytes || all[i].last < all[i].first;
        for (size_t k = 0; k < i; ++k) {
            const bool in_time = all[i].first <= all[k].last && all[k].first <= all[i].last;
            const bool in_bytes =
                all[i].offset < all[k].offset + all[k].bytes && all[k].offset < all[i].offset + all[i].bytes;
            overlaps += in_time && in_bytes && all[i].bytes > 0 && all[k].bytes > 0;
        }
    }
    CHECK(all.size() > 100);
    CHECK(outside == 0);
    CHECK(overlaps == 0);
}

TEST_CASE("every step has its span, in order and up to the end of the step that the report prices") {
    const Walked walked = tiny_gpt();
    const Plan& plan = *walked.compilation.plan;
    const std::vector<StepSpan>& spans = walked.course.time.spans;
    REQUIRE(static_cast<i64>(spans.size()) == steps_of(plan.steps));
    REQUIRE(walked.course.memory.steps == steps_of(plan.steps));
    double now = 0;
    size_t at = 0;
    for (const Step& step : plan.steps) { // those outside loops follow each other
        const StepSpan& span = spans[at++];
        CHECK(span.begin >= now - 1e-12);
        CHECK(span.end >= span.begin);
        if (std::get_if<Start>(&step.variant_ref()) == nullptr) now = span.end; // a collective runs beside
        const Loop* loop = std::get_if<Loop>(&step.variant_ref());
        if (loop == nullptr) continue;
        const size_t body = at;
        at += steps_of(loop->body);
        for (size_t i = body; i < at; ++i) CHECK((spans[i].begin >= span.begin && spans[i].end <= span.end + 1e-12));
    }
    CHECK(now == doctest::Approx(plan.report.time.step_seconds));
}

} // namespace shard
