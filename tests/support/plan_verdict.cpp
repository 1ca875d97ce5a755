#include "tests/support/plan_verdict.h"

#include "plans/plan/plan_check.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string text_of(const PlanProblem& problem) { return fmt::format("{}: {}", problem.where, problem.what); }

} // namespace

std::string first_problem(const Plan& plan) {
    const std::vector<PlanProblem> problems = plan_problems(plan);
    return problems.empty() ? "fine" : text_of(problems.front());
}

std::string plan_verdict(const Plan& plan) {
    std::string text;
    for (const PlanProblem& problem : plan_problems(plan)) text += (text.empty() ? "" : "; ") + text_of(problem);
    return text.empty() ? "fine" : text;
}

} // namespace shard
