// How one op is computed: over which axes each factor of its rule is split.
//
// Candidates of a factor are the prefixes of what operands and results put on it, so an op uses only axes that are
// already there. Every combination without an axis in two factors is priced: resharding the operands, the local kernel,
// reducing and resharding the results to the shardings they are kept in. Factors that need replication and blocked ones
// stay unsplit: their dims are gathered; along one permutation devices may send each other what crosses from block to
// block (planner/partition/halo.h). (GSPMD picks by element counts; here bytes, links and compute decide.)
//
//     dot 4x4096 . 4096x4096, all [x | -]:  i over x gathers 3/4 of the weight; k over x moves the small left operand
//     by an all_to_all and reduces the small result: chosen.
#pragma once

#include "planner/graph/op_def.h"
#include "planner/propagate/propagate.h"
#include "planner/redistribute/plan_cost.h"
#include "planner/redistribute/redistributor.h"

namespace shard {

// One way in which an operand can be had before the op, and what it costs to get there.
struct OperandForm {
    Sharding sharding; // may be partial
    PlanCost base;
};

struct OperandChoice {
    // At least one that is not partial, or a partial one that may be reduced for this op alone; none at all if the
    // operand can be had in every form for nothing.
    std::vector<OperandForm> forms;
    // A partial sum that only this op reads: may pass through an op that is linear in this operand.
    std::optional<Sharding> pending;
};

struct ComputeQuery {
    const OpDef* op = nullptr;
    const Attributes* attributes = nullptr;
    std::vector<TensorType> operand_types, result_types; // global
    std::vector<ValueId> operand_values;                 // equal ids are resharded once
    std::vector<OperandChoice> operands;
    std::vector<Sharding> operand_kept;
    std::vector<Sharding> results_kept; // a partial one is a wish: taken as if it were not if no way makes such a sum
    // A reduction over dims that all operands have split alike is not gathered, and a partial sum that may pass does,
    // whatever else would save (planner/partition/gradient_sums.h).
    bool sums_where_split = false;
};

// Equal for queries that are decided alike.
std::string memo_key(const ComputeQuery& query);

struct ComputeSharding {
    std::vector<std::vector<AxisRef>> factor_axes;
    // As the kernel reads them; partial where a partial sum passes through.
    std::vector<Sharding> operands;
    // As the kernel makes them; partial over the axes of split reductions and of passed operands.
    std::vector<Sharding> results;
    Kernel kernel; // along a split permutation, of the operands and the messages of halo_of
    PlanCost cost;
};

// Of the op as a device computes its part in this way.
Attributes local_attributes(const ComputeQuery& query, const IndexRule& rule, const ComputeSharding& choice);
// The best way by PlanCost. `rule` is the op's over global types.
ComputeSharding choose_compute_sharding(Redistributor& redistributor, const ComputeQuery& query, const IndexRule& rule);

// Every way that is considered, best first; none is ruled out before it is priced, so this takes longer. For explain.
std::vector<ComputeSharding> all_compute_shardings(Redistributor& redistributor, const ComputeQuery& query,
                                                   const IndexRule& rule);

// The cheapest form to start from, and the whole cost of arriving at `to`.
struct FormChoice {
    size_t form = 0;
    PlanCost cost;
};
FormChoice cheapest_form(Redistributor& redistributor, const TensorType& type, std::span<const OperandForm> forms,
                         const Sharding& to);

} // namespace shard
