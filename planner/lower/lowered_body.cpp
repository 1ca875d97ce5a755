#include "planner/lower/lowered_body.h"

#include "planner/graph/op_def.h"
#include "planner/graph/types_of.h"
#include "planner/graph/view.h"
#include "planner/ops_support/pieces.h"
#include "planner/redistribute/manual_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shard {

namespace {

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

template<typename Range>
std::string joined(const Range& items) {
    return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string attribute_text(const AttributeValue& value) {
    if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const i64* integer = std::get_if<i64>(&value)) return std::to_string(*integer);
    if (const double* number = std::get_if<double>(&value)) return number_text(*number);
    if (const std::string* text = std::get_if<std::string>(&value)) return quoted(*text);
    if (const std::vector<i64>* integers = std::get_if<std::vector<i64>>(&value)) return joined(*integers);
    if (const std::vector<std::string>* strings = std::get_if<std::vector<std::string>>(&value))
        return joined(*strings);
    std::vector<std::string> numbers;
    for (double number : std::get<std::vector<double>>(value)) numbers.push_back(number_text(number));
    return numbers.size() == 1 ? numbers[0] : joined(numbers);
}

bool has_coordinate(const Affine& affine) {
    return std::any_of(affine.terms.begin(), affine.terms.end(),
                       [](const AffineTerm& term) { return term.kind == AffineTerm::Kind::coordinate; });
}

// [0, 1, 1, 0] as [[0, 1], [1, 0]]
std::string pairs_text(std::span<const i64> numbers) {
    std::vector<std::string> pairs;
    for (size_t n = 0; n + 1 < numbers.size(); n += 2) pairs.push_back(list_text(numbers.subspan(n, 2)));
    return joined(pairs);
}

// An argument after others, or nothing.
std::string batch_text(const Lookup& lookup) {
    std::vector<i64> numbers;
    for (const auto& [table, indices] : lookup.batch) numbers.insert(numbers.end(), {table, indices});
    return numbers.empty() ? "" : ", batch: " + pairs_text(numbers);
}

// Of kernels that ops with operands lower to, other than lookups.
bool depends_on_device(const Kernel& kernel) {
    const Move* move = std::get_if<Move>(&kernel);
    if (move == nullptr) return false;
    return std::any_of(move->pieces.begin(), move->pieces.end(), [](const MovePiece& piece) {
        return std::any_of(piece.in_start.begin(), piece.in_start.end(), has_coordinate) ||
               std::any_of(piece.out_start.begin(), piece.out_start.end(), has_coordinate);
    });
}

// Whether what a device makes of dims that are split is not the same rows of the op's own operands.
bool moves_between_blocks(const Graph& local, const Node& node) {
    const Move* move = std::get_if<Move>(node.kernel());
    if (move == nullptr || move->flat || !move->permutation.empty() || node.op()->windows != OpDef::Windows::none)
        return false;
    const Value& result = local.value(node.outputs[0]);
    for (size_t d = 0; d < result.type.shape.size(); ++d)
        if (!result.part->sharding.dims[d].axes.empty() &&
            !std::all_of(move->pieces.begin(), move->pieces.end(),
                         [&](const MovePiece& piece) { return stays_along(piece, d, result.type.shape[d]); }))
            return true;
    std::set<int> read;
    for (const MovePiece& piece : move->pieces) read.insert(piece.operand);
    return read.size() < node.inputs.size() || node.op()->internal || depends_on_device(*move);
}

} // namespace

std::string list_text(std::span<const i64> values) { return joined(values); }

std::string number_text(double value) {
    if (std::isnan(value)) return ".nan";
    if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
    return fmt::format("{}", value);
}

std::string plain_name(std::string_view path) {
    std::string name(path);
    for (char& c : name)
        if (c == '.' || c == '#' || c == '@') c = '_';
    return name;
}

std::string mesh_words(const Mesh& mesh) {
    std::vector<std::string> axes;
    for (const MeshAxis& axis : mesh.axes) axes.push_back(fmt::format("{} {}", axis.name, axis.size));
    return fmt::format("{}", fmt::join(axes, " x "));
}

