// What exporter/stablehlo writes of plans made by hand: the body of the function, without the function around it.
#pragma once

#include "exporter/stablehlo/hlo_body.h"
#include "tests/support/plan_builder.h"

namespace shard {

struct LocalType {
    DType dtype = DType::f32;
    Shape shape;
};

// The arguments are %x, %y and %z, the result %out. What does not fit into 100 columns goes on in the next line, behind
// four blanks.
std::string body_of(const Plan& plan);
std::string body_of(Kernel kernel, std::vector<LocalType> operands, LocalType result);

} // namespace shard
