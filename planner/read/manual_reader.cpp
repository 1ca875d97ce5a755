#include "planner/read/manual_reader.h"

#include "planner/model/names.h"
#include "planner/read/entry_reader.h"
#include "planner/read/sharding_spec_reader.h"
#include "planner/text/yaml_values.h"

#include <fmt/format.h>

namespace shard {

namespace {

constexpr std::string_view form_help = "write {manual: {in: {x: [i, ~]}, out: {y: [i, ~]}, body: [...]}}";

class ManualReader {
public:
    ManualReader(const EntryContext& context, Diagnostics& diagnostics)
        : context_(&context), diagnostics_(&diagnostics) {}

    std::optional<ManualDecl> read(const Yaml& yaml) {
        if (yaml.map() == nullptr) {
            diagnostics_
                ->error("E0113", yaml.span, fmt::format("a manual region: expected a map, found {}", yaml.kind()))
                .help(std::string(form_help));
            return std::nullopt;
        }
        bool good = check_keys(yaml, {"mesh", "in", "out", "check", "body"}, "a manual region", *diagnostics_);
        for (std::string_view key : {"out", "body"}) {
            if (yaml.find(key) != nullptr) continue;
            diagnostics_->error("E0116", yaml.span, fmt::format("a manual region needs '{}'", key))
                .help(std::string(form_help));
            good = false;
        }
        ManualDecl decl;
        decl.span = yaml.span;
        if (const Yaml* mesh = yaml.find("mesh")) {
            decl.mesh.emplace();
            good = read_axes(*mesh, *decl.mesh) && good;
        }
        if (const Yaml* in = yaml.find("in"); in != nullptr && !in->is_null())
            good = read_ports(*in, "in", decl.in) && good;
        if (const Yaml* out = yaml.find("out")) good = read_ports(*out, "out", decl.out) && good;
        if (const Yaml* check = yaml.find("check")) {
            const std::optional<bool> read = read_bool(*check, "check", *diagnostics_);
            good = good && read;
            decl.check = read.value_or(true);
        }
        if (const Yaml* body = yaml.find("body")) good = read_graph(*body, *context_, decl.body, *diagnostics_) && good;
        if (!good) return std::nullopt;
        return decl;
    }

private:
    bool read_axes(const Yaml& yaml, std::vector<Name>& axes) {
        const YamlList one = {yaml};
        bool good = true;
        for (const Yaml& item : yaml.list() != nullptr ? *yaml.list() : one) {
            const std::optional<Name> name = read_name(item, "a mesh axis", *diagnostics_);
            good = good && name;
            if (name) axes.push_back(*name);
        }
        return good;
    }

    bool read_ports(const Yaml& yaml, std::string_view key, std::vector<ManualPort>& ports) {
        if (yaml.map() == nullptr) {
            diagnostics_
                ->error("E0113", yaml.span,
                        fmt::format("{}: expected a sharding for every name, found {}", key, yaml.kind()))
                .help(fmt::format("write {}: {{x: [i, ~]}}, one entry a dim, or ~ for what is not split", key));
            return false;
        }
        bool good = true;
        for (const YamlEntry& item : *yaml.map()) {
            ManualPort port;
            port.name = port.of = {item.key, item.key_span};
            good = check_name(item.key, item.key_span, "a value", *diagnostics_) && good;
            const Yaml* spec = &item.value;
            if (item.value.map() != nullptr) { // {x: {of: block.0.h, mesh: [i, ~]}}
                good = check_keys(item.value, {"of", "mesh"}, "a value that enters", *diagnostics_) && good;
                spec = item.value.find("mesh");
                if (const Yaml* of = item.value.find("of")) {
                    const std::optional<std::vector<Name>> names = read_value_names(*of, "of", *diagnostics_);
                    good = good && names;
                    if (names) port.of = names->front();
                }
            }
            if (spec != nullptr && !spec->is_null()) {
                port.spec = read_sharding_spec(*spec, *diagnostics_);
                good = good && port.spec;
            }
            ports.push_back(std::move(port));
        }
        return good;
    }

    const EntryContext* context_;
    Diagnostics* diagnostics_;
};

} // namespace

std::optional<ManualDecl> read_manual(const Yaml& yaml, const EntryContext& context, Diagnostics& diagnostics) {
    return ManualReader(context, diagnostics).read(yaml);
}

} // namespace shard
