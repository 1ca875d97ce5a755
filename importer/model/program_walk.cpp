#include "importer/model/program_walk.h"

#include "importer/model/op_context.h"
#include "importer/model/spec_ops.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

constexpr int most_calls = 64;        // within each other
constexpr i64 most_steps = 1'000'000; // ops, where those of a loop count as often as it runs
constexpr int most_errors = 20;

bool is_return(std::string_view op) { return op.ends_with(".return"); }

// Of jit(f)/GPT/Block_0/Dense_0/dot_general the modules: GPT_Block_0_Dense_0. What JAX itself adds has brackets, or is the
// equation of an einsum; torchax has an op of its own for each of PyTorch: aten.mul.Tensor. Flax writes a method that is
// not __call__ as a module in the module: GPT/GPT.decode.
std::string scope_of(const std::string& location) {
    std::string scope;
    std::string_view within;
    size_t begin = 0;
    for (size_t end = location.find('/'); end != std::string::npos; end = location.find('/', begin)) {
        const std::string_view part = std::string_view(location).substr(begin, end - begin);
        begin = end + 1;
        if (part.find('(') != std::string_view::npos || part.find("->") != std::string_view::npos || part == "while" ||
            part == "body" || part == "closed_call" || part == "checkpoint" || part == "rematted_computation" ||
            part.starts_with("aten") ||
            (!within.empty() && part.starts_with(within) && part.substr(within.size()).starts_with('.')))
            continue;
        within = part;
        const std::string name = name_text(part);
        if (!name.empty()) scope += (scope.empty() ? "" : "_") + name;
    }
    return name_text(scope);
}

// "jit(step)/transpose(jvp(mlp))/dot_general": what JAX makes of a linear op when it makes gradients.
bool is_backward(const std::string& location) { return location.find("/transpose(jvp(") != std::string::npos; }

} // namespace

std::optional<DraftType> ProgramWalk::draft_type(MlirId id) {
    const MlirType& type = module_.type(id);
    const std::optional<DType> dtype = type.is_tensor ? dtype_of_element(type.element) : std::nullopt;
    if (dtype) return DraftType{*dtype, type.shape};
    std::vector<std::string_view> names;
    for (const DType known : all_dtypes()) names.push_back(name(known));
    diagnostics_.error("E0805", module_.values[id].span, fmt::format("{} has no counterpart", text_of(type)))
        .help(fmt::format("models have {}: convert before and after, or trace the program with other types",
                          fmt::join(names, ", ")));
    return std::nullopt;
}

bool ProgramWalk::check_operands(const MlirOp& op) {
    for (const MlirId operand : op.operands) {
        if (values_[operand] >= 0) continue;
        diagnostics_.error("E0801", op.span, fmt::format("{} reads a value that is not made above", op.name));
        return false;
    }
    return true;
}

const std::string& ProgramWalk::line_of(int location) {
    const auto [it, is_new] = lines_.try_emplace(location);
    if (is_new) it->second = traced_.of(location);
    return it->second;
}

bool ProgramWalk::set_empty(const MlirOp& op) {
    for (const MlirId result : op.results) {
        const MlirType& type = module_.type(result);
        if (!type.is_tensor || element_count(type.shape) != 0 || !dtype_of_element(type.element)) return false;
    }
    for (const MlirId result : op.results) set(result, draft_.number(*draft_type(result), {}));
    return !op.results.empty();
}

bool ProgramWalk::import(const MlirOp& op) {
    const ImportRow* const row = find_import(op.name);
    const std::string& own = line_of(op.location);
    if (row == nullptr) {
        const bool is_of_spec = is_op_of_spec(op.name);
        const std::string otherwise = "`shardc explain E0803` says which there are; compute this part before or after";
        DiagnosticBuilder said =
            diagnostics_
                .error("E0803", op.span, fmt::format("op '{}' is not {}", op.name, is_of_spec ? "supported" : "known"))
                .help(is_of_spec ? otherwise : did_you_mean(op.name, imported_ops(), otherwise));
        if (const std::string& line = own.empty() ? line_ : own; !line.empty()) said.note(traced_from(line));
        return false;
    }
    if (!check_operands(op)) return false;
    if (set_empty(op)) return true;
    const std::string outer = line_;
    if (!own.empty()) line_ = own;
    const std::string location = module_.location_name(op.location);
    draft_.set_origin(scope_of(location), op.span, line_, is_backward(location));
    OpContext context(module_, op, draft_, *this, diagnostics_);
    const bool imported = row->import(context, row->becomes);
    line_ = outer;
    return imported;
}

