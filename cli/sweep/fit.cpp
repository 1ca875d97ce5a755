#include "cli/sweep/fit.h"

#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/dividing_sizes.h"
#include "cli/inputs/settings.h"
#include "cli/sweep/sweep.h"
#include "cli/terminal/exit_code.h"
#include "plans/base/parse_number.h"
#include "plans/plan/report_totals.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace shard {

namespace {

constexpr i64 most = i64{1} << 40; // what fits with so much does not depend on the number

struct Tried {
    SweepPlans::Planned planned;
    i64 value = 0;
    bool is_planned = false, fits = false;
};

bool has_limit(const Compiled& compiled, const Plan& plan) {
    const auto is_of_memory = [](const PolicyEntry& entry) {
        return entry.key == "max_memory_per_device" || entry.key == "max_host_memory_per_device";
    };
    const std::vector<PolicyEntry>& policy = compiled.compilation.layout->policy.entries;
    return plan.report.memory.capacity > 0 || plan.report.memory.host_capacity > 0 ||
           std::any_of(policy.begin(), policy.end(), is_of_memory);
}

// Into how many parts dims of that name are split.
i64 parts_of(const Plan& plan, std::string_view name) {
    i64 parts = 1;
    for (const TensorReport& tensor : plan.report.tensors)
        for (size_t d = 0; d < tensor.logical.size() && d < tensor.sharding.dims.size(); ++d)
            if (tensor.logical[d] == name) parts = std::lcm(parts, shard_count(tensor.sharding.dims[d]));
    return parts;
}

// Whether a step works through so many of them: rows of what it is given, and not layers.
bool is_dim_of_inputs(const Plan& plan, std::string_view name) {
    const auto has_it = [name](const TensorReport& tensor) {
        return tensor.role == Role::input &&
               std::find(tensor.logical.begin(), tensor.logical.end(), name) != tensor.logical.end();
    };
    return std::any_of(plan.report.tensors.begin(), plan.report.tensors.end(), has_it);
}

std::vector<i64> divisors(i64 number) { // from 1 on
    std::vector<i64> small, large;
    for (i64 n = 1; n <= number / n; ++n) {
        if (number % n != 0) continue;
        small.push_back(n);
        if (n != number / n) large.push_back(number / n);
    }
    small.insert(small.end(), large.rbegin(), large.rend());
    return small;
}

// Of one choice of what is set besides.
class Fitting {
public:
    Fitting(const SweepPlans& plans, const std::vector<std::string>& settings, const std::string& name)
        : plans_(plans), settings_(settings), name_(name) {}

    Tried at(i64 value) const {
        std::vector<std::string> settings = settings_;
        settings.push_back(fmt::format("{}={}", name_, value));
        Tried tried{plans_.plan(settings), value};
        tried.is_planned = tried.planned.row.plan.has_value();
        if (!tried.is_planned) return tried;
        const MemoryReport& memory = tried.planned.row.plan->report.memory;
        const std::vector<Diagnostic>& said = tried.planned.compiled.diagnostics().all();
        const auto is_of_memory = [](const Diagnostic& diagnostic) {
            return diagnostic.code == "P0101" || diagnostic.code == "P0115";
        };
        tried.fits = shard::fits(memory) && std::none_of(said.begin(), said.end(), is_of_memory);
        return tried;
    }

    // The least that may be added: of the divisors of what is written that keep dims split as they are, the first with
    // which it can be planned (batch over 8 devices in 4 microbatches goes by 32).
    i64 unit(const Tried& written) const {
        const i64 parts = parts_of(*written.planned.row.plan, name_.substr(name_.rfind('.') + 1));
        for (i64 unit : divisors(written.value))
            if (unit == written.value || (unit % parts == 0 && at(unit).is_planned)) return unit;
        return written.value;
    }

