// A model of three equal layers on two mesh axes, for tests of traces and profiles.
#pragma once

#include <string>

namespace shard {

// Each layer sums over `model`; in a loop with `scan`, otherwise written out.
inline std::string layered_model(bool scan) {
    return R"(model: layers
axes: {batch: 8, embed: 16, mlp: 32}
inputs: {x: {axes: [batch, embed], init: ones}}
modules:
  block:
    inputs: [x]
    params: {up: {axes: [embed, mlp], init: ones}, down: {axes: [mlp, embed], init: ones}}
    graph:
      - a: {dot: [x, up]}
      - h: {relu: a}
      - y: {dot: [h, down]}
    outputs: [y]
graph: [{y: {repeat: block, times: 3, in: x, axis: layers, scan: )" +
           std::string(scan ? "true" : "false") + R"(}}]
outputs: [y]
)";
}

inline const char* const layered_layout = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {mlp: model}]\n";

} // namespace shard
