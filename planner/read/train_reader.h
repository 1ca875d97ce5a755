// `train:` of a model file: targets, loss, metrics, optimizer, and how gradients are treated. The loss and the metrics
// are graph entries; what they mean is checked when the model is built for training.
#pragma once

#include "planner/read/entry_context.h"

namespace shard {

// nullopt after reporting.
std::optional<TrainDecl> read_train(const Yaml& yaml, const EntryContext& context, Diagnostics& diagnostics);

} // namespace shard
