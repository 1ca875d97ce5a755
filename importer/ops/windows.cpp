// What slides over a value: convolutions, poolings and the gradient of those that select, and cumulative sums, which
// are windows as long as the dim.
#include "importer/model/op_context.h"
#include "importer/model/region_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

constexpr i64 most_padding = i64{1} << 40;

// Numbers of lists in a list too, and truths as 0 and 1: pad = [[1, 1], [0, 2]], reverse = [false, true].
std::optional<std::vector<i64>> flat_numbers(const MlirAttribute& attribute) {
    if (attribute.kind == MlirAttribute::Kind::elements) {
        MlirAttribute copy = attribute;
        for (std::string& number : copy.numbers)
            if (number == "true" || number == "false") number = number == "true" ? "1" : "0";
        return integers_of(copy);
    }
    if (attribute.kind == MlirAttribute::Kind::integer) return std::vector<i64>{attribute.integer};
    if (attribute.kind == MlirAttribute::Kind::word && (attribute.text == "true" || attribute.text == "false"))
        return std::vector<i64>{attribute.text == "true" ? 1 : 0};
    if (attribute.kind != MlirAttribute::Kind::list) return std::nullopt;
    std::vector<i64> all;
    for (const MlirItem& item : attribute.items)
        for (const MlirAttribute& part : item.parts) {
            const std::optional<std::vector<i64>> inner = flat_numbers(part);
            if (!inner) return std::nullopt;
            all.insert(all.end(), inner->begin(), inner->end());
        }
    return all;
}

// How windows slide along a few dims, as StableHLO says it.
struct Windows {
    std::vector<i64> stride, low, high, between, apart, reversed;
};

// None below `least`.
bool read_numbers(OpContext& context, const std::vector<MlirItem>& items, std::initializer_list<std::string_view> keys,
                  size_t count, i64 fallback, i64 least, std::vector<i64>& into) {
    into.assign(count, fallback);
    const MlirAttribute* const written = find_attribute(items, keys);
    if (written == nullptr) return true;
    const std::optional<std::vector<i64>> numbers = flat_numbers(*written);
    const bool fits = numbers && numbers->size() == count &&
                      std::all_of(numbers->begin(), numbers->end(),
                                  [least](i64 number) { return number >= least && number < most_padding; });
    if (!context.expect(fits, fmt::format("needs {} numbers as `{}`", count, *keys.begin()))) return false;
    into = *numbers;
    return true;
}

std::optional<Windows> windows_of(OpContext& context, const std::vector<MlirItem>& items, size_t count) {
    Windows made;
    std::vector<i64> pads;
    if (!read_numbers(context, items, {"window_strides", "stride"}, count, 1, 1, made.stride) ||
        !read_numbers(context, items, {"padding", "pad"}, 2 * count, 0, -most_padding, pads) ||
        !read_numbers(context, items, {"lhs_dilation", "lhs_dilate", "base_dilations"}, count, 1, 1, made.between) ||
        !read_numbers(context, items, {"rhs_dilation", "rhs_dilate", "window_dilations"}, count, 1, 1, made.apart) ||
        !read_numbers(context, items, {"window_reversal", "reverse"}, count, 0, 0, made.reversed))
        return std::nullopt;
    for (size_t n = 0; n < count; ++n) {
        made.low.push_back(pads[2 * n]);
        made.high.push_back(pads[2 * n + 1]);
    }
    return made;
}

std::string arguments_of(const Windows& windows) {
    std::string text;
    const auto add = [&text](std::string_view name, const std::vector<i64>& numbers, i64 usual) {
        if (std::any_of(numbers.begin(), numbers.end(), [usual](i64 number) { return number != usual; }))
            text += fmt::format(", {}: {}", name, list_text(numbers));
    };
    add("strides", windows.stride, 1);
    add("low", windows.low, 0);
    add("high", windows.high, 0);
    add("dilation", windows.apart, 1);
    add("input_dilation", windows.between, 1);
    return text;
}

// --- convolution ---

