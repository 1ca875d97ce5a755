// Microbatches: the forward and backward pass are the body of a loop over parts of the batch. Every device takes its
// own rows: the batch is (rows, microbatch), and the minor part is the loop, so taking a part moves nothing.
#pragma once

#include "planner/graph/loop_builder.h"
#include "planner/model/model.h"

namespace shard {

inline constexpr int microbatch_loop = 0; // the first loop of the graph

// The model as one microbatch sees it: the axis, and the sizes that depend on it, are those of a part. nullopt after
// E0220: no axis, or one that does not divide.
std::optional<Model> model_of_microbatch(const Model& model, Diagnostics& diagnostics);
// The axis that microbatches share, written or that of the first input; "" if there is none.
std::string microbatch_axis(const Model& model);

// Opens the loop; the body is what is emitted from here on.
void open_microbatches(Builder& builder, const TrainDecl& train);
// A microbatch's rows of a value whose dims are called so; the value itself if it lacks the axis.
ValueId rows_of_microbatch(Builder& builder, ValueId value, const std::vector<std::string>& logical,
                           const std::string& axis);
// Closes it: outputs (losses and metrics) are means over the microbatches, of quotients that of the sums, and the loss
// is the whole step's. Returns the means of the gradients.
std::vector<ValueId> close_microbatches(Builder& builder, const TrainDecl& train,
                                        const std::vector<ValueId>& gradients);

} // namespace shard
