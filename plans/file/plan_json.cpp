#include "plans/file/plan_json.h"

#include "plans/file/plan_json_kernel.h"
#include "plans/file/plan_json_nouns.h"
#include "plans/file/plan_json_steps.h"
#include "plans/file/report_json.h"
#include "plans/plan/plan_check.h"
#include "plans/plan/plan_check_types.h"

#include <fmt/format.h>

namespace shard {

namespace {

constexpr std::string_view checksum_start = ",\n\"checksum\": \"sha1:";
constexpr std::string_view checksum_end = "\"\n}\n";
constexpr size_t digest_length = 40;

std::string print_input(const Mesh& mesh, const PlanInput& input) {
    JsonObject object;
    object.integer("buffer", input.buffer).raw("init", print_generate(mesh, input.init));
    if (!input.layers.empty()) object.raw("layers", json_integers(input.layers));
    return object.text();
}

PlanInput read_input(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"buffer", "init", "layers"});
    PlanInput input{at["buffer"].small(), read_generate(at["init"], mesh)};
    if (at.has("layers")) input.layers = at["layers"].integers();
    return input;
}

PlanOutput read_output(const JsonAt& at) {
    at.known_keys({"name", "buffer", "updates"});
    return {read_name(at["name"]), at["buffer"].small(), at.small("updates", -1)};
}

SourceText read_source_text(const JsonAt& at) {
    at.known_keys({"name", "digest", "text"});
    SourceText source{at["name"].string(), at["text"].text(), at["digest"].string()};
    if (at.report().ok() && source.digest != digest_of(source.text))
        at["digest"].problem("the digest is not that of the text");
    return source;
}

Plan read_plan(const JsonAt& root) {
    root.known_keys({"format_version", "tool", "model", "mode", "mesh", "arena_bytes", "peak_bytes", "host_arena_bytes",
                     "host_peak_bytes", "buffers", "inputs", "outputs", "steps", "report", "padding", "sources",
                     "checksum"});
    Plan plan;
    plan.tool = root["tool"].string();
    plan.model = read_name(root["model"]);
    plan.mode = root["mode"].string();
    if (root.report().ok() && plan.mode != "forward" && plan.mode != "train")
        root["mode"].problem("not a mode: forward or train");
    plan.mesh = read_mesh(root["mesh"]);
    if (!root.report().ok()) return plan; // everything else is over the mesh
    const Mesh& mesh = plan.mesh;
    plan.arena_bytes = root["arena_bytes"].integer();
    plan.peak_bytes = root["peak_bytes"].integer();
    plan.host_arena_bytes = root.integer("host_arena_bytes", 0);
    plan.host_peak_bytes = root.integer("host_peak_bytes", 0);
    plan.buffers = root["buffers"].list<Buffer>([&mesh](const JsonAt& buffer) { return read_buffer(buffer, mesh); });
    plan.inputs = root["inputs"].list<PlanInput>([&mesh](const JsonAt& input) { return read_input(input, mesh); });
    plan.outputs = root["outputs"].list<PlanOutput>(read_output);
    plan.steps = read_steps(root["steps"], mesh);
    plan.report = read_report(root["report"], mesh);
    if (root.has("padding")) plan.padding = read_padding(root["padding"]);
    plan.sources = root["sources"].list<SourceText>(read_source_text);
    return plan;
}

// The checksum's place in an intact file, or npos.
size_t find_checksum(std::string_view text) {
    const size_t tail = checksum_start.size() + digest_length + checksum_end.size();
    if (text.size() < tail || !text.ends_with(checksum_end)) return std::string_view::npos;
    const size_t at = text.size() - tail;
    return text.substr(at).starts_with(checksum_start) ? at : std::string_view::npos;
}

bool check_version(const Json& root, const JsonText& file, Diagnostics& diagnostics) {
    const Json* version = root.find("format_version");
    const i64* number = version == nullptr ? nullptr : std::get_if<i64>(&version->value);
    if (number == nullptr || root.find("steps") == nullptr) {
        diagnostics
            .error("E0501", file.at(0),
                   "this is not a plan file: a plan is a JSON object with format_version and steps")
            .help("`shardc plan MODEL LAYOUT -o plan.json` writes one");
        return false;
    }
    if (*number == Plan::current_format_version) return true;
    diagnostics
        .error("E0502", file.value("format_version"),
               fmt::format("the plan has format version {}, this program reads version {}", *number,
                           Plan::current_format_version))
        .help("plan the model again with this program; the plan file holds the two YAML texts it came from");
    return false;
}