// The dims of one operand or the result: letters for what b and f, or i and o, and the numbers of windows are.
std::optional<std::string> letters_of(const MlirAttribute& list, std::string_view roles, std::string_view letters) {
    constexpr std::string_view windows = "hwd";
    std::string text;
    for (const MlirItem& item : list.items) {
        if (item.parts.size() != 1) return std::nullopt;
        const MlirAttribute& dim = item.parts.front();
        const size_t role = dim.text.size() == 1 ? roles.find(dim.text[0]) : std::string_view::npos;
        if (dim.kind == MlirAttribute::Kind::integer && dim.integer >= 0 && dim.integer < std::ssize(windows))
            text += windows[static_cast<size_t>(dim.integer)];
        else if (dim.kind == MlirAttribute::Kind::word && role != std::string_view::npos)
            text += letters[role];
        else
            return std::nullopt;
    }
    return text;
}

struct Dims {
    std::string lhs, rhs, out;
};

// [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], of the pretty form or within #stablehlo.conv<..>.
std::optional<Dims> dims_of(OpContext& context) {
    std::vector<const MlirAttribute*> lists;
    const auto add = [&lists](const std::vector<MlirAttribute>& parts) {
        for (const MlirAttribute& part : parts)
            if (part.kind == MlirAttribute::Kind::list && part.text == "[") lists.push_back(&part);
    };
    if (const MlirItem* const pretty = find_item(context.op.items, {"dim_numbers"})) add(pretty->parts);
    if (const MlirAttribute* const numbers = find_attribute(context.op.items, {"dimension_numbers"}))
        for (const MlirItem& item : numbers->items) add(item.parts);
    if (lists.size() != 3) return std::nullopt;
    const std::optional<std::string> lhs = letters_of(*lists[0], "bf", "ni"), rhs = letters_of(*lists[1], "io", "io"),
                                     out = letters_of(*lists[2], "bf", "no");
    if (!lhs || !rhs || !out) return std::nullopt;
    return Dims{*lhs, *rhs, *out};
}

bool read_count(OpContext& context, std::string_view key, i64& count) {
    const MlirAttribute* const written = find_attribute(context.op.items, {key});
    count = written == nullptr ? 1 : written->integer;
    return context.expect(count >= 1, fmt::format("needs a number of at least 1 as `{}`", key));
}

bool import_convolution(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 2, "takes 2 operands")) return false;
    const std::optional<Dims> dims = dims_of(context);
    const size_t rank = type->shape.size();
    if (!context.expect(dims && dims->lhs.size() == rank && dims->rhs.size() == rank && dims->out.size() == rank &&
                            context.type(0).shape.size() == rank && context.type(1).shape.size() == rank,
                        "needs `dimension_numbers` with an entry for each dim"))
        return false;
    if (rank < 3 || rank > 5) return context.refuse("a convolution along no dim, or along more than 3");
    if (!is_floating(type->dtype)) return context.refuse("a convolution of whole numbers");
    const MlirAttribute* const pretty = find_attribute(context.op.items, {"window"});
    const std::optional<Windows> windows =
        windows_of(context, pretty == nullptr ? context.op.items : pretty->items, rank - 2);
    i64 groups = 1, batches = 1;
    if (!windows || !read_count(context, "feature_group_count", groups) ||
        !read_count(context, "batch_group_count", batches))
        return false;
    if (groups > 1 && batches > 1) return context.refuse("a convolution with groups of features and of the batch");
    std::string lhs = dims->lhs, rhs = dims->rhs, out = dims->out;
    if (groups > 1 || batches > 1) {
        const auto group = [](std::string& text, std::string_view letter) {
            text.replace(text.find(letter), 1, fmt::format("(g{})", letter));
        };
        group(lhs, groups > 1 ? "i" : "n");
        group(rhs, "o");
        group(out, "o");
    }
    // Windows are in the order of the first operand's dims there, and by number here.
    Windows ordered = *windows;
    size_t next = 0;
    std::vector<i64> turned;
    for (const char letter : dims->lhs) {
        const size_t number = std::string_view("hwd").find(letter);
        if (number == std::string_view::npos) continue;
        for (std::vector<i64> Windows::*list :
             {&Windows::stride, &Windows::low, &Windows::high, &Windows::between, &Windows::apart, &Windows::reversed})
            (ordered.*list)[next] = ((*windows).*list)[number];
        if (ordered.reversed[next] != 0) turned.push_back(static_cast<i64>(dims->rhs.find(letter)));
        ++next;
    }
    // A wider result says that sums are made in its type.
    const DraftId x = context.draft.cast(context.operand(0), type->dtype);
    DraftId w = context.draft.cast(context.operand(1), type->dtype);
    const bool all_turned = turned.size() == next;
    std::sort(turned.begin(), turned.end());
    if (!turned.empty() && !all_turned)
        w = context.draft.add("rev", {w}, fmt::format(", dims: {}", list_text(turned)), context.draft.type(w));
    std::string arguments = fmt::format(", dims: \"{},{}->{}\"{}", lhs, rhs, out, arguments_of(ordered));
    if (groups * batches > 1) arguments += fmt::format(", groups: {}", groups * batches);
    if (all_turned) arguments += ", reverse: true";
    context.set(0, context.draft.add("conv", {x, w}, arguments, *type));
    return true;
}

