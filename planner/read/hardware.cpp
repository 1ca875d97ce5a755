// Hardware profiles: YAML files in planner/hardware/, embedded in the program, or files beside a layout. Every number
// is either plain or {value: ..., source: "..."}; the built-in ones all have a source.
#include "planner/read/hardware.h"

#include "planner/model/names.h"
#include "planner/text/embedded_texts.h"
#include "planner/text/named_file.h"
#include "planner/text/quantity.h"
#include "planner/text/yaml_values.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace shard {

namespace {

class ProfileReader {
public:
    ProfileReader(const Yaml& root, Diagnostics& diagnostics) : root_(&root), diagnostics_(&diagnostics) {}

    std::optional<Hardware> read(i64 devices) {
        if (!check_keys(*root_,
                        {"hardware", "doc", "cores", "flops", "flop_efficiency", "attention_efficiency",
                         "row_alignment", "kernel_launch", "roofline", "memory", "host", "links", "collective_launch",
                         "latency"},
                        "a hardware profile", *diagnostics_))
            return std::nullopt;
        hardware_.name = text(*root_, "hardware");
        hardware_.doc = text(*root_, "doc");
        read_flops();
        hardware_.flop_efficiency = number(*root_, "flop_efficiency", 1, positive);
        read_attention();
        hardware_.row_alignment = static_cast<i64>(number(*root_, "row_alignment", 0, is_count));
        hardware_.kernel_launch = number(*root_, "kernel_launch", 0, not_negative);
        if (const Yaml* memory = root_->find("memory");
            memory != nullptr &&
            check_keys(*memory, {"bytes", "bandwidth", "efficiency", "products", "cached"}, "memory", *diagnostics_)) {
            hardware_.memory_bytes = number(*memory, "bytes", 0, not_negative);
            hardware_.memory_bandwidth = number(*memory, "bandwidth", 0, not_negative);
            hardware_.memory_efficiency = number(*memory, "efficiency", 1, positive);
            hardware_.product_bandwidth = number(*memory, "products", 0, not_negative);
            read_cached(*memory);
        }
        if (const Yaml* host = root_->find("host");
            host != nullptr && check_keys(*host, {"bandwidth", "bytes"}, "host", *diagnostics_)) {
            hardware_.host_bandwidth = number(*host, "bandwidth", 0, not_negative);
            hardware_.host_memory_bytes = number(*host, "bytes", 0, not_negative);
        }
        hardware_.collective_launch = number(*root_, "collective_launch", 0, not_negative);
        hardware_.latency_adds = adds("latency", "latency and transfer");
        hardware_.roofline_adds = adds("roofline", "a kernel's arithmetic and its bytes");
        read_links();
        const i64 cores = static_cast<i64>(number(*root_, "cores", 0, is_count));
        if (diagnostics_->has_error()) return std::nullopt;
        if (cores > 0) share(cores, devices);
        return std::move(hardware_);
    }

private:
    static bool positive(double value) { return std::isfinite(value) && value > 0; }
    static bool is_count(double value) { return value >= 1 && value <= 1e9 && value == std::floor(value); }
    static bool is_share(double value) { return value > 0 && value <= 1; }
    static bool at_least_one(double value) { return std::isfinite(value) && value >= 1; }
    static bool not_negative(double value) { return std::isfinite(value) && value >= 0; }

    std::string text(const Yaml& map, std::string_view key) {
        const Yaml* value = map.find(key);
        return value == nullptr ? "" : read_string(*value, key, *diagnostics_).value_or("");
    }

    // What stands at `key`, plain or with its source; nullptr if nothing does.
    const Yaml* value_of(const Yaml& map, std::string_view key) {
        const Yaml* yaml = map.find(key);
        if (yaml == nullptr || yaml->map() == nullptr) return yaml;
        const Yaml *value = yaml->find("value"), *source = yaml->find("source");
        if (value == nullptr && source == nullptr) return yaml; // a map of its own
        check_keys(*yaml, {"value", "source"}, key, *diagnostics_);
        if (source != nullptr)
            hardware_.sources.push_back(
                fmt::format("{}: {}", key, read_string(*source, "source", *diagnostics_).value_or("")));
        if (value == nullptr) diagnostics_->error("E0331", yaml->span, fmt::format("{} has no value", key));
        return value;
    }

