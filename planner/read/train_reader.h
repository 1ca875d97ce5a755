// `train:` of a model file: targets, loss, metrics, optimizer, and how gradients are treated. The loss and the metrics
// are graph entries; what they mean is checked when the model is built for training.
#pragma once

#include "planner/model/model.h"

namespace shard {

// nullopt after reporting. `modules` are the names of the model's modules.
std::optional<TrainDecl> read_train(const Yaml& yaml, const std::vector<AxisDecl>& axes,
                                    const std::vector<std::string_view>& modules, Diagnostics& diagnostics);

} // namespace shard
