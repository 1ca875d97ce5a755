// What the readers say of files, one line per file: "ok" or the codes of its errors. For cross_check.py, which asks the
// schemas about the same files.
//
//     form_check model a.yaml b.yaml
#include "cli/check/config.h"
#include "planner/model/layout.h"
#include "planner/read/include.h"
#include "planner/read/layout_reader.h"
#include "planner/read/model_reader.h"
#include "planner/read/policy_reader.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <set>

using namespace shard;

namespace {

void includes_nothing(Sources&, int) {}

template<typename Result>
void check(const std::string& path, std::optional<Result> (*read)(const Sources&, int, Diagnostics&),
           void (*load)(Sources&, int) = includes_nothing) {
    std::ifstream in(path, std::ios::binary);
    Sources sources;
    const int file = sources.add(path, std::string(std::istreambuf_iterator<char>(in), {}));
    Diagnostics diagnostics;
    load(sources, file);
    read(sources, file, diagnostics);
    std::set<std::string> codes;
    for (const Diagnostic& diagnostic : diagnostics.all()) codes.insert(diagnostic.code);
    if (codes.empty()) std::cout << "ok";
    for (const std::string& code : codes) std::cout << code << ' ';
    std::cout << '\n';
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const std::string kind = argv[1];
    for (int i = 2; i < argc; ++i) {
        if (kind == "model")
            check<Model>(argv[i], read_model, [](Sources& sources, int file) { load_includes(sources, file); });
        else if (kind == "layout")
            check<Layout>(argv[i], read_layout);
        else if (kind == "policy")
            check<PolicyDecl>(argv[i], read_policy);
        else if (kind == "config")
            check<CheckConfig>(argv[i], read_config);
        else
            return 2;
    }
    return 0;
}
