// Execution traces in the schema of MLCommons Chakra, as ASTRA-sim reads them: a file for each device, and the groups of
// devices over which collectives go. Sources: mlcommons/chakra, schema/protobuf/et_def.proto; astra-sim,
// workload/Workload.cc, for the attributes that are read and what `comm_size` counts.
#include "exporter/chakra/message.h"
#include "exporter/chakra/trace.h"
#include "exporter/target/target.h"
#include "plans/base/printable.h"
#include "plans/collective/collective_data.h"
#include "plans/plan/source_ref.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace shard {

namespace {

constexpr std::string_view schema_version = "0.0.4";

// Numbers of fields, and of enumerations.
namespace metadata_field {
constexpr int version = 1, attribute = 2;
}
namespace node_field {
constexpr int id = 1, name = 2, type = 3, ends_before = 4, operands = 5, attribute = 10;
}
namespace attribute_field {
constexpr int name = 1, int32 = 7, int64 = 9, uint64 = 13, boolean = 27, text = 29;
}
namespace node_type {
constexpr std::uint64_t compute = 4, send = 5, receive = 6, collective = 7;
}

std::uint64_t collective_type(const Collective& collective) {
    struct Known {
        std::string_view name;
        std::uint64_t type;
    };
    static constexpr std::array<Known, 5> known = {
        {{"all_reduce", 0}, {"all_gather", 2}, {"broadcast", 5}, {"all_to_all", 6}, {"reduce_scatter", 7}}};
    for (const Known& each : known)
        if (each.name == collective.def->name) return each.type;
    internal_error("a collective that traces do not know");
}

class Writer {
public:
    Writer(const Plan& plan, const Trace& trace) : plan_(plan), trace_(trace) {
        for (const std::vector<AxisRef>& axes : trace.groups) number_groups(axes);
    }

    // All groups by their numbers.
    std::string groups_file() const {
        std::string text = "{\n";
        for (size_t g = 0; g < groups_.size(); ++g)
            text += fmt::format("  \"{}\": [{}]{}\n", g + first_group, fmt::join(groups_[g], ", "),
                                g + 1 < groups_.size() ? "," : "");
        return text + "}\n";
    }

    std::string trace_file(i64 position) const {
        Message metadata;
        metadata.text(metadata_field::version, schema_version);
        for (const auto& [name, value] : {std::pair<std::string_view, std::string>{"tool", plan_.tool},
                                          {"model", plan_.model},
                                          {"mode", plan_.mode},
                                          {"mesh", mesh_text()}})
            metadata.message(metadata_field::attribute, text_attribute(name, value));
        std::string bytes = metadata.delimited();
        std::vector<bool> missing(trace_.nodes.size(), false); // who sends or receives nothing
        for (size_t n = 0; n < trace_.nodes.size(); ++n) {
            const TraceNode& node = trace_.nodes[n];
            const i64 peer = is_permutation(node) ? peer_of(node, position) : 0;
            missing[n] = peer < 0;
            if (!missing[n]) bytes += node_message(n, position, peer, missing).delimited();
        }
        return bytes;
    }

    i64 device_at(i64 position) const {
        return plan_.mesh.device_ids.empty() ? position : plan_.mesh.device_ids[static_cast<size_t>(position)];
    }

private:
    static constexpr size_t first_group = 1; // 0 is all devices

    void number_groups(const std::vector<AxisRef>& axes) {
        std::vector<size_t> numbers(static_cast<size_t>(plan_.mesh.device_count()), 0);
        for (i64 position = 0; position < plan_.mesh.device_count(); ++position) {
            if (numbers[static_cast<size_t>(position)] != 0) continue;
            std::vector<i64> devices;
            for (i64 member : group_of(plan_.mesh, position, axes)) {
                numbers[static_cast<size_t>(member)] = groups_.size() + first_group;
                devices.push_back(device_at(member));
            }
            groups_.push_back(std::move(devices));
        }
        numbers_.push_back(std::move(numbers));
    }

    static bool is_permutation(const TraceNode& node) {
        return node.kind == TraceNode::Kind::send || node.kind == TraceNode::Kind::receive;
    }

    // The other device of a send or receive; -1 where nothing leaves the device.
    i64 peer_of(const TraceNode& node, i64 position) const {
        const Collective& collective = node.start->collective;
        if (node.kind == TraceNode::Kind::receive) {
            const i64 source = permute_source(collective, plan_.mesh, position);
            return source == position ? -1 : source;
        }
        for (i64 member : group_of(plan_.mesh, position, collective.axes))
            if (member != position && permute_source(collective, plan_.mesh, member) == position) return member;
        return -1;
    }

