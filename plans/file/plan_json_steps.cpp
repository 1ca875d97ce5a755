#include "plans/file/plan_json_steps.h"

#include "plans/file/plan_json.h"
#include "plans/file/plan_json_kernel.h"
#include "plans/file/plan_json_nouns.h"

#include <fmt/format.h>

#include <array>

namespace shard {

std::string print_buffer(const Mesh& mesh, const Buffer& buffer) {
    JsonObject object = JsonObject()
                            .integer("id", buffer.id)
                            .string("name", buffer.name)
                            .string("role", name(buffer.role))
                            .string("dtype", name(buffer.dtype))
                            .raw("global_shape", json_integers(buffer.global_shape));
    if (!buffer.unpadded_shape.empty()) object.raw("unpadded_shape", json_integers(buffer.unpadded_shape));
    return object.raw("shape", json_integers(buffer.shape))
        .raw("sharding", print_sharding(mesh, buffer.sharding))
        .integer("offset", buffer.offset)
        .integer("bytes", buffer.bytes)
        .integer_unless(-1, "alias_of", buffer.alias_of)
        .flag_if("view", buffer.view)
        .flag_if("donated", buffer.donated)
        .flag_if("on_host", buffer.on_host)
        .text();
}

Buffer read_buffer(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"id", "name", "role", "dtype", "global_shape", "unpadded_shape", "shape", "sharding", "offset",
                   "bytes", "alias_of", "view", "donated", "on_host"});
    Buffer buffer;
    buffer.id = at["id"].small();
    buffer.name = read_name(at["name"]);
    buffer.role = read_role(at["role"]);
    buffer.dtype = read_dtype(at["dtype"]);
    buffer.global_shape = at["global_shape"].integers();
    if (at.has("unpadded_shape")) buffer.unpadded_shape = at["unpadded_shape"].integers();
    buffer.shape = at["shape"].integers();
    buffer.sharding = read_sharding(at["sharding"], mesh);
    buffer.offset = at["offset"].integer();
    buffer.bytes = at["bytes"].integer();
    buffer.alias_of = at.small("alias_of", -1);
    buffer.view = at.flag("view");
    buffer.donated = at.flag("donated");
    buffer.on_host = at.flag("on_host");
    return buffer;
}

std::string print_collective(const Mesh& mesh, const Collective& collective) {
    JsonObject object =
        JsonObject().string("kind", collective.def->name).raw("axes", print_axes(mesh, collective.axes));
    if (collective.reduce != ReduceOp::sum) object.string("reduce", name(collective.reduce));
    std::vector<std::string> moves;
    for (const AxisMove& move : collective.moves)
        moves.push_back(JsonObject()
                            .integer_unless(-1, "from", move.from)
                            .integer_unless(-1, "to", move.to)
                            .raw("axes", print_axes(mesh, move.axes))
                            .text());
    if (!moves.empty()) object.raw("moves", json_array(moves));
    if (!collective.source_order.empty()) object.raw("source_order", print_axes(mesh, collective.source_order));
    if (!collective.target_order.empty()) object.raw("target_order", print_axes(mesh, collective.target_order));
    std::vector<std::string> pairs;
    for (const auto& [source, destination] : collective.pairs)
        pairs.push_back(json_integers(std::array{source, destination}));
    if (!pairs.empty()) object.raw("pairs", json_array(pairs));
    return object.integer_unless(0, "root", collective.root).text();
}

Collective read_collective(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"kind", "axes", "reduce", "moves", "source_order", "target_order", "pairs", "root"});
    Collective collective;
    const JsonAt kind = at["kind"];
    collective.def = find_collective(kind.string());
    if (collective.def == nullptr) kind.problem(fmt::format("unknown collective \"{}\"", kind.string().substr(0, 60)));
    collective.axes = read_axes(at["axes"], mesh);
    if (at.has("reduce")) collective.reduce = read_reduce(at["reduce"]);
    if (at.has("moves"))
        collective.moves = at["moves"].list<AxisMove>([&mesh](const JsonAt& move) {
            move.known_keys({"from", "to", "axes"});
            return AxisMove{move.small("from", -1), move.small("to", -1), read_axes(move["axes"], mesh)};
        });
    if (at.has("source_order")) collective.source_order = read_axes(at["source_order"], mesh);
    if (at.has("target_order")) collective.target_order = read_axes(at["target_order"], mesh);
    if (at.has("pairs"))
        collective.pairs = at["pairs"].list<std::pair<i64, i64>>([](const JsonAt& pair) {
            const std::vector<i64> ranks = pair.integers();
            if (ranks.size() != 2) pair.problem("expected a source and a destination");
            return ranks.size() == 2 ? std::pair(ranks[0], ranks[1]) : std::pair<i64, i64>();
        });
    collective.root = at.integer("root", 0);
    return collective;
}

