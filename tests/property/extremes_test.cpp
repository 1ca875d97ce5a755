// Whatever stands in a model or a layout: every argument of every op at its extremes, alone and in combinations, and
// every other key. SHARDC_EXTREMES=20000 looks further than the cases of every day, SHARDC_SEED=5 elsewhere. The case that runs is kept in a
// file beside the other files of tests, so that a crash can be told.
#include "tests/support/judge_case.h"
#include "tests/support/op_uses.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <test_paths.h>

using namespace shard;

namespace {

size_t case_count(size_t usual) {
    const char* wanted = std::getenv("SHARDC_EXTREMES");
    return wanted == nullptr ? usual : static_cast<size_t>(std::atoll(wanted));
}

std::uint32_t first_seed() {
    const char* wanted = std::getenv("SHARDC_SEED");
    return wanted == nullptr ? 0 : static_cast<std::uint32_t>(std::atoll(wanted)) * 10'000'000;
}

struct Tally {
    explicit Tally(std::string name) : file(SHARDC_TEST_DIR "/extremes_" + std::move(name)) {}

    void judge(const std::string& model, const std::string& layout, const std::string& mode) {
        std::ofstream(file) << model << "====\n" << layout << "==== " << mode << '\n';
        const Verdict verdict = judge_case(model, layout, mode);
        ++cases;
        refused += verdict.refused ? 1 : 0;
        ran += verdict.ran ? 1 : 0;
        if (verdict.problem.empty()) return;
        INFO(model << "====\n" << layout << "==== " << mode);
        ++problems;
        FAIL_CHECK(verdict.problem);
    }

    std::string file;
    size_t cases = 0, refused = 0, ran = 0, problems = 0;
};

std::vector<std::uint32_t> tape_of(std::uint32_t seed) {
    std::vector<std::uint32_t> numbers(64);
    std::uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
    for (std::uint32_t& number : numbers) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        number = static_cast<std::uint32_t>(state >> 33);
    }
    return numbers;
}

Yaml scalar(const std::string& text) { return {{}, YamlScalar{text, false}}; }

// An operand's list, in a use.
YamlList* operands_of(OpUse& use) {
    for (YamlEntry& entry : std::get<YamlMap>(use.entry.value))
        if (entry.key == "in") return std::get_if<YamlList>(&entry.value.value);
    return std::get_if<YamlList>(&std::get<YamlMap>(use.entry.value).front().value.value);
}

void set_argument(OpUse& use, const Operation& operation, std::string_view name, const Yaml& value) {
    YamlMap& map = std::get<YamlMap>(use.entry.value);
    const std::string key = name == operation.subject ? operation.name : std::string(name);
    for (YamlEntry& entry : map)
        if (entry.key == key) {
            entry.value = value;
            return;
        }
    map.push_back({key, {}, value});
}

// One thing about the use is extreme.
std::vector<OpUse> single_extremes(const Operation& operation, const OpUse& base) {
    std::vector<OpUse> made;
    for (const AttributeDef& def : operation.attributes)
        for (const Yaml& extreme : extremes()) {
            made.push_back(base);
            set_argument(made.back(), operation, def.name, extreme);
        }
    OpUse probe = base;
    const YamlList* list = operands_of(probe);
    const size_t count = list ? list->size() : 0;
    for (size_t n = 0; n < count; ++n) {
        std::vector<Yaml> others = extremes();
        for (const std::string& name : operand_names()) others.push_back(scalar(name));
        for (const Yaml& other : others) {
            made.push_back(base);
            (*operands_of(made.back()))[n] = other;
        }
    }
    for (size_t n : {0, 1, 2, 3, 4, 5, 9, 40}) {
        if (!list) break;
        made.push_back(base);
        operands_of(made.back())->resize(n, scalar("x"));
    }
    return made;
}

std::string file_text(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(SHARDC_SOURCE_DIR "/" + path).rdbuf();
    return text.str();
}

// The seeds of the fuzzer, which have every key of models and layouts between them, and some examples.
struct Seed {
    std::string model, layout, mode;
};
std::vector<Seed> seeds() {
    std::vector<Seed> made;
    const auto add = [&made](const std::string& model, const std::string& layout) {
        made.push_back({model, layout, "forward"});
        if (model.find("\ntrain:") != std::string::npos) made.push_back({model, layout, "train"});
    };
    for (const char* name : {"every_key", "declared_gradient", "weight_gather"}) {
        const std::string text = file_text(fmt::format("tests/fuzz/corpus/compile/{}", name)), divider = "\n====\n";
        const size_t middle = text.find(divider);
        REQUIRE(middle != std::string::npos);
        add(text.substr(0, middle + 1), text.substr(middle + divider.size()));
    }
    for (const char* name : {"linen_guide", "manual/data_parallel", "manual/ring_matmul", "manual/fold_in"}) {
        const std::string folder = fmt::format("examples/{}/", name);
        add(file_text(folder + "model.yaml"), file_text(folder + "layout.yaml"));
    }
    return made;
}

} // namespace

