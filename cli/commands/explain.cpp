#include "cli/command/format.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/explain/alike_explanations.h"
#include "cli/inputs/candidates.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/model_source.h"
#include "cli/inputs/named_tensors.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/report/listing.h"
#include "cli/svg/explain_svg.h"
#include "cli/terminal/exit_code.h"
#include "planner/explain/tensor_remedies.h"
#include "planner/lower/lowered_text.h"
#include "planner/pipeline/graph_after.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

// What is asked for, or a key of a file that ends so: "clip" is model.train.clip.
bool is_called(const Item& item, const std::string& name) {
    return item.name == name || item.name.ends_with("." + name);
}

// Of keys of one name, those that lie deeper in a file are asked for less.
i64 depth(const Item& item) { return std::count(item.name.begin(), item.name.end(), '.'); }

// A code, an op, a key of a file, ...: whatever list has the name.
int explain_name(const std::string& name, const Arguments& arguments, Env& env) {
    std::vector<std::string> names;
    std::vector<FoundItem> found;
    for (const Registry& registry : all_registries()) {
        for (const Item& item : registry.items()) {
            names.push_back(item.name.substr(item.name.rfind('.') + 1)); // npos + 1 is 0
            if (is_called(item, name)) found.push_back({&registry, item});
        }
    }
    std::stable_sort(found.begin(), found.end(), [](const FoundItem& a, const FoundItem& b) {
        return a.registry == b.registry && depth(a.item) < depth(b.item);
    });
    if (!found.empty())
        return write_payload(env, arguments, chosen_format(arguments).found(found, payload_paint(env, arguments)),
                             exit_clean);
    std::vector<std::string_view> views(names.begin(), names.end());
    return unknown_name(env, "code, op, collective, key of a file, hardware profile or initializer", name, views);
}

// One word is a file where its name ends as one, so that what is wrong with it is said, or where a plan stands in it; a
// model alone is one that lacks its layout.
bool names_file(Env& env, const std::string& word) {
    if (word == "-") return true;
    for (const std::string_view end : {".json", ".yaml", ".yml", ".mlir"})
        if (word.ends_with(end)) return true;
    std::string ignored;
    const std::optional<std::string> text = env.files.read(word, ignored);
    return text && looks_like_plan(*text);
}

// --after prints a whole graph as text: a tensor or a name beside it would say nothing.
int refuse_after(Env& env, std::string_view beside) {
    return refuse(env, fmt::format("--after prints the whole graph as text, so {}", beside),
                  "shardc explain MODEL LAYOUT --after PASS");
}

int refuse_drawing(Env& env) {
    return refuse(env, "--svg draws tensors, and this prints something else",
                  "shardc explain MODEL LAYOUT [TENSOR...] --svg FILE");
}

