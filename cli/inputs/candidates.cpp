#include "cli/inputs/candidates.h"

#include "cli/inputs/inputs.h"
#include "cli/report/registries.h"
#include "planner/read/model_reader.h"
#include "plans/sharding/sharding.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace shard {

namespace {

// Of a file that waits for who writes it nothing can be said while a word is typed.
bool may_wait(const std::string& word) {
    std::error_code unknown;
    const std::filesystem::file_status status = std::filesystem::status(word, unknown);
    return word == "-" || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status));
}

Candidate candidate(const Plan& plan, const TensorReport& tensor, std::string_view end) {
    return {tensor.name + std::string(end), fmt::format("{} {}", name(tensor.role), text(plan.mesh, tensor.sharding))};
}

template<typename Wanted>
std::vector<Candidate> tensors(const std::vector<std::string>& words, const Arguments& typed, Env& env,
                               std::string_view end, Wanted is_wanted) {
    std::vector<Candidate> found;
    if (words.empty() || std::any_of(words.begin(), words.end(), may_wait)) return found;
    size_t used = 0;
    const Compiled compiled = compile_words(env, words, plan_arguments(typed), used);
    if (compiled.plan() == nullptr) return found;
    for (const TensorReport& tensor : compiled.plan()->report.tensors)
        if (is_wanted(tensor.role)) found.push_back(candidate(*compiled.plan(), tensor, end));
    return found;
}

} // namespace

std::vector<Candidate> tensor_candidates(const std::vector<std::string>& words, const Arguments& typed, Env& env) {
    return tensors(words, typed, env, "", [](Role) { return true; });
}

std::vector<Candidate> output_candidates(const std::vector<std::string>& words, const Arguments& typed, Env& env) {
    return tensors(words, typed, env, "", [](Role role) { return role == Role::output; });
}

std::vector<Candidate> input_candidates(const std::vector<std::string>& words, const Arguments& typed, Env& env) {
    return tensors(words, typed, env, "=", [](Role role) { return role == Role::input || role == Role::param; });
}

std::vector<Candidate> axis_candidates(const std::vector<std::string>& words, std::string_view end, Env& env) {
    std::vector<Candidate> found;
    if (words.empty() || may_wait(words[0])) return found;
    LoadedModel loaded = load_model_text(env, words[0]);
    Diagnostics ignored;
    const std::optional<Model> model =
        loaded.file ? read_model(loaded.sources, *loaded.file, ignored, false) : std::nullopt;
    if (!model) return found;
    for (const AxisDecl& axis : model->axes)
        found.push_back({axis.name.text + std::string(end), std::to_string(axis.size)});
    return found;
}

std::vector<Candidate> registry_candidates(std::string_view name) {
    std::vector<Candidate> found;
    const Registry* const registry = find_registry(name);
    if (registry == nullptr) return found;
    for (const Item& item : registry->items()) found.push_back({item.name, item.summary});
    return found;
}

std::vector<Candidate> all_registry_candidates() {
    std::vector<Candidate> found;
    for (const Registry& registry : all_registries())
        for (const Item& item : registry.items()) {
            const size_t dot = item.name.rfind('.'); // npos + 1 is 0
            found.push_back({item.name.substr(dot + 1), item.summary});
        }
    const auto before = [](const Candidate& a, const Candidate& b) { return a.word < b.word; };
    const auto same = [](const Candidate& a, const Candidate& b) { return a.word == b.word; };
    std::stable_sort(found.begin(), found.end(), before);
    found.erase(std::unique(found.begin(), found.end(), same), found.end());
    return found;
}

} // namespace shard
