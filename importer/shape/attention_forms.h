// attention: a product of queries and keys, its softmax, and the product with the values, with what stands in between:
// scale, soft cap, bias, and masks (attention_mask.h). As jax.nn.dot_product_attention, Flax, keras-hub and people write
// it, whatever the order of dims, with heads that share keys or without.
//
// A mask is `causal`, `window` or segments where it compares positions or segments alone, so that each query sees a key.
// Another one may leave a query without any: the program's result is then the mean of all values if scores became a
// large negative number, which a bias of that number gives too. It is 0, as here, if weights are hidden once more behind
// the softmax, and no number if scores became -inf.
#pragma once

#include "importer/shape/composite.h"

namespace shard {

std::vector<CompositeForm> attention_forms();

} // namespace shard
