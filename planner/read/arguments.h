// `args:` of a model and of its modules: what is written once and given by who uses it. `$name` stands for an argument
// wherever a value or a key stands, also within arithmetic; then the file is read as if the argument stood there.
//
//     modules:
//       linear:
//         args: {width: ~, bias: true}                      with defaults; ~ must be given
//         inputs: [x]
//         params: {w: {axes: [embed, $width]}, b: {axes: [$width], if: $bias}}
//         graph: [{y: {dot: [x, w]}}, {y: {add: [y, b], if: $bias}}]
//         outputs: [y]
//     graph: [{h: {linear: x, width: 4 * embed}}]
#pragma once

#include "planner/model/model.h"

namespace shard {

// Puts arguments into what is written. What is made of one file together is bounded (E0106).
class ArgumentWriter {
public:
    // `$training` is there without being declared: whether the model is read for a train step.
    ArgumentWriter(bool training, Diagnostics& diagnostics)
        : training_{"training", {}, Yaml{{}, YamlScalar{training ? "true" : "false", false}}},
          diagnostics_(&diagnostics) {}

    // The values of `args:`, in the order written; each may use those of `around` and those before it. Those that are
    // `given` stand in the place of their defaults.
    std::optional<YamlMap> values(const YamlMap& args, const YamlMap& given, const YamlMap& around);
    // `yaml` with values in the place of `$name`, and without what `if` leaves out. nullopt after E0225 for a `$name`
    // that there is none of, or E0113.
    std::optional<Yaml> write(const Yaml& yaml, const YamlMap& values);

private:
    YamlEntry training_;
    Diagnostics* diagnostics_;
    i64 left_ = 1'000'000; // values that may still be made
};

// The map behind `args:`; E0113, E0201.
std::optional<YamlMap> read_args(const Yaml& yaml, Diagnostics& diagnostics);

// A call that gives arguments.
struct BoundModule {
    std::string name; // "linear(width: 4 * embed)": of the module that is read for it
    YamlMap given;
    Span span; // of the call
};

// Takes the module's arguments out of those of a call. nullopt after E0225: one that must be given is missing.
std::optional<BoundModule> bind_arguments(const ModuleHead& module, const Name& call, YamlMap& arguments,
                                          Diagnostics& diagnostics);

} // namespace shard
