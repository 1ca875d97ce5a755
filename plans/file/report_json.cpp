#include "plans/file/report_json.h"

#include "plans/file/plan_json.h"
#include "plans/file/plan_json_nouns.h"

#include <fmt/format.h>

namespace shard {

namespace {

// The list form of a sharding: per dim a name, a list of names, null (replicated and closed), "?" (open).
std::string print_spec(const Mesh& mesh, const Sharding& sharding) {
    std::vector<std::string> dims;
    for (const DimSharding& dim : sharding.dims) {
        std::vector<std::string> axes;
        for (const AxisRef& axis : dim.axes) axes.push_back(text(mesh, axis));
        if (dim.open) {
            if (axes.empty()) axes.emplace_back();
            axes.back() += "?";
        }
        if (axes.empty())
            dims.emplace_back("null");
        else
            dims.push_back(axes.size() == 1 ? json_string(axes[0]) : json_strings(axes));
    }
    return json_array(dims);
}

} // namespace

std::string print_tensor(const Mesh& mesh, const TensorReport& tensor) {
    return JsonObject()
        .string("name", tensor.name)
        .string("role", name(tensor.role))
        .string("dtype", name(tensor.dtype))
        .raw("shape", json_integers(tensor.shape))
        .raw("logical", json_strings(tensor.logical))
        .raw("sharding", print_sharding(mesh, tensor.sharding))
        .raw("spec", print_spec(mesh, tensor.sharding))
        .raw("local_shape", json_integers(tensor.local_shape))
        .integer("bytes_per_device", tensor.bytes_per_device)
        .raw("source", print_source(tensor.source))
        .text();
}

namespace {

TensorReport read_tensor(const JsonAt& at, const Mesh& mesh) {
    at.known_keys(
        {"name", "role", "dtype", "shape", "logical", "sharding", "spec", "local_shape", "bytes_per_device", "source"});
    TensorReport tensor;
    tensor.name = read_name(at["name"]);
    tensor.role = read_role(at["role"]);
    tensor.dtype = read_dtype(at["dtype"]);
    tensor.shape = at["shape"].integers();
    tensor.logical = at["logical"].strings();
    tensor.sharding = read_sharding(at["sharding"], mesh); // spec says the same
    tensor.local_shape = at["local_shape"].integers();
    tensor.bytes_per_device = at["bytes_per_device"].integer();
    tensor.source = read_source(at["source"]);
    return tensor;
}

std::string print_links(const std::vector<LinkUse>& links) {
    std::vector<std::string> items;
    for (const LinkUse& use : links)
        items.push_back(JsonObject().string("link", use.link).integer("devices", use.devices).text());
    return json_array(items);
}

LinkUse read_link(const JsonAt& at) {
    at.known_keys({"link", "devices"});
    return {at["link"].string(), at["devices"].integer()};
}

} // namespace

std::string print_collective(const Mesh& mesh, const CollectiveReport& collective) {
    return JsonObject()
        .string("kind", collective.kind)
        .raw("axes", print_axes(mesh, collective.axes))
        .raw("reduce", collective.reduce.empty() ? "null" : json_string(collective.reduce))
        .raw("dim", collective.dim < 0 ? "null" : std::to_string(collective.dim))
        .string("tensor", collective.tensor)
        .string("op", collective.op)
        .integer("count", collective.count)
        .integer("wire_bytes_per_device", collective.wire_bytes_per_device)
        .integer("wire_bytes_total", collective.wire_bytes_total)
        .number("seconds", collective.seconds)
        .raw("links", print_links(collective.links))
        .string("cause", collective.cause)
        .string("remedy", collective.remedy)
        .raw("source", print_source(collective.source))
        .text();
}

namespace {

CollectiveReport read_collective(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"kind", "axes", "reduce", "dim", "tensor", "op", "count", "wire_bytes_per_device",
                   "wire_bytes_total", "seconds", "links", "cause", "remedy", "source"});
    CollectiveReport collective;
    collective.kind = at["kind"].string();
    collective.axes = read_axes(at["axes"], mesh);
    collective.reduce = at["reduce"].is_null() ? "" : at["reduce"].string();
    collective.dim = at["dim"].is_null() ? -1 : at["dim"].small();
    collective.tensor = read_name(at["tensor"]);
    collective.op = at["op"].string();
    collective.count = at["count"].integer();
    collective.wire_bytes_per_device = at["wire_bytes_per_device"].integer();
    collective.wire_bytes_total = at["wire_bytes_total"].integer();
    collective.seconds = at["seconds"].number();
    collective.links = at["links"].list<LinkUse>(read_link);
    collective.cause = at["cause"].string();
    collective.remedy = at["remedy"].string();
    collective.source = read_source(at["source"]);
    return collective;
}

