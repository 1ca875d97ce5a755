#include "importer/program/import_program.h"

#include "importer/complex/complex_pairs.h"
#include "importer/mlir/mlir_reader.h"
#include "importer/model/op_context.h"
#include "importer/model/program_walk.h"
#include "importer/model/sharding_text.h"
#include "importer/program/given_names.h"
#include "importer/program/held_weights.h"
#include "importer/program/program_paths.h"
#include "importer/program/step_updates.h"
#include "importer/shape/blocks.h"
#include "importer/shape/constants.h"
#include "importer/shape/guessed_axes.h"
#include "importer/shape/random_functions.h"
#include "importer/shape/recognise.h"
#include "importer/shape/relu_function.h"
#include "importer/shape/shape_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace shard {

namespace {

struct Argument {
    std::string path;
    bool is_param = false;
};

// What a parameter is called: its path without the part that all of them begin with, params.
std::string short_name(const Argument& argument, const std::vector<Argument>& all) {
    const size_t dot = argument.path.find('.');
    if (!argument.is_param || dot == std::string::npos) return name_text(argument.path);
    const std::string root = argument.path.substr(0, dot + 1);
    const bool shared =
        std::all_of(all.begin(), all.end(), [&](const Argument& a) { return !a.is_param || a.path.starts_with(root); });
    std::string rest = argument.path.substr(dot + 1);
    // A flax model has its parameters below params['params'].
    while (shared && rest.starts_with("params.")) rest = rest.substr(7);
    return name_text(shared ? rest : argument.path);
}

// One line of a section of the layout for each array that the program says a sharding of.
class LayoutText {
public:
    LayoutText(const DeviceShardings& by_devices, Diagnostics& diagnostics)
        : by_devices_(by_devices), diagnostics_(diagnostics) {}

    void add(std::string_view section, const std::string& name, size_t rank, const std::vector<MlirItem>& attributes,
             size_t i, Span span) {
        if (i >= attributes.size() || attributes[i].parts.empty()) return;
        const std::vector<MlirItem>& items = attributes[i].parts[0].items;
        if (const MlirAttribute* const by_devices = find_attribute(items, {"mhlo.sharding"})) {
            if (const std::optional<std::string> text = by_devices_.text(by_devices->text, rank))
                put(section, name, *text);
            else
                warn_of_device_sharding(span, diagnostics_);
        }
        const MlirAttribute* const sharding = find_attribute(items, {"sdy.sharding"});
        if (sharding == nullptr) return;
        if (const std::optional<size_t> dims = sharding_rank(*sharding); dims && *dims != rank)
            diagnostics_
                .error("E0804", sharding->span,
                       fmt::format("a sharding of {} dims for '{}', which has {}", *dims, name, rank))
                .help("it says an entry for each dim");
        else if (const std::optional<std::string> text = sharding_text(*sharding))
            put(section, name, *text);
        else
            diagnostics_.error("E0804", sharding->span, "a sharding that a layout cannot say")
                .help("name whole axes, each once, and let none follow where there are several");
    }

    std::string print(const MlirModule& module) const {
        const ProgramMesh named = mesh_of(module);
        std::string text = fmt::format("mesh: {}\n", mesh_text(named.axes.empty() ? by_devices_.mesh() : named));
        for (const std::string_view section : {"inputs", "params", "outputs"})
            if (const std::map<std::string, std::string>::const_iterator it = sections_.find(std::string(section));
                it != sections_.end())
                text += fmt::format("{}:\n{}", section, it->second);
        return text;
    }

private:
    void put(std::string_view section, const std::string& name, const std::string& sharding) {
        sections_[std::string(section)] += fmt::format("  {}: {}\n", name, sharding);
    }

    const DeviceShardings& by_devices_;
    Diagnostics& diagnostics_;
    std::map<std::string, std::string> sections_;
};

// A program while it becomes a model.
class Import {
public:
    Import(const MlirModule& module, const MlirFunction& main, const ImportRequest& request, Diagnostics& diagnostics)
        : module_(module), main_(main), request_(request), diagnostics_(diagnostics), traced_(module, request.folder),
          walk_(module, traced_, draft_, diagnostics) {
        walk_.set_known([this](ProgramWalk& walk, const MlirFunction& function, const std::vector<DraftId>& arguments) {
            std::optional<std::vector<DraftId>> relu = relu_in_place_of(walk, function, arguments);
            return relu ? relu : random_functions_.in_place_of(walk, function, arguments);
        });
    }

