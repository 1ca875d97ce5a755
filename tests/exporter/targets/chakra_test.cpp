// Traces, read with a reader of this file alone: it knows the numbers of the schema and nothing of how they are written.
#include "exporter/chakra/trace.h"
#include "exporter/target/target.h"
#include "planner/pipeline/pipeline.h"
#include "plans/plan/report_totals.h"
#include "tests/support/memory_files.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>

namespace shard {
namespace {

using Number = std::uint64_t;

class Reader {
public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}
    bool at_end() const { return bytes_.empty(); }
    Number varint() {
        Number value = 0;
        for (int shift = 0;; shift += 7) {
            REQUIRE(!bytes_.empty());
            const Number byte = static_cast<unsigned char>(bytes_.front());
            bytes_.remove_prefix(1);
            value |= (byte & 127) << shift;
            if (byte < 128) return value;
        }
    }
    std::string_view text() {
        const Number size = varint();
        REQUIRE(size <= bytes_.size());
        const std::string_view found = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return found;
    }

private:
    std::string_view bytes_;
};

struct ReadNode {
    Number id = 0, type = 0;
    std::string name;
    std::vector<Number> before, operands;
    std::map<std::string, Number> numbers;
    std::map<std::string, std::string> texts;
};

std::vector<Number> packed(std::string_view bytes) {
    std::vector<Number> list;
    for (Reader reader(bytes); !reader.at_end();) list.push_back(reader.varint());
    return list;
}

ReadNode node_of(std::string_view bytes) {
    ReadNode node;
    for (Reader reader(bytes); !reader.at_end();) {
        const Number tag = reader.varint();
        switch (tag >> 3) {
        case 1:
            node.id = reader.varint();
            break;
        case 2:
            node.name = reader.text();
            break;
        case 3:
            node.type = reader.varint();
            break;
        case 4:
            node.before = packed(reader.text());
            break;
        case 5:
            node.operands = packed(reader.text());
            break;
        default: {
            REQUIRE((tag >> 3) == 10);
            Reader attribute(reader.text());
            CHECK(attribute.varint() == (1 << 3 | 2));
            const std::string name(attribute.text());
            if (const Number kind = attribute.varint(); (kind & 7) == 2)
                node.texts[name] = attribute.text();
            else
                node.numbers[name] = attribute.varint();
        }
        }
    }
    return node;
}

std::vector<ReadNode> nodes_of(std::string_view file) {
    std::vector<ReadNode> nodes;
    Reader reader(file);
    reader.text(); // of the whole trace
    while (!reader.at_end()) nodes.push_back(node_of(reader.text()));
    return nodes;
}

struct Traces {
    std::map<std::string, std::string> files;
    std::vector<std::vector<ReadNode>> devices;
    nlohmann::json groups;