// --- diagnostics: `source` is the first label's place; `labels` has all of them, by index into the plan's sources ---

std::string print_diagnostic(std::span<const SourceText> sources, const Diagnostic& diagnostic) {
    SourceRef place;
    std::vector<std::string> labels;
    for (const Label& label : diagnostic.labels) {
        const Span& span = label.span;
        if (place == SourceRef{} && span.line > 0 && span.file >= 0 && static_cast<size_t>(span.file) < sources.size())
            place = {sources[span.file].name, span.line, span.column};
        labels.push_back(JsonObject()
                             .integer("file", span.file)
                             .integer("line", span.line)
                             .integer("column", span.column)
                             .integer("length", span.length)
                             .string("text", label.text)
                             .text());
    }
    return JsonObject()
        .string("code", diagnostic.code)
        .string("severity", name(diagnostic.severity))
        .string("message", diagnostic.message)
        .raw("source", print_source(place))
        .raw("labels", json_array(labels))
        .raw("notes", json_strings(diagnostic.notes))
        .string("help", diagnostic.help)
        .flag("finding", diagnostic.finding)
        .text();
}

Diagnostic read_diagnostic(const JsonAt& at) {
    at.known_keys({"code", "severity", "message", "source", "labels", "notes", "help", "finding"});
    Diagnostic diagnostic;
    diagnostic.code = at["code"].string();
    bool known = false;
    for (Severity severity : {Severity::note, Severity::warning, Severity::error})
        if (name(severity) == at["severity"].string()) diagnostic.severity = severity, known = true;
    if (!known) at["severity"].problem("unknown severity");
    diagnostic.message = at["message"].string();
    diagnostic.labels = at["labels"].list<Label>([](const JsonAt& label) {
        label.known_keys({"file", "line", "column", "length", "text"});
        return Label{{label["file"].small(), label["line"].small(), label["column"].small(), label["length"].small()},
                     label["text"].string()};
    });
    diagnostic.notes = at["notes"].strings();
    diagnostic.help = at["help"].string();
    diagnostic.finding = at["finding"].flag();
    return diagnostic;
}

// --- memory and time ---

std::string print_at_peak(const AtPeak& value) {
    return JsonObject()
        .string("name", value.name)
        .string("kind", value.kind)
        .integer("bytes", value.bytes)
        .raw("source", print_source(value.source))
        .text();
}

AtPeak read_at_peak(const JsonAt& at) {
    at.known_keys({"name", "kind", "bytes", "source"});
    return {at["name"].string(), at["kind"].string(), at["bytes"].integer(), read_source(at["source"])};
}

std::string print_memory(const MemoryReport& memory) {
    std::vector<std::string> largest;
    for (const AtPeak& value : memory.largest) largest.push_back(print_at_peak(value));
    return JsonObject()
        .integer("params", memory.params)
        .integer("optimizer_state", memory.optimizer_state)
        .integer("gradients", memory.gradients)
        .integer("activations", memory.activations)
        .integer("temporaries", memory.temporaries)
        .integer("inputs", memory.inputs)
        .integer("peak", memory.peak)
        .integer("capacity", memory.capacity)
        .integer_unless(0, "host_peak", memory.host_peak)
        .integer_unless(0, "host_capacity", memory.host_capacity)
        .raw("largest", json_array(largest))
        .integer("others", memory.others)
        .text();
}

MemoryReport read_memory(const JsonAt& at) {
    at.known_keys({"params", "optimizer_state", "gradients", "activations", "temporaries", "inputs", "peak", "capacity",
                   "host_peak", "host_capacity", "largest", "others"});
    std::vector<AtPeak> largest;
    if (at.has("largest")) largest = at["largest"].list<AtPeak>(read_at_peak);
    return {at["params"].integer(),      at["optimizer_state"].integer(),
            at["gradients"].integer(),   at["activations"].integer(),
            at["temporaries"].integer(), at["inputs"].integer(),
            at["peak"].integer(),        at["capacity"].integer(),
            at.integer("host_peak", 0),  at.integer("host_capacity", 0),
            std::move(largest),          at.integer("others", 0)};
}

std::string print_time(const TimeReport& time) {
    return JsonObject()
        .number("compute_seconds", time.compute_seconds)
        .number("communication_seconds", time.communication_seconds)
        .number("exposed_communication_seconds", time.exposed_communication_seconds)
        .number("step_seconds", time.step_seconds)
        .number_unless(0, "host_seconds", time.host_seconds)
        .number_unless(0, "launch_seconds", time.launch_seconds)
        .text();
}