    // The last that fits and the first that does not, multiples of `unit` next to each other. Either may be absent.
    struct Border {
        std::optional<Tried> largest, next;
    };
    Border search(Tried written, i64 unit) const {
        Border border;
        i64 least = 0, beyond = 0; // in units; 0: not known
        const auto take = [&](Tried tried) {
            (tried.fits ? least : beyond) = tried.value / unit;
            (tried.fits ? border.largest : border.next) = std::move(tried);
        };
        take(std::move(written));
        while (beyond == 0 && least <= most / unit / 2) take(at(2 * least * unit));
        while (least == 0 && beyond > 1) take(at(beyond / 2 * unit));
        while (beyond - least > 1) take(at((least + (beyond - least) / 2) * unit));
        return border;
    }

private:
    const SweepPlans& plans_;
    const std::vector<std::string>& settings_;
    const std::string& name_;
};

} // namespace

int run_fit(const Arguments& arguments, Env& env) {
    if (!may_plan_many(arguments, env, "--fit looks for one of many")) return exit_usage;
    const std::optional<std::vector<std::vector<std::string>>> choices = choices_of(arguments, env);
    if (!choices) return exit_usage;
    const std::string& name = arguments.string("--fit");
    SweepPlans plans(arguments, env);
    Sweep sweep;
    sweep.names = names_of(choices->front());
    sweep.names.push_back(name);
    sweep.fitted = name;
    int code = exit_clean;
    for (const std::vector<std::string>& settings : *choices) {
        SweepPlans::Planned as_written = plans.plan(settings);
        const std::optional<std::string> text =
            written_value(*as_written.compiled.sources, as_written.compiled.request.model_file,
                          as_written.compiled.request.layout_file, name);
        const Fitting fitting(plans, settings, name);
        // What does not divide begins at the nearest number that does.
        const std::vector<i64> dividing =
            as_written.row.plan ? std::vector<i64>()
                                : dividing_sizes(*as_written.compiled.sources, as_written.compiled.request,
                                                 as_written.compiled.diagnostics(), name);
        if (!dividing.empty()) as_written = fitting.at(dividing.back()).planned;
        if (!as_written.row.plan) {
            code = std::max(code, exit_code(as_written.compiled.diagnostics()));
            plans.keep_failure(as_written);
            as_written.row.values.resize(sweep.names.size());
            sweep.rows.push_back(std::move(as_written.row));
            continue;
        }
        const auto cannot_be_set = [&env](const Tried& tried) { // whoever sets it says why
            const Compiled& compiled = tried.planned.compiled;
            print_diagnostics(env, *compiled.sources, compiled.diagnostics().all());
            return exit_usage;
        };
        if (!text) return cannot_be_set(fitting.at(1));
        const std::optional<i64> value = dividing.empty() ? parse_number<i64>(*text) : dividing.back();
        if (!value || *value < 1 || *value > most)
            return refuse(env, fmt::format("'{}' is {}, and --fit looks for the largest whole number", name, *text),
                          "name a size: --fit batch");
        if (!has_limit(as_written.compiled, *as_written.row.plan))
            return refuse(env, "nothing says how much memory a device has",
                          "name the hardware in the layout, or a policy: {max_memory_per_device: 16 GiB}");
        Tried written = fitting.at(*value);
        if (!written.is_planned) return cannot_be_set(written);
        const i64 unit = fitting.unit(written);
        Fitting::Border border = fitting.search(std::move(written), unit);
        Tried& shown = border.largest ? *border.largest : *border.next;
        code = std::max(code, border.largest ? exit_code(shown.planned.compiled.diagnostics()) : int{exit_findings});
        SweepRow row = std::move(shown.planned.row);
        row.unit = unit;
        row.has_largest = border.largest.has_value();
        if (row.plan && border.largest && is_dim_of_inputs(*row.plan, name))
            row.a_second = static_cast<double>(shown.value) / row.plan->report.time.step_seconds;
        if (border.largest && border.next)
            row.next = SweepRow::Next{std::to_string(border.next->value), border.next->planned.row.verdict,
                                      border.next->is_planned ? border.next->planned.row.plan->report.memory.peak : 0};
        sweep.rows.push_back(std::move(row));
    }
    return plans.write(sweep, code);
}

} // namespace shard
