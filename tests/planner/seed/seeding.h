// Seeds of a model's inputs and parameters under a layout, without ops: constraints are put on values by hand.
#pragma once

#include "planner/model/model.h"
#include "planner/seed/seed.h"
#include "tests/support/reading.h"

namespace shard {

class Seeding {
public:
    // `tensors` is the part of a model file before its graph: axes, inputs, params, each on lines of its own.
    explicit Seeding(const std::string& tensors);

    // A node that passes `value` on under a constraint, and its result, an output named `name`.
    ValueId constrain(const std::string& value, const std::string& name, std::vector<std::string> logical, Span span);
    ValueId constrain(const std::string& value, const std::string& name, ShardingSpec spec, Span span);

    // Runs the seed pass and the lints. `layout` is read first; it must be well-formed.
    void run(const std::string& layout);

    std::string sharding(const std::string& value) const; // "[data | -]", "open", or "nothing" if seeding failed
    std::string constraint(const std::string& value) const;
    std::string causes(const std::string& value) const; // "dim 0: data by rule 0 at 2:4"
    std::string problems() const { return report_text(diagnostics); }
    // Those of one code.
    std::string problems(std::string_view code) const;

    Graph graph;
    Layout layout;
    std::optional<Seeds> seeds;
    Diagnostics diagnostics;

private:
    ValueId find(const std::string& value) const;
    std::string text(const std::optional<Sharding>& sharding) const;
};

} // namespace shard