// --- reductions over windows ---

struct Pool {
    std::string arguments; // window, dim and how they slide
};

// Of windows along the dims where there are some.
std::optional<Pool> pool_of(OpContext& context, size_t rank) {
    const std::optional<std::vector<i64>> window = context.integers({"window_dimensions"}, rank);
    if (!window) return std::nullopt;
    const std::optional<Windows> all = windows_of(context, context.op.items, rank);
    if (!all) return std::nullopt;
    std::vector<i64> dims, sizes;
    Windows made;
    for (size_t d = 0; d < rank; ++d) {
        if ((*window)[d] == 1 && all->stride[d] == 1 && all->low[d] == 0 && all->high[d] == 0 && all->between[d] == 1)
            continue;
        dims.push_back(static_cast<i64>(d));
        sizes.push_back((*window)[d]);
        for (std::vector<i64> Windows::*list :
             {&Windows::stride, &Windows::low, &Windows::high, &Windows::between, &Windows::apart})
            (made.*list).push_back(((*all).*list)[d]);
    }
    return Pool{dims.empty()
                    ? ""
                    : fmt::format(", window: {}, dim: {}{}", list_text(sizes), list_text(dims), arguments_of(made))};
}

// Whether a reduction that begins with this number is one of the elements alone.
bool is_neutral(std::string_view applied, const DraftNumber& begin, DType dtype) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const DTypeInfo& of = info(dtype);
    const auto is_number = [&](double real, i64 integer) {
        return is_floating(dtype) ? begin.real == real : begin.integer == integer;
    };
    if (applied == "stablehlo.add") return is_number(0, 0);
    if (applied == "stablehlo.multiply") return is_number(1, 1);
    if (applied == "stablehlo.minimum")
        return is_number(infinity, static_cast<i64>(std::min<std::uint64_t>(of.highest, INT64_MAX)));
    return is_number(-infinity, of.lowest); // the largest, or the logarithm of a sum
}

bool begins_with(OpContext& context, size_t operand, double number) {
    const std::optional<DraftNumber> begin = context.draft[context.operand(operand)].number;
    return begin && begin->real == number;
}

