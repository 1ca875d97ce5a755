#include "plans/file/plan_json_nouns.h"

#include "plans/base/characters.h"
#include "plans/base/checked.h"
#include "plans/file/plan_json.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// Letters, digits, '_' and '-', in parts that `joints` join; no part is empty. The text forms of axes and shardings,
// the names of files and what is printed rely on there being nothing else.
bool is_name(std::string_view name, std::string_view joints) {
    if (name.empty() || !starts_name(name[0])) return false;
    bool joint = false;
    for (const char c : name) {
        const bool was_joint = joint;
        joint = joints.find(c) != std::string_view::npos;
        if (joint ? was_joint : !starts_name(c) && !is_digit(c) && c != '-') return false;
    }
    return !joint;
}

constexpr size_t axis_limit = 64;
constexpr size_t text_limit = 100000; // of one sharding; only a hostile file is longer

} // namespace

std::string print_mesh(const Mesh& mesh) {
    std::vector<std::string> axes;
    for (const MeshAxis& axis : mesh.axes) {
        JsonObject object = JsonObject().string("name", axis.name).integer("size", axis.size);
        if (!axis.link.empty()) object.string("link", axis.link);
        axes.push_back(object.text());
    }
    JsonObject object = JsonObject().raw("axes", json_array(axes)).integer("devices", mesh.device_count());
    if (!mesh.device_ids.empty()) object.raw("device_ids", json_integers(mesh.device_ids));
    return object.text();
}

std::string read_name(const JsonAt& at) {
    const std::string& name = at.string();
    if (at.report().ok() && !is_name(name, ".#"))
        at.problem("not a name: letters, digits, '_' and '-', in parts joined by '.' or '#'");
    return name;
}

Mesh read_mesh(const JsonAt& at) {
    at.known_keys({"axes", "devices", "device_ids"});
    Mesh mesh;
    mesh.axes = at["axes"].list<MeshAxis>([](const JsonAt& axis) {
        axis.known_keys({"name", "size", "link"});
        MeshAxis out{axis["name"].string(), axis["size"].integer(), axis.string("link", "")};
        if (!is_name(out.name, "")) axis["name"].problem("not a name for a mesh axis");
        if (out.size < 1) axis["size"].problem("a mesh axis has at least one device");
        return out;
    });
    if (at.has("device_ids")) mesh.device_ids = at["device_ids"].integers();
    if (!at.report().ok()) return {};

    if (mesh.axes.size() > axis_limit) at.problem(fmt::format("more than {} mesh axes", axis_limit));
    for (size_t i = 0; i < mesh.axes.size(); ++i)
        for (size_t j = 0; j < i; ++j)
            if (mesh.axes[i].name == mesh.axes[j].name)
                at.problem(fmt::format("two mesh axes are called {}", mesh.axes[i].name));
    std::optional<i64> devices = 1;
    for (const MeshAxis& axis : mesh.axes)
        if (devices) devices = checked_multiply(*devices, axis.size);
    // Bytes over all devices must fit 64 bits too.
    if (!devices || *devices > (i64{1} << 40))
        at.problem("the mesh has too many devices");
    else if (at["devices"].integer() != *devices)
        at["devices"].problem(fmt::format("the axes multiply to {}", *devices));
    if (!mesh.device_ids.empty()) {
        std::vector<i64> sorted = mesh.device_ids;
        std::sort(sorted.begin(), sorted.end());
        bool permutation = devices && static_cast<i64>(sorted.size()) == *devices;
        for (size_t i = 0; permutation && i < sorted.size(); ++i) permutation = sorted[i] == static_cast<i64>(i);
        if (!permutation) at["device_ids"].problem("not a permutation of the mesh's devices");
    }
    return at.report().ok() ? mesh : Mesh{};
}

std::string print_axes(const Mesh& mesh, std::span<const AxisRef> axes) {
    std::vector<std::string> names;
    for (const AxisRef& axis : axes) names.push_back(json_string(text(mesh, axis)));
    return json_array(names);
}

namespace {

AxisRef read_axis(const JsonAt& at, const Mesh& mesh) {
    const std::string& name = at.string();
    if (!at.report().ok()) return {};
    const std::optional<AxisRef> axis = name.size() < text_limit ? parse_axis_ref(mesh, name) : std::nullopt;
    if (!axis) at.problem(fmt::format("\"{}\" is not an axis of the mesh", name.substr(0, 60)));
    return axis.value_or(AxisRef{});
}

} // namespace

std::vector<AxisRef> read_axes(const JsonAt& at, const Mesh& mesh) {
    return at.list<AxisRef>([&mesh](const JsonAt& axis) { return read_axis(axis, mesh); });
}