    explicit Traces(const Plan& plan) {
        Diagnostics diagnostics;
        const bool fine = find_target("chakra")->write_files(
            plan,
            [this](const std::string& name, std::string_view bytes) {
                CHECK(files.emplace(name, bytes).second);
                return true;
            },
            diagnostics);
        REQUIRE(fine);
        for (i64 device = 0; device < plan.mesh.device_count(); ++device)
            devices.push_back(nodes_of(files.at(fmt::format("trace.{}.et", device))));
        groups = nlohmann::json::parse(files.at("groups.json"));
        CHECK(files.size() == devices.size() + 1);
    }
};

Plan plan_of(const std::string& model, const std::string& layout, const std::string& mode = "forward") {
    Sources sources;
    PlanRequest request;
    request.mode = mode;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    Compilation compilation = compile(sources, request);
    for (const Diagnostic& each : compilation.diagnostics.all()) CAPTURE(each.message);
    REQUIRE(compilation.plan);
    return *std::move(compilation.plan);
}

constexpr Number compute = 4, send = 5, receive = 6, collective = 7;

// Bytes that all devices send, by what the types of collectives mean.
i64 sent(const Traces& traces) {
    i64 total = 0;
    for (size_t device = 0; device < traces.devices.size(); ++device)
        for (const ReadNode& node : traces.devices[device]) {
            if (node.type == compute || node.type == receive) continue;
            const i64 bytes = static_cast<i64>(node.numbers.at("comm_size"));
            if (node.type == send) {
                total += bytes;
                continue;
            }
            const nlohmann::json& group = traces.groups.at(node.texts.at("pg_name"));
            CHECK(std::count(group.begin(), group.end(), device) == 1);
            const i64 n = static_cast<i64>(group.size());
            switch (node.numbers.at("comm_type")) {
            case 0: // all_reduce
                total += 2 * (n - 1) * bytes / n;
                break;
            case 2: // all_gather
                total += (n - 1) * bytes;
                break;
            case 6: // all_to_all
            case 7: // reduce_scatter
                total += (n - 1) * bytes / n;
                break;
            default:
                FAIL("a collective of another type: " << node.name);
            }
        }
    return total;
}

void check_order(const Traces& traces) {
    for (const std::vector<ReadNode>& nodes : traces.devices) {
        std::set<Number> known;
        for (const ReadNode& node : nodes) {
            CAPTURE(node.name);
            for (const std::vector<Number>& list : {node.before, node.operands})
                for (Number id : list) CHECK(known.contains(id));
            CHECK(known.insert(node.id).second);
            CHECK(node.numbers.at("is_cpu_op") == 0);
        }
    }
    // Who sends is who the other receives from.
    std::multiset<std::vector<Number>> sends, receives;
    for (const std::vector<ReadNode>& nodes : traces.devices)
        for (const ReadNode& node : nodes)
            if (node.type == send || node.type == receive)
                (node.type == send ? sends : receives)
                    .insert({node.numbers.at("comm_src"), node.numbers.at("comm_dst"), node.numbers.at("comm_tag"),
                             node.numbers.at("comm_size")});
    CHECK(sends == receives);
}

constexpr const char* mlp = "model: m\naxes: {batch: 16, embed: 32, hidden: 64}\n"
                            "inputs: {x: {axes: [batch, embed]}}\n"
                            "params: {w1: {axes: [embed, hidden]}, w2: {axes: [hidden, embed]}}\n"
                            "graph:\n  - h: {dot: [x, w1]}\n  - a: {relu: h}\n  - y: {dot: [a, w2]}\n"
                            "outputs: [y]\n"
                            "train: {loss: {mean: y}, optimizer: {adam: {learning_rate: 0.01}}}\n";

} // namespace

TEST_CASE("traces send the bytes of the report, and nothing begins before what it needs") {
    struct Case {
        const char* model;
        const char* layout;
        const char* mode;
    };
    const Case cases[] = {
        {mlp, "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {hidden: model}, {embed: ~}]\n", "train"},
        {mlp, "mesh: {data: 8}\nrules: [{batch: data}]\nfsdp: {axis: data}\n", "train"},
        {mlp, "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {hidden: model}]\noutputs: {y: [~, ~]}\n", "forward"},
        {"model: m\naxes: {a: 16, b: 16}\ninputs: {x: {axes: [a, b]}}\ngraph:\n"
         "  - y: {constrain: x, mesh: [~, [p, q]]}\n  - z: {constrain: y, mesh: [~, [q, p]]}\noutputs: [z]\n",
         "mesh: {p: 2, q: 4}\nrules: [{a: [p, q]}]\noutputs: {z: [~, [q, p]]}\n", "forward"},
        {"model: m\naxes: {a: 32}\ninputs: {x: {axes: [a]}}\ngraph: [{y: {roll: x, dim: a, shift: 1}}]\noutputs: [y]\n",
         "mesh: {p: 8}\nrules: [{a: p}]\noutputs: {y: [p]}\n", "forward"},
    };
    bool permutes = false;
    for (const Case& each : cases) {
        CAPTURE(each.layout);
        const Plan plan = plan_of(each.model, each.layout, each.mode);
        const Traces traces(plan);
        check_order(traces);
        CHECK(sent(traces) == wire_bytes_total(plan.report));
        for (const std::vector<ReadNode>& nodes : traces.devices) {
            i64 flops = 0;
            for (const ReadNode& node : nodes) {
                if (node.type == compute) flops += static_cast<i64>(node.numbers.at("num_ops"));
                permutes = permutes || node.type == send;
            }
            CHECK(flops == plan.report.flops_per_device);
        }
        CHECK(Traces(plan).files == traces.files);
    }
    CHECK(permutes);
}

