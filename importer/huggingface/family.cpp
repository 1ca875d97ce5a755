#include "importer/huggingface/family.h"

#include "importer/huggingface/family_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace shard {

#define REGISTER(stem) const FamilyDef& family_##stem();
#include "family_registry.inc"
#undef REGISTER

const std::vector<const FamilyDef*>& all_families() {
#define REGISTER(stem) &family_##stem(),
    static const std::vector<const FamilyDef*> families = {
#include "family_registry.inc"
    };
#undef REGISTER
    return families;
}

namespace {

constexpr double usual_capacity = 1.25; // of an expert, in its share of tokens, as MoE models are trained

const FamilyDef* find_family(std::string_view type) {
    for (const FamilyDef* family : all_families())
        if (std::find(family->types.begin(), family->types.end(), type) != family->types.end()) return family;
    return nullptr;
}

} // namespace

std::optional<FamilyTexts> make_family_model(const HfConfig& config, const FamilyRequest& request) {
    if (!config.has("model_type")) {
        config.wrong("", "'model_type' is missing");
        return std::nullopt;
    }
    const std::string type = config.word("model_type", "");
    const FamilyDef* family = find_family(type);
    if (family == nullptr) {
        std::vector<std::string_view> types;
        for (const FamilyDef* each : all_families()) types.insert(types.end(), each->types.begin(), each->types.end());
        std::sort(types.begin(), types.end());
        if (config.ok())
            config.refuse("model_type", fmt::format("no model is made of the family '{}'", type),
                          fmt::format("of these one is: {}", fmt::join(types, ", ")));
        return std::nullopt;
    }
    FamilyModel model = family->make(config);
    if (request.length > 0 && model.length > 0) {
        if (request.length > model.length)
            config.refuse("max_position_embeddings",
                          fmt::format("the model sees {} positions, and --length is {}", model.length, request.length),
                          fmt::format("--length takes at most {}", model.length));
        model.length = request.length;
    }
    for (FamilyAxis& axis : model.axes)
        if (axis.text == "length") axis.size = model.length;
    if (!config.ok()) return std::nullopt;
    FamilyTexts texts = {family_model_text(model, request), family_names_text(model), {{"batch", request.batch}}};
    texts.trains = !model.loss.empty();
    if (model.length > 0) texts.axes.push_back({"length", model.length});
    texts.axes.insert(texts.axes.end(), model.axes.begin(), model.axes.end());
    if (model.expert_share > 0) {
        const double places = usual_capacity * model.expert_share * static_cast<double>(model.length);
        const i64 capacity = std::clamp<i64>(static_cast<i64>(std::ceil(places)), 1, model.length);
        texts.settings.push_back(fmt::format("capacity={}", capacity));
    }
    return texts;
}

} // namespace shard
