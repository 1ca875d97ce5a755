#include "tests/support/beside_xla.h"

#include "planner/graph/view.h"
#include "planner/pipeline/passes.h"
#include "planner/pipeline/pipeline.h"
#include "tests/support/prove.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fnmatch.h>
#include <fstream>
#include <iterator>
#include <sstream>

#include "test_paths.h"

namespace shard {

namespace {

const std::string folder = std::string(SHARDC_SOURCE_DIR) + "/tests/oracle/";

std::string text_of_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file.good(), "cannot read ", path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

XlaFigures figures_of(const nlohmann::json& json) {
    return {json.at("sent").get<std::map<std::string, i64>>(), json.at("flops").get<i64>(), json.at("peak").get<i64>()};
}

// As xla_answers.py calls it: the model's path, its layout and mode.
std::string name_of(const OracleCase& of) {
    std::string model = of.model.substr(0, of.model.rfind(".yaml"));
    if (model.ends_with("/model")) model.resize(model.rfind('/'));
    return fmt::format("{} {} {}", model, std::filesystem::path(of.layout).stem().string(), of.mode);
}

void read_answer(const nlohmann::json& json, OracleCase& into) {
    into.texts = json.at("texts").get<std::vector<std::string>>();
    into.shardings = json.at("shardings").get<std::map<std::string, std::string>>();
    for (const auto& [name, value] : json.at("values").items())
        into.values[name] = {value.at("at").get<std::vector<double>>(), value.at("largest").get<double>()};
    into.cpu = figures_of(json.at("cpu"));
    into.tpu = figures_of(json.at("tpu"));
}

const std::string& name_of(const Plan& plan, const PlanOutput& output) {
    return output.is_update() ? plan.buffers[static_cast<size_t>(output.updates)].name : output.name;
}

bool is_first_moment(const std::string& name) { return name.ends_with(".mu"); }

} // namespace

i64 XlaFigures::bytes() const {
    i64 sum = 0;
    for (const auto& [kind, bytes] : sent) sum += bytes;
    return sum;
}

std::vector<OracleCase> oracle_cases() {
    const nlohmann::json answers = nlohmann::json::parse(text_of_file(folder + "answers.json")).at("cases");
    std::istringstream lines(text_of_file(folder + "models/cases.txt"));
    std::vector<OracleCase> cases;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] == '#') continue;
        OracleCase& made = cases.emplace_back();
        std::istringstream(line) >> made.group >> made.model >> made.layout >> made.mode;
        made.name = name_of(made);
        REQUIRE_MESSAGE(answers.contains(made.name), made.name,
                        " has no answer: tests/oracle/xla_answers.py asks XLA for it");
        read_answer(answers.at(made.name), made);
    }
    return cases;
}

Plan plan_of(const OracleCase& of) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add(of.model, text_of_file(folder + "models/" + of.model));
    request.layout_file = sources.add(of.layout, text_of_file(folder + "models/" + of.layout));
    request.mode = of.mode;
    Compilation compilation = compile(sources, request);
    INFO(of.name, ": ", text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan.has_value());
    return *std::move(compilation.plan);
}

Plan plan_as_xla(const OracleCase& of) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add(of.model, text_of_file(folder + "models/" + of.model));
    request.layout_file = sources.add(of.layout, text_of_file(folder + "models/" + of.layout));
    request.mode = of.mode;
    const std::span<const PassDef> read = passes_before("seed", request), seed = passes_before("fsdp", request);
    Compilation as_written, c;
    run_passes(as_written, read, request, sources);
    REQUIRE(as_written.graph.has_value());
    for (const Node& node : as_written.graph->nodes)
        if (is_constraint(node)) request.without_constraints.push_back(node.span);
    run_passes(c, read, request, sources);
    REQUIRE(c.graph.has_value());
    c.layout->partitioner = Partitioner::xla;
    run_passes(c, seed.subspan(read.size()), request, sources);
    REQUIRE(c.seeds.has_value());
    const std::vector<int> updates = updates_by_output(*c.graph);
    for (size_t o = 0; o < c.graph->outputs.size(); ++o) {
        const std::string& name = updates[o] < 0
                                      ? c.graph->output_names[o]
                                      : c.graph->value(c.graph->updates[static_cast<size_t>(updates[o])].input).name;
        const auto given = of.shardings.find(name);
        REQUIRE_MESSAGE(given != of.shardings.end(), of.name, ": ", name, " has no sharding");
        c.seeds->outputs[o] = parse_sharding(c.layout->mesh, given->second);
    }
    run_passes(c, request.passes.subspan(seed.size()), request, sources);
    INFO(of.name, ": ", text_of(sources, c.diagnostics));
    REQUIRE(c.plan.has_value());
    return *std::move(c.plan);
}