std::vector<std::string> entry_lines(const std::string& names, const std::string& text) {
    constexpr size_t longest_key = 1024; // YAML 1.2, implicit keys
    const std::string value = text.empty() ? "" : " " + text;
    if (names.size() < longest_key) return {fmt::format("- {}:{}", names, value)};
    return {fmt::format("- ? {}", names), fmt::format("  :{}", value)};
}

void LoweredBody::fail(Span span, std::string what) {
    if (ok_) diagnostics_.error("E0279", span, std::move(what));
    ok_ = false;
}

std::string LoweredBody::fresh_name(std::string_view path) {
    const std::string stem = plain_name(path);
    std::string candidate = stem;
    for (int n = 2; !taken_.insert(candidate).second; ++n) candidate = fmt::format("{}_{}", stem, n);
    return candidate;
}

std::string LoweredBody::name_input(ValueId id, std::string_view path) { return names_[id] = fresh_name(path); }

void LoweredBody::entry(ValueId result, const std::string& text) {
    names_[result] = fresh_name(local_.value(result).name);
    lines_.push_back(fmt::format("- {}: {{{}}}", name(result), text));
}

void LoweredBody::chain(ValueId from, ValueId result, const std::vector<std::string>& steps) {
    std::string at = name(from);
    for (size_t s = 0; s < steps.size(); ++s) {
        const std::string text = fmt::format(fmt::runtime(steps[s]), at);
        if (s + 1 == steps.size()) return entry(result, text);
        at = fresh_name(local_.value(result).name + ".part");
        lines_.push_back(fmt::format("- {}: {{{}}}", at, text));
    }
    names_[result] = at; // nothing was to be done
}

std::string LoweredBody::over_text(std::span<const AxisRef> axes) {
    const std::optional<std::string> form = over_form(mesh_, axes);
    if (!form) fail({}, "the plan works along a part of a mesh axis, which a manual region cannot name");
    return form.value_or("");
}

std::string LoweredBody::sharding_text(const Sharding& sharding) {
    std::vector<std::string> dims;
    for (const DimSharding& dim : sharding.dims) dims.push_back(dim.axes.empty() ? "~" : over_text(dim.axes));
    return joined(dims);
}

std::string LoweredBody::write(std::string_view indent) {
    for (const Node& node : local_.nodes) {
        if (!ok_) break;
        write_node(node);
    }
    std::string text;
    for (const std::string& line : lines_) text += fmt::format("{}{}\n", indent, line);
    return text;
}

std::string LoweredBody::output(ValueId id) {
    if (left_.insert(name(id)).second) return name(id);
    const std::string copy = fresh_name(local_.value(id).name);
    output_lines_.push_back(
        fmt::format("- {}: {{reshape: {}, shape: {}}}", copy, name(id), list_text(local_.value(id).type.shape)));
    return copy;
}

std::string LoweredBody::output_lines(std::string_view indent) const {
    std::string text;
    for (const std::string& line : output_lines_) text += fmt::format("{}{}\n", indent, line);
    return text;
}

void LoweredBody::write_node(const Node& node) {
    if (node.opens() >= 0) return open_loop(node);
    if (node.closes() >= 0) return close_loop(node);
    const bool renames = node.asked().border || (node.op() && node.op()->device);
    if (renames && is_view(local_, node))
        names_[node.outputs[0]] = name(node.inputs[0]);
    else if (node.collective())
        write_collective(node);
    else if (node.op() == nullptr)
        write_slice(node);
    else
        write_op(node);
}

void LoweredBody::write_collective(const Node& node) {
    if (node.collective()->def->uses.orders) return write_permute(node);
    std::optional<std::vector<std::string>> steps = manual_form(mesh_, *node.collective());
    // A sum of truths is a count in a region, of four bytes each; here at most one device has each.
    if (steps && node.collective()->def->uses.reduce && local_.value(node.outputs[0]).type.dtype == DType::boolean)
        steps->push_back("cast: {}, dtype: bool");
    if (steps)
        chain(node.inputs[0], node.outputs[0], *steps);
    else
        fail(node.span, fmt::format("{} has no op in a manual region", text(mesh_, *node.collective())));
}