TEST_CASE("property: every op has a use that is planned") {
    for (const Operation& operation : all_operations()) {
        INFO(operation.name);
        const std::vector<OpUse> uses = accepted_uses(operation, 1);
        CHECK_FALSE(uses.empty());
    }
}

TEST_CASE("property: an op with one extreme argument or operand is refused, or right") {
    Tally tally("single");
    std::vector<std::pair<OpUse, Surroundings>> all;
    for (const Operation& operation : all_operations())
        for (const OpUse& base : accepted_uses(operation, 1))
            for (const OpUse& use : single_extremes(operation, base)) all.emplace_back(use, base.surroundings);
    // Strides that have no factor in common with the count take other cases all over the list.
    const size_t count = std::min(case_count(1500), all.size());
    size_t stride = all.size() / count;
    for (size_t n = 0, at = 0; n < count; ++n, at += stride)
        tally.judge(model_of(all[at].first), layout_of_uses, "forward");
    MESSAGE(tally.cases << " of " << all.size() << " cases, " << tally.refused << " refused, " << tally.ran << " run");
    CHECK(tally.refused > count / 10);
    CHECK(tally.ran > count / 12);
}

TEST_CASE("property: ops with several extreme arguments, anywhere, are refused, or right") {
    Tally tally("several");
    std::vector<std::pair<Operation, std::vector<OpUse>>> bases;
    for (const Operation& operation : all_operations()) bases.emplace_back(operation, accepted_uses(operation, 3));
    const size_t count = case_count(1500);
    for (size_t n = 0; n < count; ++n) {
        const std::vector<std::uint32_t> numbers = tape_of(first_seed() + static_cast<std::uint32_t>(n));
        Tape tape(numbers);
        const auto& [operation, uses] = bases[n % bases.size()];
        if (uses.empty()) continue;
        OpUse use = uses[tape.choose(uses.size())];
        const size_t changes = tape.choose(4);
        for (size_t change = 0; change < changes; ++change) {
            if (!operation.attributes.empty() && tape.chance(2)) {
                const AttributeDef& def = operation.attributes[tape.choose(operation.attributes.size())];
                set_argument(use, operation, def.name, extremes()[tape.choose(extremes().size())]);
                continue;
            }
            // A value of the entry, not the entry itself.
            YamlMap& map = std::get<YamlMap>(use.entry.value);
            disturb(map[tape.choose(map.size())].value, tape);
        }
        if (use.surroundings != Surroundings::manual || tape.chance(4))
            use.surroundings = static_cast<Surroundings>(tape.choose(4));
        tally.judge(model_of(use), layout_of_uses, "forward");
    }
    MESSAGE(tally.cases << " cases, " << tally.refused << " refused, " << tally.ran << " run");
    CHECK(tally.refused > count / 10);
    CHECK(tally.ran > count / 10);
}

TEST_CASE("property: models and layouts with extreme values anywhere are refused, or right") {
    Tally tally("files");
    const std::vector<Seed> all = seeds();
    for (const Seed& seed : all) tally.judge(seed.model, seed.layout, seed.mode);
    CHECK(tally.refused == 0);
    const size_t count = case_count(1000);
    for (size_t n = 0; n < count; ++n) {
        const std::vector<std::uint32_t> numbers = tape_of(first_seed() + static_cast<std::uint32_t>(n + 1000000));
        Tape tape(numbers);
        const Seed& seed = all[n % all.size()];
        Yaml model = yaml_of(seed.model), layout = yaml_of(seed.layout);
        const size_t changes = 1 + tape.choose(3);
        for (size_t change = 0; change < changes; ++change) disturb(tape.chance(3) ? layout : model, tape);
        tally.judge(text_of(model), text_of(layout), seed.mode);
    }
    MESSAGE(tally.cases << " cases, " << tally.refused << " refused, " << tally.ran << " run");
    CHECK(tally.refused > count / 10);
    CHECK(tally.ran > count / 100);
}
