// The small languages: shardings, axes, einsum equations and globs. The first byte says which; what is accepted must
// mean the same when it is printed and read again.
#include "planner/model/layout.h"
#include "planner/ops_support/equation.h"
#include "planner/text/glob.h"
#include "tests/fuzz/reading_fuzz.h"

#include <vector>

namespace shard {

namespace {

Mesh small_mesh() {
    Mesh mesh;
    mesh.axes = {{"a", 4, ""}, {"model", 6, ""}, {"x-1", 8, ""}};
    return mesh;
}

void check_sharding(std::string_view text_in) {
    const Mesh mesh = small_mesh();
    const std::optional<Sharding> sharding = parse_sharding(mesh, text_in);
    if (sharding) require(parse_sharding(mesh, text(mesh, *sharding)) == sharding);
    const std::optional<AxisRef> axis = parse_axis_ref(mesh, text_in);
    if (axis) require(parse_axis_ref(mesh, text(mesh, *axis)) == axis);
}

void check_equation(std::string_view text_in) {
    // Two operands, and ranks that "..." has to fit.
    for (const size_t rank : {size_t{0}, size_t{1}, size_t{3}}) {
        const std::vector<TensorType> operands = {{DType::f32, {2, 3}, {}}, {DType::f32, Shape(rank, 3), {}}};
        for (const size_t count : {size_t{1}, size_t{2}}) {
            const std::span<const TensorType> some = std::span(operands).first(count);
            std::string problem;
            const std::optional<Contraction> contraction = parse_equation(text_in, some, problem);
            require(contraction.has_value() == problem.empty());
            if (!contraction) continue;
            const std::string printed = equation_text(*contraction);
            const std::optional<Contraction> again = parse_equation(printed, some, problem);
            require(again.has_value() && equation_text(*again) == printed);
        }
    }
}

void check_glob(std::string_view text_in) {
    const size_t middle = text_in.find('\n');
    if (middle == std::string_view::npos) return;
    const std::string_view glob = text_in.substr(0, middle), path = text_in.substr(middle + 1);
    const bool matches = glob_matches(glob, path);
    require(matches || glob != path || is_glob(glob));
    require(glob_matches("**", path));
}

} // namespace

} // namespace shard

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0]) {
    case 's':
        shard::check_sharding(text);
        break;
    case 'e':
        shard::check_equation(text);
        break;
    case 'g':
        shard::check_glob(text);
        break;
    default:
        break;
    }
    return 0;
}