TEST_CASE("the trips of loops are written out, each behind the one before") {
    const std::string scanned =
        "model: m\naxes: {batch: 8, embed: 16, inner: 32, layers: 3}\ninputs: {x: {axes: [batch, embed]}}\n"
        "modules:\n  block:\n    inputs: [h]\n    params: {w: {axes: [embed, inner]}, v: {axes: [inner, embed]}}\n"
        "    graph: [{a: {dot: [h, w]}}, {t: {tanh: a}}, {out: {dot: [t, v]}}]\n    outputs: [out]\n"
        "graph: [{y: {repeat: block, times: 3, in: x, axis: layers, scan: true}}]\noutputs: [y]\n";
    const Plan plan = plan_of(scanned, "mesh: {model: 4}\nrules: [{inner: model}]\n");
    const Traces traces(plan);
    check_order(traces);
    CHECK(sent(traces) == wire_bytes_total(plan.report));
    for (int trip : {0, 1, 2}) {
        const std::string ending = fmt::format("[{}]", trip);
        CHECK(std::any_of(traces.devices[0].begin(), traces.devices[0].end(),
                          [&](const ReadNode& node) { return node.type == compute && node.name.ends_with(ending); }));
    }
}

TEST_CASE("export --to chakra writes a folder, and asks for one") {
    MemoryFiles files;
    files.files["model.yaml"] = mlp;
    files.files["layout.yaml"] = "mesh: {data: 2}\nrules: [{batch: data}]\n";
    const CommandResult nowhere = run_command(files, "shardc export model.yaml layout.yaml --to chakra");
    CHECK(nowhere.code == 2);
    CHECK(nowhere.err.find("say which with --output DIR") != std::string::npos);
    const CommandResult written =
        run_command(files, "shardc export model.yaml layout.yaml --mode train --to chakra --output traces");
    CHECK(written.code == 0);
    CHECK(written.out.empty());
    CHECK(written.err == "wrote 3 files to traces\n");
    CHECK(files.files.at("traces/groups.json") == "{\n  \"1\": [0, 1]\n}\n");
    CHECK(nodes_of(files.files.at("traces/trace.1.et")).size() > 10);
}

TEST_CASE("more devices than a folder has files for, and loops that only turn, are refused at once") {
    MemoryFiles files;
    files.files["model.yaml"] = "model: s\naxes: {n: 1000000000000}\ninputs: {x: {axes: [n]}}\ngraph: [{y: {neg: x}}]\n"
                                "outputs: [y]\n";
    files.files["layout.yaml"] = "mesh: {d: 1000000000000}\nrules: [{n: d}]\n";
    const CommandResult many = run_command(files, "shardc export model.yaml layout.yaml --to chakra --output traces");
    CHECK(many.code == 2);
    CHECK(many.err.starts_with("error[E0509]: a trace is a file for each device: there are 1000000000000, and at most "
                               "65536 are written\n"));
    CHECK_FALSE(files.files.contains("traces/groups.json"));

    PlanBuilder turning(Mesh{});
    turning.output("x", turning.input("x", DType::f32, {2}));
    turning.plan().steps.push_back(Loop{0, i64{1} << 62, {}});
    Diagnostics diagnostics;
    CHECK_FALSE(trace_of(turning.plan(), diagnostics));
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].code == "E0509");
}

} // namespace shard
