#include "importer/model/device_shardings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>

namespace shard {

namespace {

using Factors = std::vector<DeviceShardings::Factor>;
using Numbers = std::vector<i64>;

constexpr i64 most_devices = 1 << 20;

bool take(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
}

// "2,1,4" and what ends it.
std::optional<Numbers> take_numbers(std::string_view& text, std::string_view end) {
    Numbers numbers;
    do {
        i64 number = 0;
        const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), number);
        if (read.ec != std::errc() || number < 0 || number > most_devices) return std::nullopt;
        numbers.push_back(number);
        text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
    } while (take(text, ","));
    return take(text, end) ? std::optional(std::move(numbers)) : std::nullopt;
}

// 0 if there are none, or too many.
i64 count_of(const Numbers& sizes) {
    i64 count = 1;
    for (const i64 size : sizes) count = count * size > most_devices ? 0 : count * size;
    return count;
}

// Of devices 0, 1, ... reshaped to `sizes` and transposed, what each tile dim takes: whole dims of them, or the slower
// part of one.
std::optional<std::vector<Factors>> split_of_iota(const Numbers& tiles, const Numbers& sizes, const Numbers& order) {
    Factors left;
    for (const i64 dim : order) {
        const i64 stride = std::accumulate(sizes.begin() + dim + 1, sizes.end(), i64{1}, std::multiplies<>());
        if (sizes[static_cast<size_t>(dim)] > 1) left.push_back({stride, sizes[static_cast<size_t>(dim)]});
    }
    std::vector<Factors> dims;
    size_t at = 0;
    for (i64 wanted : tiles) {
        Factors& own = dims.emplace_back();
        while (wanted > 1) {
            DeviceShardings::Factor& next = left[at];
            const i64 taken = std::min(wanted, next.size);
            if (wanted % taken != 0 || next.size % taken != 0) return std::nullopt;
            own.push_back({next.stride * (next.size / taken), taken});
            wanted /= taken;
            next.size /= taken;
            if (next.size == 1) ++at;
        }
    }
    return dims;
}

// Of devices that are listed, tile by tile: along a dim their numbers grow by the same amounts wherever one stands in
// the others, or they are no axes.
std::optional<std::vector<Factors>> split_of_list(const Numbers& tiles, const Numbers& devices) {
    std::vector<Factors> dims;
    size_t inner = devices.size();
    for (const i64 tile : tiles) {
        inner /= static_cast<size_t>(tile);
        const auto step = [&](i64 i) { return devices[static_cast<size_t>(i) * inner] - devices[0]; };
        Factors own;
        for (i64 unit = 1, size = 1; unit < tile; unit *= size) {
            const i64 stride = step(unit);
            for (size = 2; unit * size < tile && step(unit * size) == size * stride;) ++size;
            if (tile % (unit * size) != 0 || stride <= 0) return std::nullopt;
            own.insert(own.begin(), {stride, size});
        }
        dims.push_back(std::move(own));
    }
    std::vector<bool> seen(devices.size(), false);
    for (size_t i = 0; i < devices.size(); ++i) {
        i64 device = 0;
        size_t place = i;
        for (size_t d = dims.size(); d-- > 0;)
            for (size_t f = dims[d].size(); f-- > 0;) {
                const auto size = static_cast<size_t>(dims[d][f].size);
                device += static_cast<i64>(place % size) * dims[d][f].stride;
                place /= size;
            }
        if (device != devices[i] || device >= std::ssize(devices) || seen[static_cast<size_t>(device)])
            return std::nullopt;
        seen[static_cast<size_t>(device)] = true;
    }
    return dims;
}

// What carries shardings: arguments, results and ops, those in regions too.
template<typename Visit>
void visit_items(const std::vector<MlirOp>& ops, const Visit& visit) {
    for (const MlirOp& op : ops) {
        visit(op.items);
        for (const MlirRegion& region : op.regions) visit_items(region.ops, visit);
    }
}

template<typename Visit>
void visit_items(const MlirModule& module, const Visit& visit) {
    for (const MlirFunction& function : module.functions) {
        for (const std::vector<MlirItem>* const attributes :
             {&function.argument_attributes, &function.result_attributes})
            for (const MlirItem& each : *attributes)
                if (!each.parts.empty()) visit(each.parts[0].items);
        visit_items(function.body.ops, visit);
    }
}

} // namespace

