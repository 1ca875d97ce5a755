// Functions of jax.random: fold_in, split, bits, uniform, normal, truncated_normal, bernoulli and randint over a key of
// two u32 words. JAX lowers them as functions of a program, whose ops are some hundred lines each of the cipher. Under
// the four words of a key of rbg, those that draw by one array of bits.
//
// None is believed by its name: a function whose arguments and result are of these types is computed for a few keys at a
// few places, and stands for one that gives the same there, which bits of the cipher do for no other reason. Its ops are
// those that go alike at every place: a function of the user that draws, and clips or masks what it drew, is none.
#pragma once

#include "importer/model/program_walk.h"
#include "plans/random/random.h"

namespace shard {

class RandomFunctions {
public:
    // What is drawn, as one op of the walk's draft; nullopt if the function is none of these.
    std::optional<std::vector<DraftId>> in_place_of(ProgramWalk& walk, const MlirFunction& function,
                                                    const std::vector<DraftId>& arguments);

private:
    enum class Kind { fold_in, split, bits, uniform, normal, truncated_normal, bernoulli, randint };
    struct Found {
        Kind kind = Kind::bits;
        BitLayout layout = BitLayout::partitionable;
        bool swapped = false; // the upper end is the first number
    };
    static std::vector<Kind> candidates(const Draft& draft, const std::vector<DraftId>& arguments,
                                        const DraftType& result);
    static std::optional<Found> find(ProgramWalk& walk, const MlirFunction& function,
                                     const std::vector<DraftId>& arguments, const DraftType& result,
                                     const std::vector<Kind>& kinds);
    // Of the cipher itself, with 0 as the first word of each block, which is what fold_in_word computes.
    bool is_cipher(ProgramWalk& walk, const MlirFunction& function, const std::vector<DraftId>& arguments);
    static DraftId drawn(Draft& draft, const Found& found, const std::vector<DraftId>& arguments, const DraftType& type,
                         const std::vector<std::string>& numbers);
    static std::map<std::string_view, int> choices_of(Kind kind);
    static double most_off(Kind kind);
    static bool is_drawable(const Found& found, const std::vector<DraftNumber>& numbers);
    static double expected(const Found& found, Key key, const std::vector<DraftNumber>& numbers, i64 total, i64 place);

    std::map<std::string, std::optional<Found>> found_; // by function, and the numbers that it is called with
    std::map<std::string, bool> ciphers_;
};

} // namespace shard
