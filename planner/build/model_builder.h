// The walk of the build pass over a model's graph: each entry becomes nodes, by the Builder. An entry is an op, a
// composite, the call of a module, or a form (planner/read/entry_form.h), which is built with what is public here.
#pragma once

#include "planner/build/build_inputs.h"
#include "planner/build/build_scan.h"
#include "planner/build/build_scope.h"
#include "planner/graph/loop_builder.h"
#include "planner/read/entry_form.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace shard {

// The call of a module by an entry.
struct ModuleCall {
    const ModuleDecl& module;
    const Entry& entry;
    std::string instance; // path of its values
    std::vector<ValueId> operands;
    ModulePath path; // ends in the module's own name
};

// As a loop over its parameters, which are stacked along the logical axis `axis` (may be "").
struct ScanOptions {
    i64 trips = 1;
    bool reverse = false; // the last entries of stacks are taken first
    std::string axis;
    size_t over = 0;           // so many of the last operands are stacks, of which a trip takes an entry
    std::vector<bool> stacked; // by output of the module: put together, not carried
    size_t carried() const { return static_cast<size_t>(std::count(stacked.begin(), stacked.end(), false)); }
};

class ModelBuilder {
public:
    ModelBuilder(const Model& model, const Mesh* mesh, Diagnostics& diagnostics)
        : model_(model), mesh_(mesh), diagnostics_(diagnostics), builder_(graph_, diagnostics) {}
    ModelBuilder(const ModelBuilder&) = delete;
    ModelBuilder& operator=(const ModelBuilder&) = delete;

    // Once.
    std::optional<Graph> build(bool training);

    // --- for forms ---

    const Model& model() const { return model_; }
    const Model& sizes() const { return microbatch_ ? *microbatch_ : model_; } // its axes are those of a microbatch
    const Mesh* mesh() const { return mesh_; } // the layout's, for manual regions; nullptr: unknown
    Diagnostics& diagnostics() { return diagnostics_; }
    Builder& builder() { return builder_; }
    int region() const { return region_; } // the manual region that is being built; -1: none

    // Calls a module by its name. Instances of one module in one scope are called block, block_2, ...
    BuiltValues call(Scope& scope, const Entry& entry, const ModulePath& around);
    // E0245 where the module may not be called.
    bool may_call(const ModuleDecl& module, const Entry& entry);
    // Calls it as `run` says, which has the operands, as many as there are inputs.
    BuiltValues call_as(Scope& scope, const Entry& entry, const ModuleDecl& module, const std::string& name,
                        const ModulePath& around, const std::function<BuiltValues(const ModuleCall&)>& run);
    BuiltValues run_once(const ModuleCall& call);
    BuiltValues run_scanned(const ModuleCall& call, const ScanOptions& options);
    // The entries of a manual region.
    bool run_in_region(Scope& body, const std::vector<Entry>& entries, const ModulePath& around, int region);
    // A path that no other instance has.
    std::string unique_instance(const std::string& path);
    // That the user named these, so that one which nobody reads is warned of.
    void add_named(std::span<const ValueId> ids) { named_.insert(named_.end(), ids.begin(), ids.end()); }

private:
    // A few nested repeats of a small file could ask for more than memory holds.
    static constexpr size_t most_nodes = 200'000;

    // The scan whose body is being built.
    struct OpenScan {
        LoopBuilder* loop;
        std::string axis;
        TensorOwner::Stack stack;
        bool stacks_any = false; // an array that lies along `axis`
    };

    bool run_training(Scope& scope);
    // What updates say of the values of a scope; in the body of a scan it is of one layer.
    bool note_updates(const Scope& scope, const std::vector<UpdateDecl>& updates);
    void return_updates();
    bool declare(Scope& scope, TensorDecl decl, Role role, const ModulePath& around, DType seen_as);
    static void stack(TensorDecl& decl, const OpenScan& scan);
    ValueId entry_of_stack(ValueId entry, const TensorDecl& decl, const Scope& scope);

    bool run(Scope& scope, const std::vector<Entry>& entries, const ModulePath& around);
    BuiltValues run_entry(Scope& scope, const Entry& entry, const ModulePath& around);
    BuiltValues without_constraint(Scope& scope, const Entry& entry);
    BuiltValues run_op(Scope& scope, const Entry& entry, const OpDef* op, const CompositeDef* composite);
    void name_result(ValueId result, size_t values_before, const std::string& path, Span span);

    BuiltValues run_module(const ModuleCall& call);
    // As build_scan.
    void warn_of_axis(const ModuleCall& call);
    BuiltValues build_loop(const ModuleCall& call, const ScanOptions& options, CarriedVarying& varying);
    // In a manual region: what is carried varies over what it begins with and over what a trip makes of it.
    CarriedVarying settled_varying(const ModuleCall& call, const ScanOptions& options);
    bool check_calls(const Entry& entry, size_t nested);

    const Model& model_;
    const Mesh* mesh_;
    Diagnostics& diagnostics_;
    Graph graph_;
    Builder builder_;
    std::optional<Model> microbatch_;  // the model as a microbatch sees it, if there are several
    std::vector<OpenScan> open_scans_; // outer before inner
    int scans_ = 0;
    std::vector<TensorOwner> owners_; // by declared tensor
    int region_ = -1;
    struct NotedUpdate {
        Name input; // as written
        ValueId updated, made;
    };
    std::vector<NotedUpdate> updates_;
    std::map<std::string, int> instances_;          // paths taken: the last number behind each
    std::set<const Name*> unknown_kept_;            // names of a remat that are said to mean nothing
    i64 calls_ = 0;                                 // of modules, every repetition counted
    std::vector<ValueId> named_;                    // results that the user named, in order
    std::map<ValueId, ValueId> read_as_;            // by parameter, what ops read of it: a layer's, in the compute type
    std::map<std::string, CarriedVarying> settled_; // by the loop's place, its region and its operands
};

} // namespace shard