std::optional<std::vector<DraftId>> ProgramWalk::region(const MlirRegion& region, const std::vector<DraftId>& arguments,
                                                        Span caller) {
    const auto fail = [&](std::string_view code, std::string message, std::string help) {
        DiagnosticBuilder said = diagnostics_.error(code, caller, std::move(message));
        if (!help.empty()) said.help(std::move(help));
        return std::nullopt;
    };
    if (arguments.size() != region.arguments.size())
        return fail(
            "E0801",
            fmt::format("{} values are handed on where {} are taken", arguments.size(), region.arguments.size()), {});
    for (size_t i = 0; i < arguments.size(); ++i) {
        const std::optional<DraftType> type = draft_type(region.arguments[i]);
        if (!type) return std::nullopt;
        if (*type != draft_.type(arguments[i]))
            return fail("E0801", fmt::format("value {} that is handed on has another type than is taken", i), {});
    }
    if (depth_ >= most_calls)
        return fail("E0802", fmt::format("calls within each other, more than {} deep", most_calls),
                    "a function that calls itself has no end");
    for (size_t i = 0; i < arguments.size(); ++i) set(region.arguments[i], arguments[i]);
    ++depth_;
    const int errors = diagnostics_.error_count();
    std::optional<std::vector<DraftId>> results;
    for (const MlirOp& op : region.ops) {
        if (exhausted_ || diagnostics_.error_count() >= most_errors) break;
        if (++steps_ > most_steps) {
            exhausted_ = true;
            diagnostics_
                .error("E0802", op.span,
                       fmt::format("the program is more than {} ops long, loops written out", most_steps))
                .help("lower a smaller part of the program");
            break;
        }
        if (is_return(op.name)) {
            if (diagnostics_.error_count() > errors || !check_operands(op)) break;
            results.emplace();
            for (const MlirId operand : op.operands) results->push_back(value(operand));
            break;
        }
        // After an error the rest is still looked at, as far as it does not build on what is missing.
        if (diagnostics_.error_count() > errors &&
            std::any_of(op.operands.begin(), op.operands.end(), [&](MlirId o) { return values_[o] < 0; }))
            continue;
        if (!import(op))
            for (const MlirId result : op.results) values_[result] = -1;
    }
    --depth_;
    if (diagnostics_.error_count() > errors) return std::nullopt;
    if (!results) return fail("E0801", "what is called here returns nothing", {});
    return results;
}

std::optional<std::vector<DraftId>> ProgramWalk::call(const MlirFunction& function,
                                                      const std::vector<DraftId>& arguments, Span caller) {
    if (known_)
        if (std::optional<std::vector<DraftId>> results = known_(*this, function, arguments)) return results;
    return region(function.body, arguments, caller);
}

std::optional<std::vector<DraftId>> ProgramWalk::tried(const MlirRegion& region, Draft& body,
                                                       const std::vector<DraftId>& arguments) {
    Diagnostics unsaid;
    ProgramWalk inner(module_, traced_, body, unsaid);
    return inner.region(region, arguments, {});
}

std::optional<std::vector<DraftId>> ProgramWalk::apart(const MlirRegion& body_region, Draft& body,
                                                       const std::vector<DraftId>& arguments,
                                                       const std::vector<std::string>& axes, Span caller) {
    ProgramWalk inner(module_, traced_, body, diagnostics_);
    inner.known_ = known_;
    inner.region_axes_ = &axes;
    inner.line_ = line_;
    inner.steps_ = steps_;
    const std::optional<std::vector<DraftId>> results = inner.region(body_region, arguments, caller);
    steps_ = inner.steps_;
    exhausted_ = exhausted_ || inner.exhausted_;
    return results;
}

} // namespace shard