std::map<std::string, i64> sent_by_kind(const Plan& plan) {
    std::map<std::string, i64> sent;
    for (const CollectiveReport& collective : plan.report.collectives)
        if (collective.wire_bytes_total > 0) sent[std::string(collective.kind)] += collective.wire_bytes_total;
    return sent;
}

std::string changed_since(const OracleCase& of, const Plan& plan) {
    std::vector<std::string> texts;
    for (const SourceText& source : plan.sources) texts.push_back(source.digest);
    if (texts != of.texts) return "the model, the layout or what they include";
    for (const PlanOutput& output : plan.outputs) {
        const std::string now = text(plan.mesh, plan.buffers[static_cast<size_t>(output.buffer)].sharding);
        const std::string& name = name_of(plan, output);
        const auto given = of.shardings.find(name);
        if (given == of.shardings.end() || given->second != now)
            return fmt::format("the sharding of {}, which is {}", name, now);
    }
    return "";
}

// Adam divides a gradient by its own size, so where that is rounding alone its sign is chance: of what it updates the
// first moments are compared, of the size of the largest of them.
std::string differences_from_xla(const OracleCase& of, const Plan& plan) {
    const std::map<std::string, Numbers> results = run_steps(plan, 1)[0];
    double moments = 0;
    for (const auto& [name, value] : of.values)
        if (is_first_moment(name)) moments = std::max(moments, value.largest);
    std::string found;
    for (const PlanOutput& output : plan.outputs) {
        const std::string& name = name_of(plan, output);
        if (moments > 0 && output.is_update() && !is_first_moment(name)) continue;
        const Numbers& numbers = results.at(name);
        const XlaValue& wanted = of.values.at(name);
        const double scale = is_first_moment(name) ? moments : wanted.largest;
        const size_t count = std::min(numbers.size(), wanted.at.size());
        for (size_t i = 0; i < count; ++i) {
            const double here = numbers[i * numbers.size() / count];
            if (std::abs(here - wanted.at[i]) > 1e-4 * scale)
                found += fmt::format("{}, sample {}: {}, XLA has {}\n", name, i, here, wanted.at[i]);
        }
        if (count == 0 && !numbers.empty()) found += fmt::format("{} has no samples\n", name);
    }
    return found;
}

i64 wire_bytes(const Plan& plan) {
    i64 sum = 0;
    for (const CollectiveReport& collective : plan.report.collectives) sum += collective.wire_bytes_total;
    return sum;
}

namespace {

// Of two figures; held between 0.1 and 10, so that none that needs nothing decides a mean.
double ratio(i64 ours, i64 theirs) {
    if (ours == theirs) return 1;
    if (theirs == 0) return 10;
    return std::clamp(static_cast<double>(ours) / static_cast<double>(theirs), 0.1, 10.0);
}

using Ratio = double (*)(const BesideXla&);
constexpr Ratio ratios[] = {
    [](const BesideXla& row) { return ratio(row.bytes, row.of->cpu.bytes()); },
    [](const BesideXla& row) { return ratio(row.bytes, row.of->tpu.bytes()); },
    [](const BesideXla& row) { return ratio(row.flops, row.of->cpu.flops); },
    [](const BesideXla& row) { return ratio(row.peak, row.of->cpu.peak); },
};

std::string means(std::string_view group, const std::vector<const BesideXla*>& rows) {
    std::string line = fmt::format("| {} | {} |", group, rows.size());
    for (const Ratio of : ratios) {
        double sum = 0;
        for (const BesideXla* row : rows) sum += std::log(of(*row));
        line += fmt::format(" {:.2f} |", std::exp(sum / static_cast<double>(rows.size())));
    }
    const i64 above = std::count_if(rows.begin(), rows.end(), [](const BesideXla* row) { return is_above(*row); });
    return line + fmt::format(" {} |\n", above);
}

} // namespace