    std::optional<ImportedProgram> run() {
        if (!take_arguments()) return std::nullopt;
        const std::optional<std::vector<DraftId>> results = walk_.region(main_.body, given_, main_.span);
        if (!results) return std::nullopt;
        if (std::none_of(results->begin(), results->end(), [this](DraftId id) { return !is_empty(draft_.type(id)); })) {
            diagnostics_.error("E0806", main_.span, fmt::format("@{} returns nothing", main_.name))
                .help("let the program return what it computes");
            return std::nullopt;
        }
        const ImportAs as = meaning(*results);
        if (diagnostics_.has_error()) return std::nullopt;
        name_outputs(*results, as);
        std::string name = name_text(module_.name);
        if (name.starts_with("jit_")) name = name.substr(4);
        ImportedProgram program;
        program.place = main_.span;
        std::vector<DraftId> results_and_updates = outputs_;
        std::vector<DraftId> next;
        for (const auto& [input, value] : updates_) next.push_back(value);
        results_and_updates.insert(results_and_updates.end(), next.begin(), next.end());
        share_constants(draft_);
        report_held_weights(draft_, results_and_updates, main_.span, diagnostics_);
        recognise_composites(draft_, results_and_updates);
        share_constants(draft_); // those that composites need
        const bool has_regions = shape_regions(draft_, results_and_updates);
        leave_out_unread(results_and_updates);
        std::vector<NamedArgument> named;
        for (size_t i = 0; i < all_.size(); ++i)
            if (!is_left_out(i)) named.push_back({all_[i].path, arguments_[i]});
        const std::optional<NamesByArray> given = given_names(request_.axes, named, draft_, diagnostics_);
        if (!given) return std::nullopt;
        ModelText text =
            model_text(draft_, name.empty() ? "program" : name, ordered(draft_, results_and_updates), outputs_,
                       updates_, guessed_axes(draft_, outputs_, next, *given, is_sharded()), request_.program,
                       as == ImportAs::loss ? traced_.checkpointed() : std::set<std::string>());
        program.model = std::move(text.text);
        if (as == ImportAs::loss)
            program.model +=
                fmt::format("# Gradients are those of this graph: it takes a stop_gradient where the program "
                            "has one, which its text does not say.\n"
                            "train:\n  loss: {}\n  optimizer: {{{}}}\n",
                            draft_.name_of(outputs_.front()), request_.optimizer);
        program.values = std::move(text.values);
        program.is_on_mesh = has_regions;
        program.is = as;
        program.results = output_results_;
        if (as == ImportAs::loss) program.gradients = own_gradients(*results);
        if (as == ImportAs::unsaid && is_number(outputs_.front())) program.likely_params = likely_params();
        for (size_t i = 0; i < all_.size(); ++i)
            if (!is_left_out(i)) program.names.emplace_back(all_[i].path, draft_.name_of(arguments_[i]));
        const std::optional<std::string> layout = layout_text();
        if (!layout) return std::nullopt;
        program.layout = *layout;
        return program;
    }

private:
    // Arrays without elements are none of the model's.
    static bool is_empty(const DraftType& type) { return element_count(type.shape) == 0; }
    bool is_left_out(size_t argument) const { return draft_[arguments_[argument]].is_left_out; }

    // With the results that are left out goes what only they read, as the states of the program's optimizer.
    void leave_out_unread(const std::vector<DraftId>& results) {
        if (std::find(left_out_.begin(), left_out_.end(), true) == left_out_.end()) return;
        const std::vector<bool> needed = draft_.needed_for(results);
        std::vector<DraftId> read = results;
        for (size_t i = 0; i < draft_.entry_count(); ++i)
            if (needed[i]) read.insert(read.end(), draft_.entry(i).operands.begin(), draft_.entry(i).operands.end());
        std::sort(read.begin(), read.end());
        for (size_t i = 0; i < all_.size(); ++i)
            if (!all_[i].is_param && !std::binary_search(read.begin(), read.end(), arguments_[i]))
                draft_.leave_out(arguments_[i]);
    }