std::optional<DeviceShardings::Split> DeviceShardings::split_of(std::string_view text) {
    if (take(text, "{replicated}")) return Split{};
    if (!take(text, "{devices=[")) return std::nullopt;
    const std::optional<Numbers> tiles = take_numbers(text, "]");
    if (!tiles || count_of(*tiles) == 0) return std::nullopt;
    std::optional<std::vector<Factors>> dims;
    if (take(text, "<=[")) {
        const std::optional<Numbers> sizes = take_numbers(text, "]");
        if (!sizes || count_of(*sizes) != count_of(*tiles)) return std::nullopt;
        Numbers order(sizes->size());
        std::iota(order.begin(), order.end(), 0);
        if (take(text, "T(")) {
            const std::optional<Numbers> said = take_numbers(text, ")");
            if (!said || !std::is_permutation(said->begin(), said->end(), order.begin(), order.end()))
                return std::nullopt;
            order = *said;
        }
        dims = split_of_iota(*tiles, *sizes, order);
    } else {
        const std::optional<Numbers> devices = take_numbers(text, "");
        if (!devices || std::ssize(*devices) != count_of(*tiles)) return std::nullopt;
        dims = split_of_list(*tiles, *devices);
    }
    if (!dims) return std::nullopt;
    // The last tile dim may be of devices that hold the same.
    if (take(text, " last_tile_dim_replicate") || take(text, " last_tile_dims={replicated}")) dims->pop_back();
    if (!text.starts_with("}") && !text.starts_with(" metadata=")) return std::nullopt;
    return Split{count_of(*tiles), std::move(*dims)};
}

DeviceShardings::DeviceShardings(const MlirModule& module) {
    if (!mesh_of(module).axes.empty()) return;
    visit_items(module, [&](const std::vector<MlirItem>& items) {
        const MlirAttribute* const sharding = find_attribute(items, {"mhlo.sharding"});
        if (sharding != nullptr && splits_.emplace(sharding->text, std::nullopt).second)
            splits_[sharding->text] = split_of(sharding->text);
    });
    std::set<i64> cuts;
    i64 devices = 0;
    for (const auto& [text, split] : splits_)
        if (split) devices = std::max(devices, split->devices);
    for (auto& [text, split] : splits_) {
        if (split && split->devices != 0 && split->devices != devices) split.reset(); // not of this mesh
        if (!split) continue;
        for (const Factors& dim : split->dims)
            for (const Factor& factor : dim) cuts.insert({factor.stride, factor.stride * factor.size});
    }
    cuts.insert({i64{1}, std::max<i64>(devices, 1)});
    i64 last = 1;
    for (const i64 cut : cuts) {
        if (cut % last != 0) { // as thirds of the devices and halves of them do
            splits_.clear();
            mesh_ = {};
            return;
        }
        if (cut > last) mesh_.sizes.insert(mesh_.sizes.begin(), cut / last);
        last = cut;
    }
    for (size_t i = 0; i < mesh_.sizes.size(); ++i) mesh_.axes.push_back(fmt::format("axis_{}", i));
}

std::optional<std::string> DeviceShardings::text(const std::string& sharding, size_t rank,
                                                 const std::set<i64>& open) const {
    const std::map<std::string, std::optional<Split>>::const_iterator found = splits_.find(sharding);
    if (found == splits_.end() || !found->second) return std::nullopt;
    Split split = *found->second;
    if (split.devices == 0) split.dims.resize(rank);
    if (split.dims.size() != rank) return std::nullopt;
    std::vector<std::string> dims;
    for (size_t d = 0; d < rank; ++d) {
        std::vector<std::string> axes;
        for (const Factor& factor : split.dims[d]) {
            i64 stride = 1;
            std::vector<std::string> own; // fastest first
            for (size_t i = mesh_.axes.size(); i-- > 0; stride *= mesh_.sizes[i])
                if (stride >= factor.stride && stride < factor.stride * factor.size) own.push_back(mesh_.axes[i]);
            axes.insert(axes.end(), own.rbegin(), own.rend());
        }
        const bool is_open = open.contains(static_cast<i64>(d));
        if (is_open && axes.size() > 1) return std::nullopt; // as of a sharding that names axes
        if (is_open)
            dims.push_back(axes.empty() ? "\"?\"" : fmt::format("\"{}?\"", axes[0]));
        else
            dims.push_back(axes.empty()       ? "~"
                           : axes.size() == 1 ? axes[0]
                                              : fmt::format("[{}]", fmt::join(axes, ", ")));
    }
    return fmt::format("[{}]", fmt::join(dims, ", "));
}

} // namespace shard
