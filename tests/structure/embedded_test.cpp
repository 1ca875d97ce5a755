#include "planner/text/embedded_texts.h"
#include "plans/base/base.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "test_paths.h"

using namespace shard;

namespace {

i64 count_files(const std::filesystem::path& folder, const std::string& extension) {
    if (!std::filesystem::exists(folder)) return 0;
    i64 count = 0;
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == extension) ++count;
    return count;
}

void check_table(std::span<const EmbeddedText> table, const std::string& folder, const std::string& extension) {
    const std::filesystem::path root = std::filesystem::path(SHARDC_SOURCE_DIR) / folder;
    CHECK(static_cast<i64>(table.size()) == count_files(root, extension));
    CHECK(std::is_sorted(table.begin(), table.end(),
                         [](const EmbeddedText& a, const EmbeddedText& b) { return a.name < b.name; }));
    for (const EmbeddedText& entry : table) {
        std::ifstream file(root / (std::string(entry.name) + extension), std::ios::binary);
        CHECK_MESSAGE(std::string(std::istreambuf_iterator<char>(file), {}) == entry.text, entry.name);
    }
}

} // namespace

TEST_CASE("embedded texts equal the files they came from") {
    check_table(embedded_hardware(), "planner/hardware", ".yaml");
    check_table(embedded_schemas(), "schemas", ".json");
}