    bool take_arguments() {
        for (size_t i = 0; i < main_.body.arguments.size(); ++i) {
            Argument argument;
            argument.path = path_of(module_.location_name(module_.values[main_.body.arguments[i]].location));
            is_named_ = is_named_ || !argument.path.empty();
            if (argument.path.empty()) argument.path = fmt::format("arg{}", i);
            argument.is_param = request_.is_param && request_.is_param(argument.path);
            all_.push_back(std::move(argument));
        }
        for (size_t i = 0; i < all_.size(); ++i) {
            const MlirId value = main_.body.arguments[i];
            const std::optional<DraftType> type = walk_.draft_type(value);
            if (!type) continue;
            arguments_.push_back(
                draft_.input(short_name(all_[i], all_), *type, all_[i].is_param, module_.values[value].span));
            if (is_empty(*type)) draft_.leave_out(arguments_.back());
            given_.push_back(is_empty(*type) ? draft_.number(*type, {}) : arguments_.back());
        }
        // JAX leaves names out of a text without locations.
        if (!is_named_ && all_.size() > 1 && module_.name.starts_with("jit_"))
            diagnostics_
                .warning("W0809", main_.span,
                         fmt::format("the arguments have no names: they are arg0 to arg{}", all_.size() - 1))
                .help("write the program with them: jax.jit(f).lower(...).as_text(debug_info=True)");
        return !diagnostics_.has_error();
    }

    // The first argument that is a tree of arrays, or else the first array.
    std::string likely_params() const {
        std::string first;
        for (size_t i = 0; i < all_.size(); ++i) {
            if (!is_floating(draft_.type(arguments_[i]).dtype) || draft_.type(arguments_[i]).shape.empty()) continue;
            const std::string& path = all_[i].path;
            if (const size_t dot = path.find('.'); dot != std::string::npos) return path.substr(0, dot) + ".**";
            if (first.empty()) first = path;
        }
        return first;
    }

    bool is_sharded() const { return !mesh_of(module_).axes.empty() || !walk_.device_shardings().mesh().axes.empty(); }

    bool is_number(DraftId value) const {
        return draft_.type(value).shape.empty() && is_floating(draft_.type(value).dtype);
    }

    ImportAs meaning(const std::vector<DraftId>& results) {
        bool any_param = false;
        for (size_t i = 0; i < all_.size(); ++i)
            any_param = any_param || (all_[i].is_param && is_floating(draft_.type(arguments_[i]).dtype));
        if (request_.as == ImportAs::unsaid && donates(main_)) return ImportAs::step;
        if (request_.as == ImportAs::unsaid) {
            if (!is_number(results.front()) || !any_param) return ImportAs::unsaid;
            find_loss(results);
            return ImportAs::loss;
        }
        if (request_.as == ImportAs::step && !donates(main_))
            diagnostics_.warning("W0803", main_.span, "the step updates nothing: no argument is donated")
                .help("say which are: jax.jit(step, donate_argnums=(0, 1)).lower(...)");
        if (request_.as == ImportAs::loss) find_loss(results);
        if (request_.as == ImportAs::loss && loss_ < 0)
            diagnostics_.error("E0809", main_.span, "no result of the program is a floating-point number")
                .help("let it return the loss, alone or with others, as jax.value_and_grad does");
        else if (request_.as == ImportAs::loss && !any_param)
            diagnostics_.error("E0809", main_.span, "the loss has no parameters to train")
                .help("say which arguments they are: --params 'model.**'; names are in as_text(debug_info=True)");
        return request_.as;
    }

    std::vector<ProgramArray> results_of(const std::vector<DraftId>& results) const {
        std::vector<ProgramArray> made;
        for (size_t i = 0; i < results.size(); ++i)
            made.push_back({path_of(noted_result(main_, i)), draft_.type(results[i])});
        return made;
    }
    std::vector<ProgramArray> arguments_of() const {
        std::vector<ProgramArray> given;
        for (size_t i = 0; i < all_.size(); ++i) given.push_back({all_[i].path, draft_.type(arguments_[i])});
        return given;
    }