TimeReport read_time(const JsonAt& at) {
    at.known_keys({"compute_seconds", "communication_seconds", "exposed_communication_seconds", "step_seconds",
                   "host_seconds", "launch_seconds"});
    return {at["compute_seconds"].number(),
            at["communication_seconds"].number(),
            at["exposed_communication_seconds"].number(),
            at["step_seconds"].number(),
            at.number("host_seconds", 0),
            at.number("launch_seconds", 0)};
}

// The members from "hardware" on, one a line.
std::string print_figures(const Mesh& mesh, const Report& report, std::span<const SourceText> sources, int indent) {
    std::vector<std::string> tensors, collectives, diagnostics;
    for (const TensorReport& tensor : report.tensors) tensors.push_back(print_tensor(mesh, tensor));
    for (const CollectiveReport& collective : report.collectives)
        collectives.push_back(print_collective(mesh, collective));
    for (const Diagnostic& diagnostic : report.diagnostics)
        diagnostics.push_back(print_diagnostic(sources, diagnostic));
    const std::string before(indent, ' ');
    std::string out;
    const auto line = [&](std::string_view key, const std::string& json) {
        out += fmt::format("{}{}{}: {}", out.empty() ? "" : ",\n", before, json_string(key), json);
    };
    line("hardware", json_string(report.hardware));
    line("tensors", json_lines(tensors, indent + 2));
    line("collectives", json_lines(collectives, indent + 2));
    JsonObject compute;
    compute.integer("flops_per_device", report.flops_per_device).number("seconds", report.compute_seconds);
    if (report.peak_flops > 0)
        compute.number("peak_flops_per_second", report.peak_flops).string("peak_dtype", report.peak_dtype);
    line("compute", compute.text());
    line("memory", print_memory(report.memory));
    line("time", print_time(report.time));
    line("diagnostics", json_lines(diagnostics, indent + 2));
    return out;
}

} // namespace

std::string print_report_object(const Plan& plan) {
    return fmt::format("{{\n  \"model\": {},\n  \"mode\": {},\n{}\n}}", json_string(plan.report.model),
                       json_string(plan.report.mode), print_figures(plan.mesh, plan.report, plan.sources, 2));
}

Report read_report(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"model", "mode", "hardware", "tensors", "collectives", "compute", "memory", "time", "diagnostics"});
    Report report;
    report.model = read_name(at["model"]);
    report.mode = at["mode"].string();
    report.hardware = at["hardware"].string();
    report.tensors =
        at["tensors"].list<TensorReport>([&mesh](const JsonAt& tensor) { return read_tensor(tensor, mesh); });
    report.collectives = at["collectives"].list<CollectiveReport>(
        [&mesh](const JsonAt& collective) { return read_collective(collective, mesh); });
    const JsonAt compute = at["compute"];
    compute.known_keys({"flops_per_device", "seconds", "peak_flops_per_second", "peak_dtype"});
    report.flops_per_device = compute["flops_per_device"].integer();
    report.compute_seconds = compute["seconds"].number();
    report.peak_flops = compute.number("peak_flops_per_second", 0);
    report.peak_dtype = compute.string("peak_dtype", "");
    report.memory = read_memory(at["memory"]);
    report.time = read_time(at["time"]);
    report.diagnostics = at["diagnostics"].list<Diagnostic>(read_diagnostic);
    return report;
}

std::string print_padding(const PaddingCost& padding) {
    return JsonObject().integer("bytes", padding.bytes).integer("flops", padding.flops).text();
}

PaddingCost read_padding(const JsonAt& at) {
    at.known_keys({"bytes", "flops"});
    return {at["bytes"].integer(), at["flops"].integer()};
}

std::string print_report(const Plan& plan) {
    std::vector<std::string> axes;
    for (const MeshAxis& axis : plan.mesh.axes)
        axes.push_back(JsonObject().string("name", axis.name).integer("size", axis.size).text());
    const std::string mesh =
        JsonObject().raw("axes", json_array(axes)).integer("devices", plan.mesh.device_count()).text();
    return fmt::format("{{\n  \"format_version\": {},\n  \"tool\": {},\n  \"model\": {},\n  \"mode\": {},\n  \"mesh\": "
                       "{},\n{}{}\n}}\n",
                       plan.format_version, json_string(plan.tool), json_string(plan.model), json_string(plan.mode),
                       mesh, print_figures(plan.mesh, plan.report, plan.sources, 2),
                       plan.padding == PaddingCost() ? "" : ",\n  \"padding\": " + print_padding(plan.padding));
}

} // namespace shard