bool is_above(const BesideXla& row) { return row.bytes > row.of->cpu.bytes() || row.bytes > row.of->tpu.bytes(); }

std::string groups_table(const std::vector<BesideXla>& rows) {
    std::vector<std::string> groups; // in the order of the cases
    for (const BesideXla& row : rows)
        if (std::find(groups.begin(), groups.end(), row.of->group) == groups.end()) groups.push_back(row.of->group);
    std::string table = "| | cases | bytes by XLA:CPU's | by XLA:TPU's | FLOPs | peak | cases above 1 |\n"
                        "|---|---:|---:|---:|---:|---:|---:|\n";
    std::vector<const BesideXla*> all;
    for (const std::string& group : groups) {
        std::vector<const BesideXla*> in;
        for (const BesideXla& row : rows)
            if (row.of->group == group) in.push_back(&row);
        table += means(group, in);
        all.insert(all.end(), in.begin(), in.end());
    }
    table += means("all", all);
    std::erase_if(
        all, [](const BesideXla* row) { return row->flops > row->of->cpu.flops || row->peak > row->of->cpu.peak; });
    return table + means("of these, no more FLOPs and no higher peak than XLA:CPU", all);
}

std::string above_table(const std::vector<BesideXla>& rows,
                        const std::vector<std::pair<std::string, std::string>>& reasons) {
    std::string table = "| case | shardc | XLA:CPU | XLA:TPU | why |\n|---|---:|---:|---:|---|\n";
    for (const BesideXla& row : rows) {
        if (!is_above(row)) continue;
        std::string why = "no reason is given";
        for (const auto& [pattern, reason] : reasons)
            if (fnmatch(pattern.c_str(), row.of->name.c_str(), 0) == 0) why = reason;
        table += fmt::format("| {} | {} | {} | {} | {} |\n", row.of->name, row.bytes, row.of->cpu.bytes(),
                             row.of->tpu.bytes(), why);
    }
    return table;
}

bool is_alike(const AsXla& row) { return row.sent == row.of.tpu.sent; }

std::string alike_table(const std::vector<AsXla>& rows) {
    std::vector<std::string> groups; // in the order of the cases
    for (const AsXla& row : rows)
        if (std::find(groups.begin(), groups.end(), row.of.group) == groups.end()) groups.push_back(row.of.group);
    std::string table = "| | cases | as XLA:TPU | share |\n|---|---:|---:|---:|\n";
    const auto line = [&](const std::string& name, const std::string* group) {
        i64 all = 0, alike = 0;
        for (const AsXla& row : rows) {
            if (group && row.of.group != *group) continue;
            ++all;
            alike += is_alike(row) ? 1 : 0;
        }
        table += fmt::format("| {} | {} | {} | {}% |\n", name, all, alike, 100 * alike / all);
    };
    for (const std::string& group : groups) line(group, &group);
    line("all", nullptr);
    return table;
}

std::string unlike_table(const std::vector<AsXla>& rows,
                         const std::vector<std::pair<std::string, std::string>>& reasons) {
    const auto words = [](const std::map<std::string, i64>& sent) {
        std::string text;
        for (const auto& [kind, bytes] : sent) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, bytes);
        return text.empty() ? "nothing" : text;
    };
    std::string table = "| case | planned | XLA:TPU | why |\n|---|---|---|---|\n";
    for (const AsXla& row : rows) {
        if (is_alike(row)) continue;
        std::string why = "no reason is given";
        for (const auto& [pattern, reason] : reasons)
            if (fnmatch(pattern.c_str(), row.of.name.c_str(), 0) == 0) why = reason;
        table += fmt::format("| {} | {} | {} | {} |\n", row.of.name, words(row.sent), words(row.of.tpu.sent), why);
    }
    return table;
}

} // namespace shard