    // The first number that is none of an argument's next values, or one that is called loss.
    void find_loss(const std::vector<DraftId>& results) {
        const std::vector<ProgramArray> made = results_of(results);
        places_ = at_places_of(arguments_of(), made);
        place_gradients(made);
        left_out_.clear();
        for (const int place : places_) left_out_.push_back(place >= 0);
        std::vector<bool> of_gradients(results.size()); // as their norm is, which a step returns to be printed
        for (size_t i = 0; i < results.size(); ++i) of_gradients[i] = !left_out_[i] && reads_gradients(results[i]);
        const std::vector<bool> others = left_out_;
        for (size_t i = 0; i < results.size(); ++i) left_out_[i] = left_out_[i] || of_gradients[i];
        choose_loss(results, made);
        if (loss_ >= 0) return report_left_out();
        left_out_ = others;
        choose_loss(results, made);
        report_left_out();
    }

    static bool is_called_loss(const std::string& path) { return path == "loss" || path.ends_with(".loss"); }

    void choose_loss(const std::vector<DraftId>& results, const std::vector<ProgramArray>& made) {
        bool is_named = false;
        for (size_t i = 0; i < results.size(); ++i) {
            if (!is_number(results[i]) || left_out_[i]) continue;
            const bool is_so = is_called_loss(made[i].path);
            if (loss_ < 0 || (is_so && !is_named)) loss_ = static_cast<int>(i);
            is_named = is_named || is_so;
        }
    }

    void report_left_out() {
        const i64 left_out = std::count(left_out_.begin(), left_out_.end(), true);
        if (loss_ >= 0 && left_out > 0)
            diagnostics_
                .warning("W0807", main_.span,
                         fmt::format("{} result{} left out: shardc makes gradients and updates itself", left_out,
                                     left_out == 1 ? " is" : "s are"))
                .help("what stands where an argument does is its gradient or its next value, and what is made of "
                      "gradients is not the model's; `--as step` plans the program's own");
    }

    // Made in the program's backward pass, or of what is.
    bool reads_gradients(DraftId result) const {
        const std::vector<bool> needed = draft_.needed_for({result});
        for (size_t i = 0; i < needed.size(); ++i)
            if (needed[i] && draft_.entry(i).is_backward) return true;
        return false;
    }

    // Of parameters that are no trees: what follows the loss has their types, one after the other, and no name.
    void place_gradients(const std::vector<ProgramArray>& results) {
        std::vector<int> params;
        for (size_t i = 0; i < all_.size(); ++i)
            if (all_[i].is_param) params.push_back(static_cast<int>(i));
        const auto is_of = [this](const ProgramArray& result, int param) {
            const char last = result.path.empty() ? '0' : result.path.back();
            return result.type == draft_.type(arguments_[static_cast<size_t>(param)]) && last >= '0' && last <= '9';
        };
        if (results.size() != params.size() + 1 ||
            !std::equal(results.begin() + 1, results.end(), params.begin(), params.end(), is_of))
            return;
        std::copy(params.begin(), params.end(), places_.begin() + 1);
    }

    // Which results are the gradients that the program makes itself, by what the model calls the parameters.
    std::vector<std::pair<std::string, size_t>> own_gradients(const std::vector<DraftId>& results) const {
        std::vector<std::pair<std::string, size_t>> found;
        if (donates(main_)) return found; // next values stand there
        bool any = false;                 // a gradient may be an argument, or a number
        for (size_t i = 0; i < places_.size(); ++i) {
            const size_t argument = static_cast<size_t>(std::max(places_[i], 0));
            if (places_[i] < 0 || !all_[argument].is_param || is_left_out(argument)) continue;
            found.emplace_back(draft_.name_of(arguments_[argument]), i);
            any = any || reads_gradients(results[i]);
        }
        if (!any) found.clear();
        return found;
    }

    // In the order in which the model has them: a loss comes first.
    std::vector<size_t> kept_results(const std::vector<DraftId>& results) const {
        std::vector<size_t> kept;
        if (loss_ >= 0) kept.push_back(static_cast<size_t>(loss_));
        for (size_t i = 0; i < results.size(); ++i) {
            const bool is_out = (!left_out_.empty() && left_out_[i]) || is_empty(draft_.type(results[i]));
            if (static_cast<int>(i) != loss_ && !is_out) kept.push_back(i);
        }
        return kept;
    }

