// How much of a plan a report shows. On a screen what is alike is one row: layers of a repeated module that are treated
// alike, collectives that are there for the same cause, arrays of a module that lie alike, states and gradients that
// lie as their parameters do. If there are still many, the largest are shown and the others summed up.
#pragma once

namespace shard {

enum class Detail {
    screen, // what fits one
    whole,  // nothing left out, what is alike in one row
    each,   // everything one by one
};

} // namespace shard
