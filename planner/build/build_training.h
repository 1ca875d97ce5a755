// What build does for training, apart from walking the graph: a loss and metrics as single numbers, and gradients that
// a model asks for by hand.
#pragma once

#include "planner/build/build_scope.h"

namespace shard {

// The value of `loss:`; E0240 unless it is one floating-point scalar.
std::optional<ValueId> loss_of(Builder& builder, const Entry& entry, const std::vector<ValueId>& results);
// The value of a metric: a scalar, or a sum over a count where the entry has two results. E0241 otherwise.
std::optional<ValueId> metric_of(Builder& builder, const Entry& entry, const std::vector<ValueId>& results);
// The call of a module that `value_and_grad` stands for.
Entry differentiated_call(const Entry& entry);
// Results of `value_and_grad`: the module's output, then its gradient with respect to each name in `wrt`, through all
// that it depends on.
BuiltValues value_and_gradients(Builder& builder, const Scope& scope, const Entry& entry,
                                const std::vector<ValueId>& outputs);

// What only the loss or a metric reads is not there for nothing, in a plan that does not train either. True.
bool mark_read_in_training(Builder& builder, const TrainDecl& train, const Scope& scope);

} // namespace shard