int run(const Arguments& arguments, Env& env) {
    std::vector<std::string> words = arguments.strings("WHAT");
    const bool after = arguments.has("--after");
    if (after && !chosen_format(arguments).is_usual) return refuse_after(env, "there is no other format");
    if (after && arguments.flag("--lowered")) return refuse_after(env, "it does not go with --lowered");
    if (arguments.flag("--lowered") && !chosen_format(arguments).is_usual)
        return refuse(env, "--lowered prints a model file, so there is no other format", "leave --format out");
    const bool is_name = words.size() == 1 && !names_file(env, words[0]);
    if (arguments.has("--svg") && (after || is_name || arguments.flag("--lowered"))) return refuse_drawing(env);
    for (const std::string_view option : {"--mode", "--set", "--lowered"})
        if (is_name && arguments.given(option))
            return refuse(env, fmt::format("{} is of a model and a layout, and '{}' is a name", option, words[0]),
                          fmt::format("shardc explain MODEL LAYOUT {}", words[0]));
    if (is_name)
        return after ? refuse_after(env, "it takes a model and a layout, or a plan file")
                     : explain_name(words.front(), arguments, env);
    size_t used = 0;
    Compiled compiled = compile_words(env, words, plan_arguments(arguments), used);
    if (after && words.size() > used) return refuse_after(env, "it takes no tensors");
    if (arguments.flag("--lowered") && words.size() > used)
        return refuse(env, "--lowered prints the whole program, so it takes no tensors", "leave them out");
    if (after && compiled.request.model_file >= 0) {
        Diagnostics diagnostics;
        const std::optional<std::string> text = graph_after(
            *compiled.sources, compiled.request, arguments.string("--after"), arguments.flag("--details"), diagnostics);
        if (text) return write_payload(env, arguments, *text, exit_clean);
        print_diagnostics(env, *compiled.sources, diagnostics.all());
        return exit_code(diagnostics);
    }
    if (compiled.plan() == nullptr) {
        print_diagnostics(env, *compiled.sources, compiled.diagnostics().all());
        return exit_code(compiled.diagnostics());
    }
    for (const Diagnostic& diagnostic : compiled.diagnostics().all()) // findings are for plan and check
        if (diagnostic.code == "W0501" || is_of_import(diagnostic))
            print_diagnostics(env, *compiled.sources, std::span<const Diagnostic>(&diagnostic, 1));
    const Plan& plan = *compiled.plan();
    if (arguments.flag("--lowered")) {
        Diagnostics diagnostics;
        const std::optional<std::string> text = lowered_text(compiled.compilation, diagnostics);
        if (text) return write_payload(env, arguments, *text, exit_clean);
        print_diagnostics(env, *compiled.sources, diagnostics.all());
        return exit_code(diagnostics);
    }
    const std::optional<std::vector<const TensorReport*>> named =
        named_tensors(env, compiled.compilation, std::span(words).subspan(used));
    if (!named) return exit_usage;
    const std::vector<const TensorReport*> tensors =
        words.size() == used ? tensors_of_collectives(compiled.compilation) : *named;
    const Paint paint = payload_paint(env, arguments);
    std::vector<Explanation> explanations = explain_alike(compiled.compilation, *compiled.sources, tensors);
    add_remedies(explanations, compiled.compilation, *compiled.sources, compiled.request);
    if (arguments.has("--svg") && !write_file(env, arguments.string("--svg"), explain_svg(plan, explanations)))
        return exit_usage;
    return write_payload(env, arguments, chosen_format(arguments).explain(plan, explanations, paint), exit_clean);
}

// Names of anything, or tensors of the files before.
std::vector<Candidate> what_candidates(const Arguments& typed, Env& env) {
    const std::vector<std::string> words = typed.strings("WHAT");
    return words.empty() ? all_registry_candidates() : tensor_candidates(words, typed, env);
}

} // namespace

const CommandDef& command_explain() {
    static const CommandDef def = {
        .name = "explain",
        .usage = "MODEL LAYOUT [TENSOR...] | PLAN [TENSOR...] | NAME",
        .summary = "why this sharding, why this collective and what would make it go; what a code or an op means",
        .doc = "Example:\n"
               "  shardc explain model.yaml layout.yaml a     decisions back to the line that asked, collectives, "
               "remedies\n"
               "  shardc explain model.yaml layout.yaml       the tensors that collectives are for\n"
               "  shardc explain model.yaml layout.yaml --lowered   the program of one device, as a model file with a "
               "manual region\n"
               "  shardc explain model.yaml layout.yaml --after partition   the graph that one device computes\n"
               "  shardc explain model.yaml layout.yaml COLLECTIVE   the tensors that such are for\n"
               "  shardc explain E0313                        what a message means\n"
               "  shardc explain einsum                       what an op does\n"
               "  shardc explain microbatches                 what a key of a model or a layout means\n"
               "A tensor is a name, or a pattern: block.*.wq, block.{0..11}.wq, as reports fold them.\n"
               "Remedies are found by planning again with one constraint, override or rule dropped or changed.",
        .options = {{.name = "WHAT",
                     .doc = "a model and a layout, or a plan file, and tensors; or a code, op, collective, ...",
                     .required = true,
                     .many = true,
                     .candidates = what_candidates},
                    {.name = "--lowered", .doc = "print the plan as a manual program, which compiles and runs"},
                    {.name = "--after",
                     .value = "PASS",
                     .doc = "print the graph as it is after a pass (shardc list passes), or after `all`",
                     .candidates = [](const Arguments&, Env&) { return registry_candidates("passes"); }},
                    {.name = "--details",
                     .with = "--after",
                     .doc = "with --after: what else the graph holds, kernels for one, so that its text is complete"},
                    {.name = "--svg",
                     .value = "FILE",
                     .doc = "draw the tensors there, and the ways from one sharding to another",
                     .file = FileUse::written},
                    mode_option(),
                    set_option(),
                    format_option(formats_for(&FormatDef::explain)),
                    output_option()},
        .order = 6,
        .run = run,
    };
    return def;
}

} // namespace shard
