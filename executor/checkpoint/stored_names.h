// What checkpoints from elsewhere call a plan's parameters, and how they store them: heads joined to one dim, dims in
// another order, several parameters in one array, one array for each layer and expert.
//
//     parameter         stored                                       rearranged
//     block.wq          layers.{layer}.q.weight                      (heads kv) embed -> embed heads kv
//     block.wk          h.{layer}.attn.weight                        embed (qkv heads kv) -> embed heads kv, qkv: 1 of 3
//     block.w_up        layers.{2*layer+1}.experts.{expert}.weight   mlp embed -> expert embed mlp
//
// A rearrangement is written as for einops, and a name in braces that is no layer's is a dim of the parameter, of which
// the checkpoint has an array for each entry. `part` takes a range of a dim that is longer there: it begins at entry 1
// of 3, and is as long as the parameter's dim of that name, or one entry.
#pragma once

#include "plans/sharding/type.h"

#include <functional>
#include <map>
#include <span>

namespace shard {

// A name with places for numbers: "h.{2*layer+1}.weight".
class NameTemplate {
public:
    static std::optional<NameTemplate> parse(std::string_view text, std::string& problem);
    std::string fill(const std::map<std::string, i64>& numbers) const; // of all `variables`
    const std::vector<std::string>& variables() const { return variables_; }

private:
    struct Number {
        std::string before; // the text up to it
        i64 times = 1, plus = 0;
        std::string variable;
    };
    std::vector<Number> numbers_;
    std::vector<std::string> variables_;
    std::string rest_;
};

struct StoredRange {
    i64 start = 0, of = 1;
};

struct Rearrangement {
    std::vector<std::vector<std::string>> stored; // of each stored dim, the dims that it joins, outer first
    std::vector<std::string> param;               // dims of the parameter, without those of layers
    std::map<std::string, StoredRange> parts;

    // `parts` are those that are given.
    static std::optional<Rearrangement> parse(std::string_view text, std::map<std::string, StoredRange> parts,
                                              std::string& problem);
};

struct StoredName {
    std::vector<NameTemplate> from; // the first that is there counts
    std::optional<Rearrangement> rearrangement;
};

struct StoredNames {
    std::map<std::string, StoredName> tensors; // by paths of parameters without numbers: "block.wq"
    std::vector<std::string> prefixes;         // that may stand before all names
    std::function<bool(const std::string&)> is_unused = [](const std::string&) { return false; };
};

// A stored array of which `shape` of the parameter from `start` on is a part.
struct StoredSource {
    std::string stored; // without a prefix
    std::vector<i64> start;
    Shape shape;
    std::vector<i64> strides; // of the parameter's dims in the stored array
    i64 skipped = 0;          // elements of it that lie before
    Shape stored_shape;
};

// Where the parts of a parameter are. `stacked`: as PlanInput::layers. `choose` picks one of several names that a
// part may have. nullopt with a problem if the names do not fit the parameter, empty if it has none.
std::optional<std::vector<StoredSource>>
find_stored(const StoredNames& names, const std::string& param, const Shape& shape, std::span<const i64> stacked,
            const std::function<std::string(const std::vector<std::string>&)>& choose, std::string& problem);

// A parameter's path without the numbers of layers: "block.3.wq" is block.wq.
std::string path_without_layers(const std::string& param);

} // namespace shard