    double number(const Yaml& map, std::string_view key, double usual, bool (*valid)(double)) {
        const Yaml* value = value_of(map, key);
        return value == nullptr ? usual : checked(*value, key, usual, valid);
    }

    double checked(const Yaml& value, std::string_view what, double usual, bool (*valid)(double)) {
        const std::optional<double> read = read_double(value, what, *diagnostics_);
        if (read && !valid(*read))
            diagnostics_->error("E0331", value.span, fmt::format("{} cannot be {}", what, *read));
        return read.value_or(usual);
    }

    // Each device has as much of the cores as another: where there are more cores, the others help with its kernels, but
    // not with what it sends. Its kernels, and what it begins to send, wait until it is its turn; what sends is a core
    // that computes nothing meanwhile.
    void share(i64 cores, i64 devices) {
        const double part = 1 / static_cast<double>(devices), sent = 1 / static_cast<double>(std::max(cores, devices));
        const double turns = std::max(1.0, static_cast<double>(devices) / static_cast<double>(cores));
        for (auto& [type, rate] : hardware_.flops) rate *= part;
        hardware_.memory_bandwidth *= part;
        hardware_.product_bandwidth *= part;
        for (double* of : {&hardware_.cached.bytes, &hardware_.cached.bandwidth, &hardware_.cached.product_bandwidth})
            *of *= part;
        hardware_.memory_bytes *= part;
        hardware_.host_bandwidth *= part;
        hardware_.host_memory_bytes *= part;
        for (Link& link : hardware_.links) link.bandwidth *= sent;
        hardware_.kernel_launch *= turns;
        hardware_.collective_launch *= turns;
        hardware_.overlaps = false;
    }

    // Whether both of two times count, or the larger one.
    bool adds(std::string_view key, std::string_view times) {
        static constexpr std::array<std::string_view, 2> ways = {"max", "add"};
        const std::string said = text(*root_, key);
        if (said.empty()) return false;
        const auto way = std::find(ways.begin(), ways.end(), said);
        if (way == ways.end())
            diagnostics_->error("E0331", root_->find(key)->span, fmt::format("unknown {} '{}'", key, said))
                .help(fmt::format("max: the larger of {} counts; add: both do", times));
        return way == ways.begin() + 1;
    }

    // A share, or shares by size. What is larger may not be sent in less time, where the shares are of sending.
    std::vector<SizeShare> read_shares(const Yaml& map, std::string_view key, std::string_view example,
                                       bool of_sending = false) {
        const Yaml* yaml = value_of(map, key);
        if (yaml == nullptr) return {};
        if (yaml->map() == nullptr) return {{1, checked(*yaml, key, 1, is_share)}};
        std::vector<SizeShare> curve;
        for (const YamlEntry& entry : *yaml->map()) {
            const std::optional<i64> size = parse_bytes(entry.key);
            const SizeShare at{static_cast<double>(size.value_or(0)), checked(entry.value, key, 1, is_share)};
            if (at.size <= 0)
                diagnostics_->error("E0331", entry.key_span, fmt::format("{} at '{}'", key, entry.key))
                    .help(fmt::format("a share by size: {}", example));
            else if (!curve.empty() && at.size <= curve.back().size)
                diagnostics_->error("E0331", entry.key_span, fmt::format("sizes of {} ascend", key));
            else if (of_sending && !curve.empty() && at.size / at.share <= curve.back().size / curve.back().share)
                diagnostics_->error("E0331", entry.key_span,
                                    fmt::format("{} would take less time than what is smaller", entry.key));
            curve.push_back(at);
        }
        return curve;
    }