// Orders of axes become pairs of ranks.
void LoweredBody::write_permute(const Node& node) {
    const Collective& collective = *node.collective();
    std::vector<std::string> pairs;
    if (is_pairwise(collective)) {
        for (const auto& [source, destination] : collective.pairs)
            pairs.push_back(fmt::format("[{}, {}]", source, destination));
    } else {
        checks_ = false; // that devices hold the same afterwards, the check cannot know
        std::vector<i64> coordinates(mesh_.axes.size());
        for (i64 block = 0; block < total_size(collective.axes); ++block) {
            set_linear_coordinate(mesh_, coordinates, collective.source_order, block);
            const i64 source = linear_coordinate(mesh_, coordinates, collective.axes);
            set_linear_coordinate(mesh_, coordinates, collective.target_order, block);
            pairs.push_back(fmt::format("[{}, {}]", source, linear_coordinate(mesh_, coordinates, collective.axes)));
        }
    }
    entry(node.outputs[0], fmt::format("ppermute: {}, over: {}, perm: {}", name(node.inputs[0]),
                                       over_text(collective.axes), joined(pairs)));
}

void LoweredBody::write_slice(const Node& node) {
    const Sharding &before = local_.value(node.inputs[0]).part->sharding,
                   &after = local_.value(node.outputs[0]).part->sharding;
    if (same_layout(before, after)) return write_cut(node);
    std::vector<std::string> steps;
    for (size_t d = 0; d < before.dims.size(); ++d) {
        const std::vector<AxisRef>&had = before.dims[d].axes, &has = after.dims[d].axes;
        const std::vector<AxisRef> added(has.begin() + static_cast<std::ptrdiff_t>(std::min(had.size(), has.size())),
                                         has.end());
        if (!std::equal(had.begin(), had.end(), has.begin(),
                        has.begin() + static_cast<std::ptrdiff_t>(std::min(had.size(), has.size()))))
            fail(node.span, "a slice within a part of a mesh axis has no op in a manual region");
        if (!added.empty()) steps.push_back(fmt::format("own_block: {{}}, over: {}, dim: {}", over_text(added), d));
    }
    if (ok_) chain(node.inputs[0], node.outputs[0], steps);
}

std::string LoweredBody::operands_text(const Node& node) const {
    std::vector<std::string> operands;
    for (ValueId input : node.inputs) operands.push_back(name(input));
    if (operands.empty()) return "~";
    return operands.size() == 1 ? operands[0] : joined(operands);
}

// The op's arguments for a result of this shape.
std::string LoweredBody::arguments_text(const Node& node, const Shape& shape) const {
    const Attributes& attributes = node.attributes();
    std::string text;
    for (const AttributeDef& def : node.op()->attributes) {
        if (!attributes.has(def.name) || def.name == node.op()->subject) continue;
        if (def.type == AttributeDef::Type::axes || def.type == AttributeDef::Type::sharding) continue;
        const auto entry = std::find_if(attributes.entries().begin(), attributes.entries().end(),
                                        [&](const auto& item) { return item.first == def.name; });
        const bool is_shape = def.type == AttributeDef::Type::shape;
        const bool is_word = def.type == AttributeDef::Type::dtype;
        text +=
            fmt::format(", {}: {}", def.name,
                        is_shape                                ? list_text(shape)
                        : is_word                               ? std::get<std::string>(entry->second)
                        : def.type == AttributeDef::Type::pairs ? pairs_text(std::get<std::vector<i64>>(entry->second))
                                                                : attribute_text(entry->second));
    }
    return text;
}

