// A program in the text of MLIR, as it was read: functions, ops, values, attributes, places. Nothing here knows what an
// op means. The pretty and the generic form of an op give the same operands, results and regions; their attributes are
// called differently (`dims`, `broadcast_dimensions`), and importer/ops/ knows both.
//
//     %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<32xf32>) -> tensor<8x32xf32>
//
// is an op with the operand %0, the result %1 and the item `dims`.
#pragma once

#include "plans/diagnostics/diagnostic.h"
#include "plans/sharding/type.h"

#include <map>
#include <optional>

namespace shard {

struct MlirType {
    std::string element; // "f32", "i1", "complex<f32>"; of what is no tensor, its whole text
    Shape shape;
    bool is_tensor = false;
    bool operator==(const MlirType&) const = default;
};
std::string text_of(const MlirType& type); // "tensor<8x32xf32>"
i64 element_count(const MlirType& type);   // of what was read, which is checked to fit 60 bits

struct MlirItem;

// One tree for attributes of all dialects: what a dialect writes between brackets is a list of items.
struct MlirAttribute {
    enum class Kind {
        integer,
        word,     // DEFAULT, true, 1.0e-3, ?
        text,     // "in quotes"
        symbol,   // @main, without the @
        type,     // tensor<8xf32>
        list,     // [..], (..), {..}, <..>; `text` is what stands before it: "#stablehlo.gather", "["
        elements, // dense<..> : tensor<..>
    };
    Kind kind = Kind::word;
    Span span;
    std::string text;
    i64 integer = 0;
    std::vector<MlirItem> items;
    MlirType type;                    // of elements, and of a type
    std::vector<std::string> numbers; // of elements, row-major; one for all of them; none if `text` has their bytes
    bool is_listed = false;           // [1.0], which is one element, and not 1.0, which is all of them
};

// Of `key = part part`, with or without the key.
struct MlirItem {
    std::string key;
    std::vector<MlirAttribute> parts;
};

// Where an op comes from, in the program that was traced: a name ("jit(f)/dot_general"), a file, or others inside.
struct MlirLocation {
    std::string name;
    std::string file;
    int line = 0;
    std::vector<int> inside;
};

using MlirId = int; // of a value, in the whole module

struct MlirValue {
    MlirType type;
    Span span;         // where it is defined
    int location = -1; // of an argument
};

struct MlirRegion;

struct MlirOp {
    std::string name; // "stablehlo.add"
    Span span;        // of the name
    std::vector<MlirId> operands, results;
    std::vector<MlirItem> items; // attributes; those without a key are symbols, words and brackets of a pretty form
    std::vector<MlirRegion> regions;
    int location = -1;
};

struct MlirRegion {
    std::vector<MlirId> arguments;
    std::vector<MlirOp> ops;
};

struct MlirFunction {
    std::string name;
    Span span;
    std::vector<MlirItem> argument_attributes,
        result_attributes; // one each; an item without parts where there are none
    MlirRegion body;
};

struct MlirModule {
    std::string name;
    i64 partitions = 0;                                              // devices that it is for; 0 if it says none
    std::vector<MlirFunction> functions;                             // added by add()
    std::map<std::string, size_t, std::less<>> function_places = {}; // by name
    std::vector<MlirOp> ops;                                         // of the module itself: sdy.mesh
    std::vector<MlirValue> values;
    std::vector<MlirLocation> locations;

    void add(MlirFunction function);
    const MlirFunction* find(std::string_view function) const; // of several of one name the first
    const MlirType& type(MlirId value) const { return values[value].type; }
    std::string location_name(int location) const; // the outermost name, or empty
};

// The attribute called so, of an op or a list: its first part, or null. Several names are tried in turn.
const MlirAttribute* find_attribute(const std::vector<MlirItem>& items, std::initializer_list<std::string_view> keys);
const MlirItem* find_item(const std::vector<MlirItem>& items, std::initializer_list<std::string_view> keys);
// Which of some words is said, by itself, as `key = LT` or as `key = #stablehlo<comparison_direction LT>`; or empty.
std::string chosen_word(const std::vector<MlirItem>& items, std::initializer_list<std::string_view> keys,
                        std::initializer_list<std::string_view> choices);

// Whether a text is meant to be one: its first word that is no alias is a module or a function.
bool looks_like_mlir(std::string_view text);

} // namespace shard