bool check_checksum(const JsonText& file, Diagnostics& diagnostics) {
    const std::string_view text = file.text;
    const size_t at = find_checksum(text);
    if (at == std::string_view::npos) {
        diagnostics
            .error("E0504", file.at(static_cast<i64>(text.size())),
                   "the plan was edited: it does not end with its checksum")
            .help("plan the model again");
        return false;
    }
    const std::string_view written = text.substr(at + checksum_start.size(), digest_length);
    const std::string computed = digest_of(text.substr(0, at));
    if (computed == written) return true;
    diagnostics.error("E0504", file.value("checksum"), "the plan was edited: its checksum does not match")
        .note(fmt::format("the file says sha1:{}, its content has sha1:{}", written, computed))
        .help("plan the model again; to change a plan, change the layout");
    return false;
}

} // namespace

std::string seal_plan(std::string body) {
    const std::string digest = digest_of(body);
    body += checksum_start;
    body += digest;
    body += checksum_end;
    return body;
}

std::string print_plan(const Plan& plan) {
    std::vector<std::string> buffers, inputs, outputs, sources;
    for (const Buffer& buffer : plan.buffers) buffers.push_back(print_buffer(plan.mesh, buffer));
    for (const PlanInput& input : plan.inputs) inputs.push_back(print_input(plan.mesh, input));
    for (const PlanOutput& output : plan.outputs)
        outputs.push_back(JsonObject()
                              .string("name", output.name)
                              .integer("buffer", output.buffer)
                              .integer_unless(-1, "updates", output.updates)
                              .text());
    for (const SourceText& source : plan.sources)
        sources.push_back(JsonObject()
                              .string("name", source.name)
                              .string("digest", source.digest)
                              .string("text", source.text)
                              .text());
    std::string body = "{";
    const auto line = [&body](std::string_view key, const std::string& json) {
        body += fmt::format("{}\n{}: {}", body.size() == 1 ? "" : ",", json_string(key), json);
    };
    line("format_version", std::to_string(plan.format_version));
    line("tool", json_string(plan.tool));
    line("model", json_string(plan.model));
    line("mode", json_string(plan.mode));
    line("mesh", print_mesh(plan.mesh));
    line("arena_bytes", std::to_string(plan.arena_bytes));
    line("peak_bytes", std::to_string(plan.peak_bytes));
    if (plan.host_arena_bytes > 0) {
        line("host_arena_bytes", std::to_string(plan.host_arena_bytes));
        line("host_peak_bytes", std::to_string(plan.host_peak_bytes));
    }
    line("buffers", json_lines(buffers, 2));
    line("inputs", json_lines(inputs, 2));
    line("outputs", json_lines(outputs, 2));
    line("steps", print_steps(plan.mesh, plan.steps, 2));
    line("report", print_report_object(plan));
    if (plan.padding != PaddingCost()) line("padding", print_padding(plan.padding));
    line("sources", json_lines(sources, 2));
    return seal_plan(std::move(body));
}

std::optional<Plan> parse_plan(std::string_view json, Diagnostics& diagnostics) {
    return parse_plan(JsonText{json}, diagnostics);
}

std::optional<Plan> parse_plan(const JsonText& file, Diagnostics& diagnostics) {
    const std::string_view json = file.text;
    const JsonParse parsed = parse_json(json);
    if (!parsed.ok) {
        if (parsed.ended && json.starts_with("{\n\"format_version\": "))
            diagnostics
                .error("E0503", file.at(static_cast<i64>(json.size())),
                       fmt::format("the plan is truncated: it ends after {} bytes, in the middle", json.size()))
                .help("copy the file again, or plan the model again");
        else
            diagnostics
                .error("E0501", file.at(parsed.offset, parsed.length),
                       fmt::format("this is not a plan file: {}", parsed.problem))
                .help("`shardc plan MODEL LAYOUT -o plan.json` writes one");
        return std::nullopt;
    }
    // The version first: another version may be sealed in another way.
    if (!check_version(parsed.root, file, diagnostics) || !check_checksum(file, diagnostics)) return std::nullopt;
    JsonReport report(diagnostics, file);
    Plan plan = read_plan(JsonAt(parsed.root, report));
    if (!report.ok()) return std::nullopt;
    const std::vector<PlanProblem> problems = plan_problems(plan);
    for (const PlanProblem& problem : problems)
        diagnostics.error("E0506", file.value(problem.where), fmt::format("{}: {}", problem.where, problem.what))
            .help("such a plan is never run: plan the model again");
    return problems.empty() ? std::optional<Plan>(std::move(plan)) : std::nullopt;
}

} // namespace shard
