#include "plans/diagnostics/codes.h"

#include <algorithm>

namespace shard {

#define REGISTER(stem) std::vector<CodeDoc> codes_##stem();
#include "codes_registry.inc"
#undef REGISTER

namespace {

std::vector<CodeDoc> sorted_codes() {
    std::vector<CodeDoc> codes;
#define REGISTER(stem)                                                                                                 \
    for (const CodeDoc& code : codes_##stem()) codes.push_back(code);
#include "codes_registry.inc"
#undef REGISTER
    std::sort(codes.begin(), codes.end(), [](const CodeDoc& a, const CodeDoc& b) { return a.code < b.code; });
    return codes;
}

} // namespace

const std::vector<CodeDoc>& all_codes() {
    static const std::vector<CodeDoc> codes = sorted_codes();
    return codes;
}

const CodeDoc* find_code(std::string_view code) {
    const std::vector<CodeDoc>& codes = all_codes();
    std::vector<CodeDoc>::const_iterator it =
        std::find_if(codes.begin(), codes.end(), [code](const CodeDoc& doc) { return doc.code == code; });
    return it == codes.end() ? nullptr : &*it;
}

} // namespace shard
