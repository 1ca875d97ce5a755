// Every op has a form in every engine that plans are written for, whatever op comes: no list of them stands here.
// SHARDC_OP_USES=FOLDER leaves the uses there as models and layouts, which tests/oracle/export_*_check.py run with
// `--below FOLDER`.
#include "exporter/target/target.h"
#include "planner/pipeline/pipeline.h"
#include "tests/support/op_uses.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace shard {

namespace {

// A model and a layout in a folder of their own.
void keep(const std::string& folder, const std::string& model, const std::string& layout) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/model.yaml") << model;
    std::ofstream(folder + "/layout.yaml") << layout;
}

} // namespace

TEST_CASE("property: every op and composite has a form in every target of export") {
    const char* const folder = std::getenv("SHARDC_OP_USES");
    size_t written = 0;
    for (const Operation& operation : all_operations()) {
        const std::vector<OpUse> uses = accepted_uses(operation, 3);
        for (size_t n = 0; n < uses.size(); ++n) {
            Sources sources;
            PlanRequest request;
            request.model_file = sources.add("model.yaml", model_of(uses[n]));
            request.layout_file = sources.add("layout.yaml", layout_of_uses);
            const Compilation compilation = compile(sources, request);
            INFO(sources.text(request.model_file));
            REQUIRE(compilation.plan);
            if (folder != nullptr)
                keep(std::string(folder) + "/" + operation.name + "_" + std::to_string(n), model_of(uses[n]),
                     layout_of_uses);
            for (const TargetDef* target : all_targets()) {
                Diagnostics diagnostics;
                const std::optional<std::string> text =
                    target->write ? target->write(*compilation.plan, diagnostics) : "";
                CHECK_MESSAGE(text.has_value(), text_of(sources, diagnostics));
                ++written;
            }
        }
    }
    CHECK(written > 500);
}

} // namespace shard