    void read_cached(const Yaml& memory) {
        const Yaml* cached = memory.find("cached");
        if (cached == nullptr || !check_keys(*cached, {"bytes", "bandwidth", "products"}, "cached", *diagnostics_))
            return;
        hardware_.cached = {number(*cached, "bytes", 0, not_negative), number(*cached, "bandwidth", 0, not_negative),
                            number(*cached, "products", 0, not_negative)};
    }

    void read_attention() {
        const Yaml* yaml = root_->find("attention_efficiency");
        if (yaml == nullptr || !check_keys(*yaml, {"forward", "gradient"}, "attention_efficiency", *diagnostics_))
            return;
        constexpr std::string_view example = "{64: 0.42, 128: 0.63}, by the elements of a head";
        hardware_.attention_efficiency = read_shares(*yaml, "forward", example);
        hardware_.attention_gradient_efficiency = read_shares(*yaml, "gradient", example);
    }

    void read_flops() {
        const Yaml* flops = root_->find("flops");
        if (flops == nullptr) return;
        if (flops->map() == nullptr) {
            diagnostics_->error("E0331", flops->span,
                                fmt::format("flops is {}, expected a map from dtypes to numbers", flops->kind()));
            return;
        }
        for (const YamlEntry& entry : *flops->map()) {
            const bool is_rate = entry.key == "pointwise" || entry.key == "functions";
            if (!is_rate && !parse_dtype(entry.key))
                suggest_dtype(
                    diagnostics_->error("E0331", entry.key_span, fmt::format("unknown dtype '{}'", entry.key)),
                    entry.key);
            else
                hardware_.flops[entry.key] = number(*flops, entry.key, 0, positive);
        }
    }

    void read_links() {
        const Yaml* links = root_->find("links");
        if (links == nullptr || links->map() == nullptr || links->map()->empty()) {
            diagnostics_
                ->error("E0331", links == nullptr ? root_->span : links->span,
                        "a hardware profile has at least one link")
                .help("links: {name: {topology: switched, bandwidth: 1.0e9}}");
            return;
        }
        for (const YamlEntry& entry : *links->map()) {
            Link link;
            link.name = entry.key;
            if (!check_keys(entry.value,
                            {"topology", "devices", "bandwidth", "efficiency", "in_network_reduction", "latency",
                             "wrap", "wrap_from"},
                            "a link", *diagnostics_))
                continue;
            const std::string topology = text(entry.value, "topology");
            const std::optional<Link::Topology> parsed = parse_topology(topology);
            if (parsed)
                link.topology = *parsed;
            else
                diagnostics_->error("E0331", entry.value.span, fmt::format("unknown topology '{}'", topology))
                    .help("one of ring, torus, switched, tree, uniform");
            if (entry.value.find("bandwidth") == nullptr)
                diagnostics_->error("E0331", entry.value.span, "the link has no bandwidth");
            link.bandwidth = number(entry.value, "bandwidth", 1, positive);
            link.latency = number(entry.value, "latency", 0, not_negative);
            link.efficiency = read_shares(entry.value, "efficiency", "{1 MiB: 0.3, 1 GiB: 0.8}", true);
            link.in_network_reduction = number(entry.value, "in_network_reduction", 1, at_least_one);
            link.devices = static_cast<i64>(number(entry.value, "devices", 0, is_count));
            if (const Yaml* wrap = entry.value.find("wrap"))
                link.wrap = read_bool(*wrap, "wrap", *diagnostics_).value_or(false);
            if (const Yaml* from = entry.value.find("wrap_from"))
                link.wrap_from = read_int(*from, "wrap_from", *diagnostics_).value_or(0);
            hardware_.links.push_back(std::move(link));
        }
    }

