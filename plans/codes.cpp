// Every diagnostic code and what `shardc explain CODE` says about it. Codes are never reused or renumbered.
#include "plans/diagnostic.h"

#include <algorithm>

namespace shard {

const std::vector<CodeDoc>& all_codes() {
    static const std::vector<CodeDoc> codes = {
        {"E0101", "not valid YAML",
         "The file could not be parsed as YAML. An unquoted ? or an unclosed bracket are the usual causes: write \"?\" for an open dimension."},
        {"E0701", "bad command line",
         "The command, an option or its value is not one that shardc knows. `shardc --help` lists commands, `shardc COMMAND --help` options."},
        {"E0702", "file cannot be read", "A file named on the command line does not exist or cannot be read."},
        {"E0703", "file cannot be written", "A file could not be written. Nothing was left half-written: files appear whole, by rename, or not at all."},
    };
    return codes;
}

const CodeDoc* find_code(std::string_view code) {
    const std::vector<CodeDoc>& codes = all_codes();
    std::vector<CodeDoc>::const_iterator it = std::find_if(codes.begin(), codes.end(), [code](const CodeDoc& doc) { return doc.code == code; });
    return it == codes.end() ? nullptr : &*it;
}

} // namespace shard