void LoweredBody::write_op(const Node& node) {
    if (node.op()->of_stack == OpDef::OfStack::takes_entry) return write_loop_slice(node);
    if (node.op()->of_stack == OpDef::OfStack::writes_entry) return write_loop_update(node);
    if (const Generate* generate = std::get_if<Generate>(node.kernel())) return write_generated(node, *generate);
    if (const Gather* gather = std::get_if<Gather>(node.kernel()); gather && !gather->start.is_constant())
        return write_lookup(node, *gather);
    if (const Scatter* scatter = std::get_if<Scatter>(node.kernel()); scatter && has_coordinate(scatter->start))
        return write_scatter(node, *scatter);
    if (const Attend* attend = std::get_if<Attend>(node.kernel());
        attend && (has_coordinate(attend->start) || attend->kept))
        return write_attention(node, *attend);
    if (const SelectWindows* select = std::get_if<SelectWindows>(node.kernel()))
        if (local_.value(node.inputs[0]).type.shape != local_.value(node.outputs[0]).type.shape)
            return write_selected(node, *select);
    if (node.op()->windows == OpDef::Windows::takes && depends_on_device(*node.kernel())) return write_window(node);
    if (node.op()->windows == OpDef::Windows::writes && depends_on_device(*node.kernel()))
        return write_window_update(node);
    if (!node.op()->device && moves_between_blocks(local_, node)) return write_assembly(node);
    const ValueId result = node.outputs[0];
    const Value& value = local_.value(result);
    const std::string arguments = arguments_text(node, value.type.shape);
    if (node.op()->subject.empty())
        return entry(result, fmt::format("{}: {}{}", node.op()->name, operands_text(node), arguments));
    const auto subject = std::find_if(node.attributes().entries().begin(), node.attributes().entries().end(),
                                      [&](const auto& item) { return item.first == node.op()->subject; });
    entry(result, fmt::format("{}: {}, in: {}{}", node.op()->name, attribute_text(subject->second), operands_text(node),
                              arguments));
}

// A constant or iota that is split is made whole, and each device keeps its block.
void LoweredBody::write_generated(const Node& node, const Generate& generate) {
    const ValueId result = node.outputs[0];
    const Value& value = local_.value(result);
    std::string made;
    if (node.op()->device) {
        made = fmt::format("{}: {}", node.op()->name, joined(node.attributes().strings("over")));
        const std::string index = fresh_name(value.name + ".index");
        lines_.push_back(fmt::format("- {}: {{{}}}", index, made));
        return entry(result, fmt::format("reshape: {}, shape: {}", index, list_text(value.type.shape)));
    }
    const bool same = std::all_of(generate.start.begin(), generate.start.end(),
                                  [](const Affine& start) { return start == Affine{}; });
    const bool fill = std::holds_alternative<Fill>(generate.source);
    const Shape& shape = same || fill ? value.type.shape : value.part->global_shape;
    const std::string subject =
        node.op()->subject.empty()
            ? std::string("~")
            : attribute_text(std::find_if(node.attributes().entries().begin(), node.attributes().entries().end(),
                                          [&](const auto& item) { return item.first == node.op()->subject; })
                                 ->second);
    // What the running trips add to a key, they add here too.
    if (node.attributes().has("blocks"))
        fail(node.span,
             fmt::format("{} draws by blocks of devices here, which has no form in a manual region", node.op()->name));
    if (node.attributes().has("drawn"))
        fail(node.span,
             fmt::format("{} draws a dim that is padded here, which has no form in a manual region", node.op()->name));
    // A shape that is the op's own value is not among its arguments.
    const bool is_shape = node.op()->subject == "shape";
    made = fmt::format("{}: {}{}{}", node.op()->name, is_shape ? list_text(shape) : subject,
                       node.inputs.empty() ? std::string() : fmt::format(", in: {}", operands_text(node)),
                       arguments_text(node, shape));
    if (same || fill) return entry(result, made);
    std::string at = fresh_name(value.name + ".whole");
    lines_.push_back(fmt::format("- {}: {{{}}}", at, made));
    std::vector<std::string> steps;
    for (size_t d = 0; d < value.part->sharding.dims.size(); ++d)
        if (!value.part->sharding.dims[d].axes.empty())
            steps.push_back(
                fmt::format("own_block: {{}}, over: {}, dim: {}", over_text(value.part->sharding.dims[d].axes), d));
    for (size_t s = 0; s < steps.size(); ++s) {
        const std::string text = fmt::format(fmt::runtime(steps[s]), at);
        if (s + 1 == steps.size()) return entry(result, text);
        at = fresh_name(value.name + ".part");
        lines_.push_back(fmt::format("- {}: {{{}}}", at, text));
    }
}

std::string LoweredBody::index_text(std::span<const AxisRef> axes) {
    const std::string index = fresh_name("index");
    lines_.push_back(fmt::format("- {}: {{axis_index: {}}}", index, over_text(axes)));
    return index;
}

