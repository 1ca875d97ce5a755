// What build does for training, apart from walking the graph: a loss and metrics as single numbers.
#pragma once

#include "planner/build/build_scope.h"

namespace shard {

std::string type_words(const TensorType& type); // "a scalar f32", "f32 (8, 4)"
bool is_float_scalar(const TensorType& type);   // of rank 0

// The value of `loss:`; E0240 unless it is one floating-point scalar.
std::optional<ValueId> loss_of(Builder& builder, const Entry& entry, const std::vector<ValueId>& results);
// The value of a metric: a scalar, or a sum over a count where the entry has two results. E0241 otherwise.
std::optional<ValueId> metric_of(Builder& builder, const Entry& entry, const std::vector<ValueId>& results);
// What only the loss or a metric reads is not there for nothing, in a plan that does not train either. True.
bool mark_read_in_training(Builder& builder, const TrainDecl& train, const Scope& scope);
// In a plan that does not train: E0225 for arguments that the loss, a metric or the optimizer does not have.
bool knows_training_arguments(const Model& model, Diagnostics& diagnostics);

} // namespace shard
