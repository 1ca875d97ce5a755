// A manual region. Its own value says what enters, what leaves, and the body: planner/read/manual_reader.h reads it,
// planner/build/build_manual.h makes the region.
#include "planner/build/build_manual.h"
#include "planner/build/model_builder.h"
#include "planner/read/manual_reader.h"
#include "planner/text/yaml_values.h"

namespace shard {

namespace {

bool read(const FormUse& use) {
    return check_keys(use.yaml, {use.key.key}, "a manual region's entry", use.diagnostics) &&
           read_manual(use.key.value, use.context, use.diagnostics);
}

BuiltValues build(ModelBuilder& model, Scope& scope, const Entry& entry, const ModulePath& around) {
    const std::string path = model.unique_instance(scope.full(entry.results[0].text));
    ManualBuild region{model.builder(), model.sizes(), model.mesh(), model.region(), scope, entry, path, {}};
    region.run = [&](Scope& body, const std::vector<Entry>& entries, int number) {
        return model.run_in_region(body, entries, around, number);
    };
    const BuiltValues results = build_manual(region);
    if (results) model.add_named(*results);
    return results;
}

} // namespace

const FormDef& form_manual() {
    static const FormDef def = {"manual", FormDef::Value::everything, read, build};
    return def;
}

} // namespace shard
