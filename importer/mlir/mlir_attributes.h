// The parts of an op that are no ops: attributes, types and locations, of any dialect.
//
// What stands between brackets is a list of items, separated by commas, of one or more parts each, with or without a
// key: #stablehlo.dot<lhs_contracting_dimensions = [1]>, <@mesh, [{"data"}, {?}]>, [b, 0, f]x[0, i, o]->[b, 0, f].
#pragma once

#include "importer/mlir/mlir_cursor.h"
#include "importer/mlir/mlir_module.h"

namespace shard {

// A guard for everything that nests in a text: beyond 64 levels it is an error (E0802), so no text exhausts the stack.
class MlirDepth {
public:
    MlirDepth(MlirCursor& cursor, int& depth);
    ~MlirDepth() { --depth_; }
    MlirDepth(const MlirDepth&) = delete;
    MlirDepth& operator=(const MlirDepth&) = delete;

private:
    int& depth_;
};

class MlirAttributeReader {
public:
    MlirAttributeReader(MlirCursor& cursor, MlirModule& module) : cursor_(cursor), module_(module) {}

    // With `typed`, a number may be followed by ": i64", which is left out of what is read.
    MlirAttribute attribute(bool typed);
    std::vector<MlirItem> items(char close); // what follows an open bracket, up to the one that closes it
    MlirType type();
    int location();         // loc(...), if it comes next; else -1
    void alias();           // #name = ..., at the top of a file
    void resolve_aliases(); // of locations, which may be defined below their use
    int& depth() { return depth_; }

private:
    bool begins_type();
    MlirItem item(char close);
    MlirAttribute bracketed(std::string text, char close);
    MlirAttribute alias_of(const std::string& name);
    MlirAttribute after_word(const Span& begin);
    void elements(MlirAttribute& attribute);
    void element_list(MlirAttribute& attribute);
    int location_body();

    MlirCursor& cursor_;
    MlirModule& module_;
    int depth_ = 0;
    i64 copied_ = 0; // attributes that aliases stood for
    std::map<std::string, MlirAttribute> attribute_aliases_;
    std::map<std::string, int> location_aliases_;
    std::vector<std::pair<int, std::string>> unresolved_; // a location, and the alias that is inside it
};

} // namespace shard