namespace {

void add_source(JsonObject& object, const SourceRef& source) {
    if (source != SourceRef{}) object.raw("source", print_source(source));
}

SourceRef read_step_source(const JsonAt& at) { return at.has("source") ? read_source(at["source"]) : SourceRef{}; }

std::string print_compute(const Mesh& mesh, const Compute& compute) {
    JsonObject body;
    if (!compute.op.empty()) body.string("op", compute.op);
    body.raw("inputs", json_integers(compute.inputs)).integer("output", compute.output);
    if (compute.scratch_bytes != 0 || compute.scratch_offset != 0) {
        const i64 scratch[] = {compute.scratch_offset, compute.scratch_bytes};
        body.raw("scratch", json_integers(scratch)); // offset, bytes
    }
    body.raw("kernel", print_kernel(mesh, *compute.kernel));
    add_source(body, compute.source);
    return body.text();
}

Compute read_compute(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"op", "inputs", "output", "scratch", "kernel", "source"});
    Compute compute;
    compute.kernel = read_kernel(at["kernel"], mesh);
    compute.inputs = at["inputs"].smalls();
    compute.output = at["output"].small();
    compute.op = at.string("op", "");
    compute.source = read_step_source(at);
    if (at.has("scratch")) {
        const JsonAt scratch = at["scratch"];
        const std::vector<i64> extent = scratch.integers();
        if (extent.size() != 2)
            scratch.problem("expected [offset, bytes]");
        else
            compute.scratch_offset = extent[0], compute.scratch_bytes = extent[1];
    }
    return compute;
}

std::string print_step(const Mesh& mesh, const Step& step, int indent) {
    JsonObject object;
    if (const Compute* compute = std::get_if<Compute>(&step.variant_ref()))
        object.raw("compute", print_compute(mesh, *compute));
    if (const Start* start = std::get_if<Start>(&step.variant_ref())) {
        JsonObject body = JsonObject()
                              .integer("token", start->token)
                              .integer("input", start->input)
                              .integer("output", start->output)
                              .raw("collective", print_collective(mesh, start->collective));
        add_source(body, start->source);
        object.raw("start", body.text());
    }
    if (const Wait* wait = std::get_if<Wait>(&step.variant_ref())) object.integer("wait", wait->token);
    if (const Release* release = std::get_if<Release>(&step.variant_ref())) object.integer("release", release->buffer);
    if (const Loop* loop = std::get_if<Loop>(&step.variant_ref()))
        object.raw("loop", JsonObject()
                               .integer("index", loop->index)
                               .integer("trips", loop->trips)
                               .raw("body", print_steps(mesh, loop->body, indent + 2))
                               .text());
    return object.text();
}

// Recursion ends at the depth limit of JSON: a loop takes four levels.
Step read_step(const JsonAt& at, const Mesh& mesh) {
    const std::string_view key = at.only_key();
    if (key.empty()) return Release{};
    const JsonAt body = at[key];
    if (key == "compute") return read_compute(body, mesh);
    if (key == "wait") return Wait{body.small()};
    if (key == "release") return Release{body.small()};
    if (key == "start") {
        body.known_keys({"token", "input", "output", "collective", "source"});
        Start start;
        start.collective = read_collective(body["collective"], mesh);
        start.input = body["input"].small();
        start.output = body["output"].small();
        start.token = body["token"].small();
        start.source = read_step_source(body);
        return start;
    }
    if (key == "loop") {
        body.known_keys({"index", "trips", "body"});
        Loop loop;
        loop.index = body["index"].small();
        loop.trips = body["trips"].integer();
        loop.body = read_steps(body["body"], mesh);
        return loop;
    }
    at.problem(fmt::format("unknown kind of step \"{}\"", key.substr(0, 60)));
    return Release{};
}

} // namespace

std::string print_steps(const Mesh& mesh, std::span<const Step> steps, int indent) {
    std::vector<std::string> lines;
    for (const Step& step : steps) lines.push_back(print_step(mesh, step, indent));
    return json_lines(lines, indent);
}

std::vector<Step> read_steps(const JsonAt& at, const Mesh& mesh) {
    return at.list<Step>([&mesh](const JsonAt& step) { return read_step(step, mesh); });
}

} // namespace shard