    Message node_message(size_t n, i64 position, i64 peer, const std::vector<bool>& missing) const {
        const TraceNode& node = trace_.nodes[n];
        Message message;
        message.number(node_field::id, n + Trace::first_id);
        message.text(node_field::name, printable(node.name));
        const auto present = [&](std::vector<std::uint64_t> ids) {
            ids.erase(
                std::remove_if(ids.begin(), ids.end(), [&](std::uint64_t id) { return missing[id - Trace::first_id]; }),
                ids.end());
            return ids;
        };
        message.number(node_field::type, type_of(node));
        message.numbers(node_field::ends_before, present(node.before));
        message.numbers(node_field::operands, present(node.operands));
        const auto add = [&](std::string_view name, int kind, std::uint64_t value) {
            Message attribute;
            attribute.text(attribute_field::name, name);
            attribute.number(kind, value);
            message.message(node_field::attribute, attribute);
        };
        add("is_cpu_op", attribute_field::boolean, 0);
        const std::uint64_t bytes = static_cast<std::uint64_t>(node.bytes);
        if (node.kind == TraceNode::Kind::compute) {
            add("num_ops", attribute_field::int64, static_cast<std::uint64_t>(node.flops));
            add("tensor_size", attribute_field::uint64, bytes);
        } else {
            add("comm_size", attribute_field::int64, bytes);
        }
        if (node.kind == TraceNode::Kind::collective) {
            const size_t group = numbers_[node.group][static_cast<size_t>(position)];
            add("comm_type", attribute_field::int64, collective_type(node.start->collective));
            message.message(node_field::attribute, text_attribute("pg_name", std::to_string(group)));
        } else if (is_permutation(node)) {
            const bool sends = node.kind == TraceNode::Kind::send;
            const std::uint64_t own = static_cast<std::uint64_t>(device_at(position)),
                                other = static_cast<std::uint64_t>(device_at(peer));
            add("comm_src", attribute_field::int32, sends ? own : other);
            add("comm_dst", attribute_field::int32, sends ? other : own);
            // Of both sides the number of the send.
            add("comm_tag", attribute_field::int32, n + Trace::first_id - (sends ? 0 : 1));
        }
        if (const std::string source = text(node.source); !source.empty())
            message.message(node_field::attribute, text_attribute("source", printable(source)));
        return message;
    }

    static std::uint64_t type_of(const TraceNode& node) {
        switch (node.kind) {
        case TraceNode::Kind::compute:
            return node_type::compute;
        case TraceNode::Kind::collective:
            return node_type::collective;
        case TraceNode::Kind::send:
            return node_type::send;
        case TraceNode::Kind::receive:
            return node_type::receive;
        }
        internal_error("a node of no kind");
    }

    static Message text_attribute(std::string_view name, std::string_view value) {
        Message attribute;
        attribute.text(attribute_field::name, name);
        attribute.text(attribute_field::text, value);
        return attribute;
    }

    std::string mesh_text() const {
        std::vector<std::string> axes;
        for (const MeshAxis& axis : plan_.mesh.axes) axes.push_back(fmt::format("{} {}", axis.name, axis.size));
        return fmt::format("{}", fmt::join(axes, " x "));
    }

    const Plan& plan_;
    const Trace& trace_;
    std::vector<std::vector<i64>> groups_;     // devices of each, by number
    std::vector<std::vector<size_t>> numbers_; // by axes of the trace, then by position: the group
};

bool write_files(const Plan& plan, const FileSink& file, Diagnostics& diagnostics) {
    const std::optional<Trace> trace = trace_of(plan, diagnostics);
    if (!trace) return false;
    const Writer writer(plan, *trace);
    if (!file("groups.json", writer.groups_file())) return false;
    for (i64 position = 0; position < plan.mesh.device_count(); ++position)
        if (!file(fmt::format("trace.{}.et", writer.device_at(position)), writer.trace_file(position))) return false;
    return true;
}

} // namespace

const TargetDef& target_chakra() {
    static const TargetDef def = {
        .name = "chakra",
        .doc = "a folder of execution traces, one a device, for ASTRA-sim and what else reads MLCommons Chakra",
        .write_files = write_files,
    };
    return def;
}

} // namespace shard