    const Yaml* root_;
    Diagnostics* diagnostics_;
    Hardware hardware_;
};

std::optional<Hardware> read_profile(int file, const Sources& sources, i64 devices, Diagnostics& diagnostics) {
    Diagnostics found;
    const YamlDocument yaml = parse_yaml(sources, file, found);
    std::optional<Hardware> hardware;
    if (yaml && !found.has_error()) hardware = ProfileReader(*yaml, found).read(devices);
    for (const Diagnostic& diagnostic : found.all()) diagnostics.add(diagnostic);
    return hardware;
}

const EmbeddedText* find_builtin(std::string_view name) {
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    for (const EmbeddedText& entry : embedded_hardware()) // their names are in lower case: h100, tpu-v5e
        if (std::equal(name.begin(), name.end(), entry.name.begin(), entry.name.end(), same)) return &entry;
    return nullptr;
}

// A profile is a choice: of "tpu-v6" it is said which profiles begin or end so, and no chip of another generation is guessed.
std::string like_names(std::string_view name, const std::vector<std::string>& names) {
    std::vector<std::string> longer;
    for (const std::string& candidate : names)
        if (!name.empty() && (candidate.starts_with(name) || candidate.ends_with(fmt::format("-{}", name))))
            longer.push_back(fmt::format("'{}'", candidate));
    if (!longer.empty()) return fmt::format("there is {}", fmt::join(longer, ", "));
    const auto digits = [](std::string_view text) {
        std::string found;
        std::copy_if(text.begin(), text.end(), std::back_inserter(found), [](char c) { return c >= '0' && c <= '9'; });
        return found;
    };
    std::vector<std::string_view> same;
    for (const std::string& candidate : names)
        if (digits(candidate) == digits(name)) same.push_back(candidate);
    return did_you_mean(name, same, "a name that ends in .yaml is a file beside the layout");
}

} // namespace

std::vector<std::string> builtin_hardware() {
    std::vector<std::string> names;
    for (const EmbeddedText& entry : embedded_hardware()) names.emplace_back(entry.name);
    return names;
}

int find_hardware(std::string_view name, Span span, const Sources& sources) {
    return is_file_name(name) ? find_source(sources, path_beside(name, span, sources)) : -1;
}

std::optional<Hardware> load_hardware(std::string_view name, Span span, Sources& sources, Diagnostics& diagnostics,
                                      i64 devices) {
    if (const EmbeddedText* builtin = find_builtin(name)) {
        Sources own; // a built-in profile has no mistakes that a user could see
        const int file = own.add(fmt::format("{}.yaml", builtin->name), std::string(builtin->text));
        Diagnostics problems;
        std::optional<Hardware> hardware = read_profile(file, own, devices, problems);
        if (!hardware)
            internal_error(fmt::format("built-in hardware profile {}: {}", name, problems.all().front().message));
        return hardware;
    }
    if (!is_file_name(name)) {
        const std::vector<std::string> names = builtin_hardware();
        diagnostics.error("E0330", span, fmt::format("unknown hardware profile '{}'", name))
            .note(fmt::format("built-in profiles: {}", fmt::join(names, ", ")))
            .help(like_names(name, names));
        return std::nullopt;
    }
    const std::string path = path_beside(name, span, sources);
    const int file = load_source(sources, path);
    if (file < 0) {
        diagnostics.error("E0330", span, fmt::format("the hardware profile {} cannot be read", path))
            .help("the path is relative to the layout file");
        return std::nullopt;
    }
    return read_profile(file, sources, devices, diagnostics);
}

bool check_links(const Mesh& mesh, std::span<const Span> spans, const Hardware& hardware, Diagnostics& diagnostics) {
    bool ok = true;
    for (size_t i = 0; i < mesh.axes.size(); ++i) {
        const MeshAxis& axis = mesh.axes[i];
        std::vector<std::string_view> names;
        for (const Link& link : hardware.links) names.push_back(link.name);
        if (axis.link.empty() || std::find(names.begin(), names.end(), axis.link) != names.end()) continue;
        ok = false;
        diagnostics
            .error("E0402", i < spans.size() ? spans[i] : Span{},
                   fmt::format("mesh axis '{}' uses the link '{}', which {} does not have", axis.name, axis.link,
                               hardware.name))
            .help(fmt::format("links of {}: {}", hardware.name, fmt::join(names, ", ")));
    }
    return ok;
}

} // namespace shard