LoweredBody::OwnRows LoweredBody::own_rows(const std::string& stem, const std::string& indices, DType dtype, i64 size,
                                           i64 rows, std::span<const AxisRef> axes) {
    const auto part = [&](std::string_view what, const std::string& text) {
        return step(fmt::format("{}.{}", stem, what), text);
    };
    std::string index = index_text(axes);
    if (dtype != DType::i32) index = part("index", fmt::format("cast: {}, dtype: {}", index, shard::name(dtype)));
    const std::string inside = part("inside", fmt::format("clamp: {}, min: 0, max: {}", indices, size - 1));
    const std::string start = part("start", fmt::format("mul: [{}, {}]", index, rows));
    const std::string local = part("row", fmt::format("sub: [{}, {}]", inside, start));
    return among_own(stem + ".", local, rows);
}

LoweredBody::OwnRows LoweredBody::among_own(const std::string& stem, const std::string& local, i64 rows) {
    const std::string low = step(stem + "low", fmt::format("ge: [{}, 0]", local));
    const std::string high = step(stem + "high", fmt::format("lt: [{}, {}]", local, rows));
    const std::string here = step(stem + "here", fmt::format("and: [{}, {}]", low, high));
    return {step(stem + "own_row", fmt::format("clamp: {}, min: 0, max: {}", local, rows - 1)), here};
}

std::string LoweredBody::masked_text(const std::string& mask, const std::string& found, DType dtype) {
    return dtype == DType::boolean ? fmt::format("and: [{}, {}]", mask, found)
                                   : fmt::format("select: [{}, {}, 0]", mask, found);
}

// A lookup in a table of which each device holds a block of rows: rows of others are zeros here.
void LoweredBody::write_lookup(const Node& node, const Gather& gather) {
    const ValueId result = node.outputs[0];
    const Value &table = local_.value(node.inputs[0]), &value = local_.value(result);
    const size_t axis = gather.axis;
    const OwnRows own = own_rows(value.name, name(node.inputs[1]), local_.value(node.inputs[1]).type.dtype, gather.size,
                                 table.type.shape[axis], table.part->sharding.dims[axis].axes);
    const std::string found =
        step(value.name + ".found", fmt::format("gather: [{}, {}], dim: {}{}", name(node.inputs[0]), own.row, axis,
                                                batch_text(gather.lookup())));
    const std::string mask = step(value.name + ".mask", mask_text(value.name, own, gather.lookup(), table.type,
                                                                  node.inputs[1], value.type.shape));
    entry(result, masked_text(mask, found, value.type.dtype));
}

// Into a table of which each device holds a block of rows: updates of others go into a row of their own, which is left
// out afterwards.
void LoweredBody::write_scatter(const Node& node, const Scatter& scatter) {
    const ValueId result = node.outputs[0];
    const Value& value = local_.value(result);
    const size_t axis = scatter.axis;
    const i64 rows = value.type.shape[axis];
    const OwnRows own = own_rows(value.name, name(node.inputs[0]), local_.value(node.inputs[0]).type.dtype,
                                 scatter.size, rows, value.part->sharding.dims[axis].axes);
    const std::string row =
        step(value.name + ".place", fmt::format("select: [{}, {}, {}]", own.is_here, own.row, rows));
    const std::string all =
        step(value.name + ".all", fmt::format("{}: [{}, {}], dim: {}, size: {}{}", node.op()->name, row,
                                              name(node.inputs[1]), axis, rows + 1, batch_text(scatter.lookup())));
    entry(result, fmt::format("slice: {}, dim: {}, limit: {}", all, axis, rows));
}

// Whether each element of what is found belongs to an own row of the table.
std::string LoweredBody::mask_text(const std::string& stem, const OwnRows& own, const Lookup& lookup,
                                   const TensorType& table, ValueId indices, const Shape& shape) {
    std::vector<int> dims = lookup_dims(lookup, table.shape.size(), local_.value(indices).type.shape.size()).indices;
    std::string is_here = own.is_here;
    if (!std::is_sorted(dims.begin(), dims.end())) {
        std::vector<size_t> order(dims.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::sort(order.begin(), order.end(), [&dims](size_t a, size_t b) { return dims[a] < dims[b]; });
        is_here = step(stem + ".turned", fmt::format("transpose: {}, permutation: {}", is_here, joined(order)));
        std::sort(dims.begin(), dims.end());
    }
    return fmt::format("broadcast: {}, shape: {}, dims: {}", is_here, list_text(shape), joined(dims));
}

} // namespace shard
