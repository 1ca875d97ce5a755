#include "planner/ops_support/device.h"

#include <fmt/format.h>

#include <set>

namespace shard {

namespace {

constexpr i64 most_listed = 1 << 20; // pairs of a shift

bool check_pairs(const InferContext& context) {
    const std::vector<i64>& perm = context.attributes.integers("perm");
    const i64 n = group_size(context.attributes);
    const auto report = [&](std::string message, std::string_view help) {
        context.diagnostics.error("E0275", context.span, std::move(message)).help(std::string(help));
        return false;
    };
    if (perm.size() % 2 != 0)
        return report(fmt::format("`perm` holds {} numbers, which are no pairs", perm.size()),
                      "write [[source, destination], ...], for example [[0, 1], [1, 0]]");
    std::set<i64> sources, destinations;
    for (size_t p = 0; p + 1 < perm.size(); p += 2) {
        for (i64 rank : {perm[p], perm[p + 1]})
            if (rank < 0 || rank >= n)
                return report(fmt::format("`perm` names device {}, but there are {} along {}: 0 to {}", rank, n,
                                          group_text(context.attributes), n - 1),
                              "leave the pair out, or count modulo the number of devices");
        if (!sources.insert(perm[p]).second)
            return report(fmt::format("device {} is a source twice: a device sends to one other at most", perm[p]),
                          "to send one device's value to several, use all_gather and take what is needed");
        if (!destinations.insert(perm[p + 1]).second)
            return report(
                fmt::format("device {} is a destination twice: a device receives from one other at most", perm[p + 1]),
                "to combine the values of several devices, use psum or psum_scatter");
    }
    return true;
}

InferResult infer(const InferContext& context) {
    if (context.attributes.has("perm") == context.attributes.has("shift")) {
        context.diagnostics.error("E0226", context.span, "'ppermute' needs either `perm` or `shift`")
            .help("write `perm: [[0, 1], [1, 2], [2, 0]]`, or the same as `shift: 1`");
        return std::nullopt;
    }
    if (context.attributes.has("perm") && !check_pairs(context)) return std::nullopt;
    if (context.attributes.has("shift") && group_size(context.attributes) > most_listed) {
        context.diagnostics
            .error("E0275", context.span,
                   fmt::format("a shift along {} is more than {} pairs", group_text(context.attributes), most_listed))
            .help("shift over fewer mesh axes, or write the pairs that matter as `perm`");
        return std::nullopt;
    }
    return InferResult{{make_type(context.operands[0].dtype, context.operands[0].shape)}};
}

// A shift is written out.
void complete(std::span<const TensorType>, std::span<const TensorType>, Attributes& attributes) {
    if (attributes.has("perm")) return;
    const i64 n = group_size(attributes), shift = (attributes.integer("shift") % n + n) % n;
    std::vector<i64> perm;
    for (i64 rank = 0; rank < n; ++rank) perm.insert(perm.end(), {rank, (rank + shift) % n});
    attributes = over_same(attributes, {{"perm", perm}});
}

Collective collective(const Attributes& attributes) {
    Collective made;
    made.def = find_collective("collective_permute");
    const std::vector<i64>& perm = attributes.integers("perm");
    for (size_t p = 0; p < perm.size(); p += 2) made.pairs.emplace_back(perm[p], perm[p + 1]);
    return made;
}

std::vector<ValueId> meaning(Chain& chain, std::span<const ValueId> members, const Attributes& attributes) {
    std::vector<ValueId> received(members.size(), -1);
    const std::vector<i64>& perm = attributes.integers("perm");
    for (size_t p = 0; p < perm.size(); p += 2) received[perm[p + 1]] = members[perm[p]];
    const TensorType type = chain.type(members[0]);
    for (ValueId& value : received) {
        if (value >= 0) continue;
        Attributes zeros = shape_of(type.shape, type.logical);
        zeros.set("value", std::vector<double>{0});
        zeros.set("dtype", std::string(name(type.dtype)));
        value = chain("constant", {}, std::move(zeros));
    }
    return received;
}

// Who is no destination would hold zeros.
std::string of_equal(std::string_view, const Attributes& attributes) {
    const bool everybody = attributes.integers("perm").size() == static_cast<size_t>(2 * group_size(attributes));
    return everybody ? "passing it on changes nothing" : "";
}

// Back the way it came.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    std::vector<i64> perm = context.attributes.integers("perm");
    for (size_t p = 0; p < perm.size(); p += 2) std::swap(perm[p], perm[p + 1]);
    return {chain("ppermute", {context.cotangent}, over_same(context.attributes, {{"perm", perm}}))};
}

} // namespace

const OpDef& op_ppermute() {
    static const DeviceOp device = {
        .varying = DeviceOp::Varying::keeps, .collective = collective, .meaning = meaning, .of_equal = of_equal};
    static const OpDef def = [] {
        OpDef made;
        made.name = "ppermute";
        made.doc =
            "In a manual region: each device's x is passed on to another, by pairs of source and destination; who "
            "is no destination gets zeros.\n{ppermute: x, over: i, perm: [[0, 1], [1, 0]]}";
        made.operands = {1, 1};
        made.attributes = {over_attribute(),
                           {"perm", AttributeDef::Type::pairs, false, "pairs [source, destination] of ranks"},
                           {"shift", AttributeDef::Type::integer, false, "every device passes on to rank + shift"}};
        made.infer = infer;
        made.complete = complete;
        made.rule = rule_pointwise;
        made.lower = lower_placeholder;
        made.gradient = gradient;
        made.linear_in = {0};
        made.device = &device;
        return made;
    }();
    return def;
}

} // namespace shard