    // What the program calls so, else the first result if it is a number without a name.
    std::optional<size_t> named_loss(const std::vector<DraftId>& results, const std::vector<size_t>& kept,
                                     const std::vector<int>& replaced) const {
        std::optional<size_t> first;
        for (const size_t i : kept) {
            if (replaced[i] >= 0) continue;
            const std::string noted = noted_result(main_, i);
            if (is_number(results[i]) && (static_cast<int>(i) == loss_ || is_called_loss(path_of(noted)))) return i;
            // "result[1]" has none, "result[1]['top5']" has.
            const bool is_index = noted.size() > 1 && noted.back() == ']' && noted[noted.size() - 2] != '\'';
            const bool has_name = !noted.empty() && noted != "result" && !is_index;
            if (!first) first = is_number(results[i]) && !has_name ? i : results.size();
        }
        return first;
    }

    void name_outputs(const std::vector<DraftId>& results, ImportAs as) {
        const std::vector<int> replaced = as == ImportAs::step
                                              ? replaced_arguments(main_, arguments_of(), results_of(results))
                                              : std::vector<int>(results.size(), -1);
        std::vector<DraftId> taken;
        const std::vector<size_t> kept = kept_results(results);
        const std::optional<size_t> loss = named_loss(results, kept, replaced);
        for (const size_t i : kept) {
            const bool is_update = replaced[i] >= 0;
            std::string name = name_text(noted_result(main_, i));
            if (is_update)
                name = draft_.name_of(arguments_[replaced[i]]) + "_new";
            else if (i == loss)
                name = "loss";
            if (name.empty()) name = "result";
            DraftId output = draft_.output(results[i], name);
            // The same value twice is two outputs.
            if (std::find(taken.begin(), taken.end(), output) != taken.end()) {
                const DraftType& type = draft_.type(output);
                output = draft_.output(
                    draft_.add("reshape", {output}, fmt::format(", shape: {}", list_text(type.shape)), type), name);
            }
            taken.push_back(output);
            if (is_update) {
                updates_.emplace_back(arguments_[replaced[i]], output);
            } else {
                outputs_.push_back(output);
                output_results_.push_back(i);
            }
        }
    }

    std::optional<std::string> layout_text() const {
        LayoutText layout(walk_.device_shardings(), diagnostics_);
        for (size_t i = 0; i < arguments_.size(); ++i) {
            if (is_left_out(i)) continue;
            layout.add(all_[i].is_param ? "params" : "inputs", draft_.name_of(arguments_[i]),
                       draft_.type(arguments_[i]).shape.size(), main_.argument_attributes, i,
                       module_.values[main_.body.arguments[i]].span);
        }
        // What replaces an argument is left as that is.
        for (size_t o = 0; o < outputs_.size(); ++o)
            layout.add("outputs", draft_.name_of(outputs_[o]), draft_.type(outputs_[o]).shape.size(),
                       main_.result_attributes, output_results_[o], main_.span);
        if (diagnostics_.has_error()) return std::nullopt;
        return layout.print(module_);
    }

    const MlirModule& module_;
    const MlirFunction& main_;
    const ImportRequest& request_;
    Diagnostics& diagnostics_;
    Draft draft_;
    RandomFunctions random_functions_;
    TracedLines traced_;
    ProgramWalk walk_;
    std::vector<Argument> all_;
    bool is_named_ = false;                            // any of them, in the program
    std::vector<DraftId> arguments_, given_, outputs_; // given: as the program reads its arguments
    DraftUpdates updates_;
    std::vector<size_t> output_results_; // by output, which result it is
    int loss_ = -1;                      // of a program that was said to be a loss, its result
    std::vector<int> places_;            // by result, the argument in whose place it stands, or -1; of a loss
    std::vector<bool> left_out_;         // by result; none
};

} // namespace

std::optional<ImportedProgram> import_program(const Sources& sources, int file, const ImportRequest& request,
                                              Diagnostics& diagnostics) {
    std::optional<MlirModule> module = read_mlir(sources, file, diagnostics);
    if (!module) return std::nullopt;
    complex_to_pairs(*module, diagnostics);
    if (diagnostics.has_error()) return std::nullopt;
    const MlirFunction* const found = module->find("main");
    return Import(*module, found != nullptr ? *found : module->functions.front(), request, diagnostics).run();
}

} // namespace shard