// 12 is a constant; otherwise {"constant": 12, "terms": [{"axis": "data", "times": 4}, {"loop": 0}, {"scalar": 17,
// "low": 0, "high": 6}]}.
std::string print_affine(const Mesh& mesh, const Affine& affine) {
    if (affine.is_constant()) return std::to_string(affine.constant);
    std::vector<std::string> terms;
    for (const AffineTerm& term : affine.terms) {
        JsonObject object;
        switch (term.kind) {
        case AffineTerm::Kind::coordinate:
            object.string("axis", text(mesh, term.axis));
            break;
        case AffineTerm::Kind::loop:
            object.integer("loop", term.index);
            break;
        case AffineTerm::Kind::scalar:
            object.integer("scalar", term.index)
                .integer_unless(AffineTerm{}.low, "low", term.low)
                .integer_unless(AffineTerm{}.high, "high", term.high);
            break;
        }
        terms.push_back(object.integer_unless(1, "times", term.coefficient).text());
    }
    return JsonObject().integer_unless(0, "constant", affine.constant).raw("terms", json_array(terms)).text();
}

Affine read_affine(const JsonAt& at, const Mesh& mesh) {
    if (at.is_integer()) return {at.integer(), {}};
    at.known_keys({"constant", "terms"});
    Affine affine;
    affine.constant = at.integer("constant", 0);
    affine.terms = at["terms"].list<AffineTerm>([&mesh](const JsonAt& term) {
        term.known_keys({"axis", "loop", "scalar", "low", "high", "times"});
        AffineTerm out;
        out.coefficient = term.integer("times", 1);
        if (term.has("axis")) {
            out.axis = read_axis(term["axis"], mesh);
        } else if (term.has("loop")) {
            out.kind = AffineTerm::Kind::loop;
            out.index = term["loop"].small();
        } else {
            out.kind = AffineTerm::Kind::scalar;
            out.index = term["scalar"].small();
            out.low = term.integer("low", out.low);
            out.high = term.integer("high", out.high);
        }
        return out;
    });
    return affine;
}

std::string print_affines(const Mesh& mesh, std::span<const Affine> affines) {
    std::vector<std::string> items;
    for (const Affine& affine : affines) items.push_back(print_affine(mesh, affine));
    return json_array(items);
}

std::vector<Affine> read_affines(const JsonAt& at, const Mesh& mesh) {
    return at.list<Affine>([&mesh](const JsonAt& affine) { return read_affine(affine, mesh); });
}

std::string print_sharding(const Mesh& mesh, const Sharding& sharding) { return json_string(text(mesh, sharding)); }

Sharding read_sharding(const JsonAt& at, const Mesh& mesh) {
    const std::string& form = at.string();
    if (!at.report().ok()) return {};
    const std::optional<Sharding> sharding = form.size() < text_limit ? parse_sharding(mesh, form) : std::nullopt;
    if (!sharding) at.problem(fmt::format("\"{}\" is not a sharding over this mesh", form.substr(0, 60)));
    return sharding.value_or(Sharding{});
}

std::string print_source(const SourceRef& source) {
    if (source == SourceRef{}) return "null";
    return JsonObject()
        .string("file", source.file)
        .integer("line", source.line)
        .integer("column", source.column)
        .text();
}

SourceRef read_source(const JsonAt& at) {
    if (at.is_null()) return {};
    at.known_keys({"file", "line", "column"});
    return {at["file"].string(), at["line"].small(), at["column"].small()};
}

DType read_dtype(const JsonAt& at) {
    const std::string& text = at.string();
    if (!at.report().ok()) return DType::f32;
    const std::optional<DType> dtype = parse_dtype(text);
    if (!dtype) at.problem(fmt::format("unknown dtype \"{}\"", text.substr(0, 60)));
    return dtype.value_or(DType::f32);
}

ReduceOp read_reduce(const JsonAt& at) {
    const std::string& text = at.string();
    if (!at.report().ok()) return ReduceOp::sum;
    const std::optional<ReduceOp> op = parse_reduce_op(text);
    if (!op) at.problem(fmt::format("unknown reduction \"{}\"", text.substr(0, 60)));
    return op.value_or(ReduceOp::sum);
}

Role read_role(const JsonAt& at) {
    const std::string& text = at.string();
    if (!at.report().ok()) return Role::value;
    const std::optional<Role> role = parse_role(text);
    if (!role) at.problem(fmt::format("unknown role \"{}\"", text.substr(0, 60)));
    return role.value_or(Role::value);
}

std::string print_int_lists(const std::vector<std::vector<int>>& lists) {
    std::vector<std::string> items;
    for (const std::vector<int>& list : lists) items.push_back(json_integers(list));
    return json_array(items);
}

} // namespace shard
