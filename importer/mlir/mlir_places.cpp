#include "importer/mlir/mlir_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace shard {

namespace {

constexpr int most_steps = 200; // places may refer to each other in a circle
constexpr int few_ops = 20;     // of which one line may be all that there is

// What models are written with.
constexpr std::string_view libraries[] = {"absl",   "chex",      "einops", "equinox",   "flax",   "haiku", "jax",
                                          "jaxlib", "jaxtyping", "jaxopt", "keras",     "numpy",  "optax", "orbax",
                                          "qwix",   "tokamax",   "torch",  "torch_xla", "torchax"};

// Behind the folder of installed packages, or empty: "flax/linen/linear.py".
std::string_view in_packages(std::string_view file) {
    for (const std::string_view folder : {"site-packages/", "dist-packages/"})
        if (const size_t at = file.rfind(folder); at != std::string_view::npos) return file.substr(at + folder.size());
    return {};
}

// As it would have to be written in a model: what does not fit is of no file that a person has.
bool is_writable(std::string_view file) {
    return !file.empty() && file.size() <= 300 && std::none_of(file.begin(), file.end(), [](unsigned char c) {
        return c < ' ' || c >= 0x7F || c == '"' || c == '\\' || c == '$';
    });
}

bool is_own(std::string_view file) { return in_packages(file).empty(); }

bool is_of_models(std::string_view file) {
    const std::string_view inside = in_packages(file);
    return inside.find('/') != std::string_view::npos &&
           std::find(std::begin(libraries), std::end(libraries), inside.substr(0, inside.find('/'))) ==
               std::end(libraries);
}

// The innermost place whose file is one of these; null if there is none.
template<typename IsMeant>
const MlirLocation* innermost(const MlirModule& module, int location, const IsMeant& is_meant) {
    // Of callsite(callee at caller) the callee comes first.
    std::vector<int> left = {location};
    for (int step = 0; step < most_steps && !left.empty(); ++step) {
        const int at = left.back();
        left.pop_back();
        if (at < 0) continue;
        const MlirLocation& here = module.locations[static_cast<size_t>(at)];
        if (here.line > 0 && is_writable(here.file) && is_meant(here.file)) return &here;
        left.insert(left.end(), here.inside.rbegin(), here.inside.rend());
    }
    return nullptr;
}

// How many ops each place has.
std::map<int, int> counted_places(const MlirModule& module) {
    std::map<int, int> counts;
    std::vector<const MlirRegion*> left;
    for (const MlirFunction& function : module.functions) left.push_back(&function.body);
    while (!left.empty()) {
        const MlirRegion& region = *left.back();
        left.pop_back();
        for (const MlirOp& op : region.ops) {
            ++counts[op.location];
            for (const MlirRegion& inner : op.regions) left.push_back(&inner);
        }
    }
    return counts;
}

// checkpoint/sin, jit(loss)/jvp(checkpoint)/sin
bool is_in_checkpoint(std::string_view name) {
    for (size_t begin = 0; begin < name.size();) {
        const size_t end = std::min(name.find('/', begin), name.size());
        std::string_view part = name.substr(begin, end - begin);
        for (size_t open = part.find('('); open != std::string_view::npos && part.ends_with(')'); open = part.find('('))
            part = part.substr(open + 1, part.size() - open - 2);
        if (part == "checkpoint") return true;
        begin = end + 1;
    }
    return false;
}

} // namespace

TracedLines::TracedLines(const MlirModule& module, std::string folder) : module_(module), folder_(std::move(folder)) {
    std::map<Line, int> by_line;
    int all = 0;
    for (const auto& [place, count] : counted_places(module))
        if (const MlirLocation* const own = innermost(module, place, is_own)) {
            by_line[{own->file, own->line}] += count;
            all += count;
        }
    for (const auto& [line, count] : by_line)
        if (all >= few_ops && 2 * count > all) most_ = line;
}

std::string TracedLines::of(int location) const {
    const MlirLocation* const own = innermost(module_, location, is_own);
    if (most_.second > 0 && (own == nullptr || Line(own->file, own->line) == most_))
        if (const MlirLocation* const inside = innermost(module_, location, is_of_models))
            return fmt::format("{}:{}", in_packages(inside->file), inside->line);
    if (own == nullptr) return {};
    std::string_view file = own->file;
    if (!folder_.empty() && file.size() > folder_.size() + 1 && file.starts_with(folder_) &&
        file[folder_.size()] == '/')
        file.remove_prefix(folder_.size() + 1);
    return fmt::format("{}:{}", file, own->line);
}

std::set<std::string> TracedLines::checkpointed() const {
    std::set<std::string> lines;
    for (const auto& [place, count] : counted_places(module_))
        if (is_in_checkpoint(module_.location_name(place)))
            if (std::string line = of(place); !line.empty()) lines.insert(std::move(line));
    return lines;
}

} // namespace shard