// A window as long as its dim, padded on one side by all but one, is what is before each element, and itself. False if
// it is none such.
bool import_running(OpContext& context, const DraftType& type) {
    static constexpr std::string_view log_of_sum =
        "maximum(0,1);subtract(0,1);compareNE(3,3);add(0,1);abs(3);negate(6);exponential(7);log_plus_one(8);add(2,9);"
        "select(4,5,10);return(11);"; // jnp.logaddexp
    static const std::map<std::string_view, std::string_view> running = {{"stablehlo.add", "cumsum"},
                                                                         {"log_of_sum", "cumlogsumexp"},
                                                                         {"stablehlo.multiply", "cumprod"},
                                                                         {"stablehlo.maximum", "cummax"},
                                                                         {"stablehlo.minimum", "cummin"}};
    const size_t rank = type.shape.size();
    const auto numbers = [&context](std::string_view key) {
        const MlirAttribute* const list = find_attribute(context.op.items, {key});
        return list == nullptr ? std::nullopt : integers_of(*list);
    };
    const std::optional<std::vector<i64>> window = numbers("window_dimensions"), pads = numbers("padding");
    if (!window || window->size() != rank || !pads || pads->size() != 2 * rank || type.shape != context.type(0).shape ||
        type.dtype == DType::boolean)
        return false;
    for (const std::string_view key : {"window_strides", "base_dilations", "window_dilations"}) {
        const std::vector<i64> all = numbers(key).value_or(std::vector<i64>{});
        if (std::any_of(all.begin(), all.end(), [](i64 n) { return n != 1; })) return false;
    }
    std::optional<size_t> along;
    for (size_t i = 0; i < rank; ++i) {
        if ((*window)[i] == 1 && (*pads)[2 * i] == 0 && (*pads)[2 * i + 1] == 0) continue;
        if (along || (*window)[i] != type.shape[i]) return false;
        along = i;
    }
    std::string applied = applied_op(context.op);
    if (context.op.regions.size() == 1 && region_form(context.module, context.op.regions.front()) == log_of_sum)
        applied = "log_of_sum";
    if (!along || !running.contains(applied)) return false;
    const i64 all_but_one = type.shape[*along] - 1, low = (*pads)[2 * *along], high = (*pads)[2 * *along + 1];
    const bool forward = low == all_but_one && high == 0, backward = low == 0 && high == all_but_one;
    const std::optional<DraftNumber> begin = context.draft[context.operand(1)].number;
    const bool neutral = begin && is_neutral(applied, *begin, type.dtype);
    if ((!forward && !backward) || !neutral) return false;
    context.set(0, context.draft.add(std::string(running.at(applied)), {context.operand(0)},
                                     fmt::format(", dim: {}{}", *along, forward ? "" : ", reverse: true"), type));
    return true;
}

bool import_reduce_window(OpContext& context, std::string_view) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    static const std::map<std::string_view, std::pair<std::string_view, double>> pools = {
        {"stablehlo.add", {"sum_pool", 0}},
        {"stablehlo.maximum", {"max_pool", -infinity}},
        {"stablehlo.minimum", {"min_pool", infinity}}};
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 2 * context.op.results.size(),
                                 "takes a value and a beginning for each result"))
        return false;
    if (context.op.results.size() == 1 && import_running(context, *type)) return true;
    const std::string applied = applied_op(context.op);
    const size_t rank = type->shape.size();
    const bool is_known = context.op.results.size() == 1 && pools.contains(applied) && is_floating(type->dtype) &&
                          context.type(0).shape.size() == rank && begins_with(context, 1, pools.at(applied).second);
    if (!is_known)
        return context.refuse("a reduction over windows by a rule of its own",
                              "sums, maxima and minima of floating-point numbers are known");
    const std::optional<Pool> pool = pool_of(context, rank);
    if (!pool) return false;
    const DraftId x = context.operand(0);
    context.set(0, pool->arguments.empty()
                       ? x
                       : context.draft.add(std::string(pools.at(applied).first), {x}, pool->arguments, *type));
    return true;
}

bool import_select_and_scatter(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 3 && context.op.regions.size() == 2,
                                 "takes 3 operands and 2 regions"))
        return false;
    const std::string select = region_form(context.module, context.op.regions[0]),
                      scatter = region_form(context.module, context.op.regions[1]);
    const bool largest = select == "compareGE(0,1);return(2);", least = select == "compareLE(0,1);return(2);";
    if ((!largest && !least) || scatter != "add(0,1);return(2);" || !begins_with(context, 2, 0) ||
        !is_floating(type->dtype))
        return context.refuse("a selection from windows by a rule of its own",
                              "the sum of what goes to the first of the largest, or smallest, is known");
    const std::optional<Pool> pool = pool_of(context, type->shape.size());
    if (!pool) return false;
    const DraftId x = context.operand(0), given = context.operand(1);
    context.set(0, pool->arguments.empty() ? given
                                           : context.draft.add(largest ? "max_pool_gradient" : "min_pool_gradient",
                                                               {x, given}, pool->arguments, *type));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_windows() {
    return {{"stablehlo.convolution", import_convolution},
            {"stablehlo.reduce_window", import_reduce_window},
            {"stablehlo.select_and_scatter", import_select_and_scatter}};
}

} // namespace shard
