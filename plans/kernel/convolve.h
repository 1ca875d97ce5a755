// A convolution, and the gradients of one, which are convolutions too.
//
// `dims` says what the dims of the operands and of the result are, one letter each, as an einsum does:
//
//     nhwi,hwio->nhwo         h and w, which all three have, are dims along which windows slide; i, which the result
//                             has not, is summed
//     nhw(gi),hwi(go)->nhw(go)  the dim of i of the first has the groups' blocks of i one after the other, and that of
//                             o those of o: group by group a convolution
//
// out[n, o_h, o_w, o] = sum over i, k_h, k_w of lhs[n, i_h, i_w, i] * rhs[k_h, k_w, i, o], where o_h, k_h and i_h meet
// as `windows` say (plans/kernel/slide.h), one entry for each window dim in the order in which lhs has them. Where none
// meet there is nothing to sum. Operands of a narrow type are summed up in f32.
#pragma once

#include "plans/kernel/slide.h"

#include <string>
#include <vector>

namespace shard {

struct Convolve {
    std::string dims;
    i64 groups = 1; // 1: `dims` has none
    std::vector<Slide> windows;
    bool operator==(const Convolve&) const = default;
};

} // namespace shard
