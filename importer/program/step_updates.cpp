#include "importer/program/step_updates.h"

#include <algorithm>
#include <functional>
#include <map>

namespace shard {

namespace {

struct Donated {
    size_t argument = 0;
    i64 result = -1; // that lands in its bytes, if the program says so
};

std::vector<Donated> donated_arguments(const MlirFunction& main) {
    std::vector<Donated> donated;
    for (size_t i = 0; i < main.argument_attributes.size(); ++i) {
        if (main.argument_attributes[i].parts.empty()) continue;
        const std::vector<MlirItem>& items = main.argument_attributes[i].parts[0].items;
        const MlirAttribute* const lands = find_attribute(items, {"tf.aliasing_output"});
        if (lands != nullptr && lands->kind == MlirAttribute::Kind::integer)
            donated.push_back({i, lands->integer});
        else if (find_item(items, {"jax.buffer_donor"}) != nullptr)
            donated.push_back({i, -1});
    }
    return donated;
}

// Behind the first part; empty of a path of one part.
std::string_view below(std::string_view path) {
    const size_t dot = path.find('.');
    return dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
}

// Whether a result stands in its tree where the argument does in its own: state.w and result.w, or result.1.w where the
// tree is one of several results.
bool same_place(std::string_view argument, std::string_view result) {
    const std::string_view within = below(argument), all = below(result);
    if (within.empty()) return false;
    const bool counted = !all.empty() && all.front() >= '0' && all.front() <= '9';
    return within == all || (counted && within == below(all));
}

} // namespace

bool donates(const MlirFunction& main) { return !donated_arguments(main).empty(); }

std::vector<int> replaced_arguments(const MlirFunction& main, const std::vector<ProgramArray>& arguments,
                                    const std::vector<ProgramArray>& results) {
    std::vector<int> replaced(results.size(), -1);
    std::vector<Donated> left = donated_arguments(main);
    // Gives each argument that is left the first free result of its type that fits.
    const auto give = [&](const std::function<bool(const Donated&, size_t)>& fits) {
        std::vector<Donated> without;
        for (const Donated& donated : left) {
            if (donated.argument >= arguments.size()) continue;
            size_t result = 0;
            while (result < results.size() &&
                   (replaced[result] >= 0 || !(results[result].type == arguments[donated.argument].type) ||
                    !fits(donated, result)))
                ++result;
            if (result < results.size())
                replaced[result] = static_cast<int>(donated.argument);
            else
                without.push_back(donated);
        }
        left = std::move(without);
    };
    give([&](const Donated& d, size_t result) { return same_place(arguments[d.argument].path, results[result].path); });
    give([&](const Donated& d, size_t result) { return d.result == static_cast<i64>(result); });
    give([&](const Donated& d, size_t) { return d.result < 0; });
    return replaced;
}

std::vector<int> at_places_of(const std::vector<ProgramArray>& arguments, const std::vector<ProgramArray>& results) {
    std::multimap<std::string_view, int> by_place;
    for (size_t i = 0; i < arguments.size(); ++i) by_place.emplace(below(arguments[i].path), static_cast<int>(i));
    std::vector<int> places;
    for (const ProgramArray& result : results) {
        const std::string_view all = below(result.path);
        int found = -1;
        for (const std::string_view place : {all, below(all)}) {
            const auto [begin, end] = by_place.equal_range(place);
            for (auto it = begin; it != end && found < 0; ++it) {
                const ProgramArray& argument = arguments[static_cast<size_t>(it->second)];
                if (argument.type == result.type && same_place(argument.path, result.path)) found = it->second;
            }
        }
        places.push_back(found);
    }
    return places;
}

} // namespace shard
