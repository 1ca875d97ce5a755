// Plans a model in another program: prints what a step sends, or what is wrong.
#include "planner/pipeline/pipeline.h"

#include <cstdio>

int main() {
    shard::Sources sources;
    shard::PlanRequest request;
    request.model_file = sources.add("model.yaml", "model: product\n"
                                                   "axes: {rows: 8, inner: 16, columns: 4}\n"
                                                   "inputs: {x: {axes: [rows, inner]}}\n"
                                                   "params: {w: {axes: [inner, columns]}}\n"
                                                   "graph: [{y: {dot: [x, w]}}]\n"
                                                   "outputs: [y]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {model: 4}\n"
                                                     "rules: [{inner: model}, {rows: ~}, {columns: ~}]\n");
    const shard::Compilation compilation = shard::compile(sources, request);
    for (const shard::Diagnostic& diagnostic : compilation.diagnostics.all())
        std::printf("%s: %s\n", diagnostic.code.c_str(), diagnostic.message.c_str());
    if (!compilation.plan) return 1;
    for (const shard::CollectiveReport& collective : compilation.plan->report.collectives)
        std::printf("%s sends %lld B\n", collective.tensor.c_str(),
                    static_cast<long long>(collective.wire_bytes_per_device));
}
