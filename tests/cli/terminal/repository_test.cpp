// What annotations, findings and patches call a file: the same from every folder of a repository.
#include "cli/terminal/repository.h"
#include "tests/support/child_process.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "test_paths.h"

namespace shard {
namespace {

namespace fs = std::filesystem;

// A repository with a folder below it that holds a model, a layout with a slip, and nothing else.
struct Checkout {
    fs::path root = fs::path(SHARDC_TEST_DIR) / fmt::format("repository_{}", ::getpid());
    Checkout() {
        fs::create_directories(root / ".git");
        fs::create_directories(root / "plans" / "deep");
        std::ofstream(root / "plans" / "model.yaml") << "model: m\naxes: {batch: 64, embed: 32}\n"
                                                        "inputs: {x: {axes: [batch, embed]}}\n"
                                                        "graph: [{y: {relu: x}}]\noutputs: [y]\n";
        std::ofstream(root / "plans" / "policy.yaml") << "max_memory_per_device: 1 B\n";
        std::ofstream(root / "plans" / "layout.yaml") << "mesh: {data: 2}\nrules: [{bach: data}]\n";
    }
    Checkout(const Checkout&) = delete;
    Checkout& operator=(const Checkout&) = delete;
    ~Checkout() { fs::remove_all(root); }

    std::string path_from(const fs::path& folder, const std::string& typed) const {
        return in_child([&] {
            fs::current_path(folder);
            DiskFiles files;
            return Repository(files).path(typed);
        });
    }
    std::string check_from(const fs::path& folder, const std::string& arguments) const {
        const std::string line = fmt::format("cd '{}' && '{}' check {} > '{}'", folder.string(), SHARDC_EXECUTABLE,
                                             arguments, (root / "out").string());
        CHECK(std::system(line.c_str()) != 0);
        std::ostringstream text;
        text << std::ifstream(root / "out").rdbuf();
        return text.str();
    }
};

} // namespace

TEST_CASE("a path of a repository begins at its root, wherever it was typed") {
    const Checkout checkout;
    const fs::path below = checkout.root / "plans", deep = below / "deep";
    CHECK(checkout.path_from(checkout.root, "plans/layout.yaml") == "plans/layout.yaml");
    CHECK(checkout.path_from(checkout.root, "./plans/../plans/layout.yaml") == "plans/layout.yaml");
    CHECK(checkout.path_from(below, "layout.yaml") == "plans/layout.yaml");
    CHECK(checkout.path_from(deep, "../layout.yaml") == "plans/layout.yaml");
    CHECK(checkout.path_from(deep, (below / "layout.yaml").string()) == "plans/layout.yaml");
    // Outside it, or no file at all: as typed.
    for (const std::string typed : {"../../../other.yaml", "/etc/other.yaml", "<stdin>", "library:llama", ""})
        CHECK(checkout.path_from(deep, typed) == typed);
    CHECK(checkout.path_from("/", "tmp/layout.yaml") == "tmp/layout.yaml");
}

TEST_CASE("annotations, code scanning and patches name a file as the repository does, people read what they typed") {
    const Checkout checkout;
    const fs::path below = checkout.root / "plans";
    const std::string here = "plans/model.yaml plans/layout.yaml --strict --format ",
                      there = "model.yaml layout.yaml --strict --format ";
    for (const std::string format : {"github", "sarif", "patch"}) {
        CAPTURE(format);
        const std::string text = checkout.check_from(below, there + format);
        CHECK(text.find("plans/layout.yaml") != std::string::npos);
    }
    CHECK(checkout.check_from(below, there + "patch") == checkout.check_from(checkout.root, here + "patch"));
    CHECK(checkout.check_from(below, there + "text").find(" --> layout.yaml:2:10") != std::string::npos);
    const auto fingerprints = [](const std::string& sarif) {
        std::vector<std::string> found;
        const nlohmann::json log = nlohmann::json::parse(sarif);
        for (const nlohmann::json& result : log["runs"][0]["results"])
            found.push_back(result["partialFingerprints"]["shardc/v1"]);
        return found;
    };
    const std::vector<std::string> found =
        fingerprints(checkout.check_from(below, there + "sarif --policy policy.yaml"));
    CHECK(found.size() > 1); // the slip, and the finding
    CHECK(found == fingerprints(checkout.check_from(checkout.root, here + "sarif --policy plans/policy.yaml")));
}

} // namespace shard
