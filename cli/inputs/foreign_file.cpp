#include "cli/inputs/foreign_file.h"

#include "plans/base/characters.h"

#include <algorithm>
#include <cstdint>

namespace shard {

namespace {

constexpr std::string_view lower_it =
    "give the program that it traces: write jax.jit(f).lower(...).as_text(debug_info=True) to a FILE.mlir, or run it "
    "with JAX_DUMP_IR_TO=FOLDER, and name the .mlir";
constexpr std::string_view name_a_layout = "a layout is YAML with a `mesh`; `shardc init` writes one";
constexpr std::string_view holds_values = "it holds values, and a model says what is computed; `shardc run PLAN "
                                          "--restore FILE` takes parameters from safetensors";

constexpr ForeignFile python = {"a Python program", lower_it, name_a_layout};

bool begins_with_word(std::string_view line, std::string_view word) {
    return line.starts_with(word) && line.size() > word.size() && line[word.size()] == ' ';
}

// The first line that says something, without its indentation; empty if there is none.
std::string_view first_line(std::string_view text) {
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
        if (!line.empty() && (line[0] != '#' || line.starts_with("#!"))) return line;
    }
    return {};
}

bool is_python(std::string_view line) {
    if (line.starts_with("#!")) return line.find("python") != std::string_view::npos;
    if (line.starts_with("\"\"\"") || line.starts_with("'''") || line.starts_with("@")) return true;
    if (begins_with_word(line, "from")) return line.find(" import ") != std::string_view::npos;
    if (begins_with_word(line, "import")) return line.find(':') == std::string_view::npos;
    return (begins_with_word(line, "def") || begins_with_word(line, "class")) && line.find(':') != line.npos;
}

// Its header's length in eight bytes, then the header in JSON.
bool is_safetensors(std::string_view text) {
    if (text.size() < 10) return false;
    uint64_t length = 0;
    for (size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(text[i]);
    return text[8] == '{' && length <= text.size() - 8 && length >= 2;
}

// A file of one value, a table or an object that others write.
std::optional<ForeignFile> by_first_bytes(std::string_view text) {
    if (text.starts_with("ML\xEFR"))
        return ForeignFile{"a program in MLIR's bytecode",
                           "write it as text: jax.jit(f).lower(...).as_text(debug_info=True), or `stablehlo-opt FILE`",
                           name_a_layout};
    if (text.starts_with("\x93NUMPY")) return ForeignFile{"an array of numpy", holds_values, name_a_layout};
    if (text.starts_with("PK\x03\x04"))
        return ForeignFile{"a zip archive, as numpy.savez and torch.save write", holds_values, name_a_layout};
    if (text.starts_with("\x89HDF")) return ForeignFile{"an HDF5 file", holds_values, name_a_layout};
    if (text.starts_with("\x1F\x8B"))
        return ForeignFile{"compressed by gzip", "unpack it: gunzip FILE", "unpack it: gunzip FILE"};
    if (text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5)
        return ForeignFile{"a pickle of Python", holds_values, name_a_layout};
    if (is_safetensors(text)) return ForeignFile{"a file of safetensors", holds_values, name_a_layout};
    return std::nullopt;
}

} // namespace

std::optional<ForeignFile> foreign_file(std::string_view name, std::string_view text) {
    if (const std::optional<ForeignFile> binary = by_first_bytes(text)) return binary;
    const std::string_view line = first_line(text);
    const std::string_view head = text.substr(0, 1 << 16), tail = text.substr(text.size() - head.size());
    if (line.starts_with('{') && (head.find("\"nbformat\"") != head.npos || tail.find("\"nbformat\"") != tail.npos))
        return ForeignFile{"a Jupyter notebook", lower_it, name_a_layout};
    if (line.starts_with("HloModule "))
        return ForeignFile{"a program of HLO",
                           "give it before XLA compiles it: jax.jit(f).lower(...).as_text(debug_info=True)",
                           name_a_layout};
    if (line.starts_with("{ lambda "))
        return ForeignFile{"a jaxpr", "give what it is lowered to: jax.jit(f).lower(...).as_text(debug_info=True)",
                           name_a_layout};
    if (name.ends_with(".py") || is_python(line)) return python;
    if (name.ends_with(".toml"))
        return ForeignFile{"a file of TOML", "a model is YAML with a `graph`, or a program of StableHLO",
                           "`shardc rules torchtitan FILE.toml` makes a layout of a job's config"};
    if (name.ends_with(".gin"))
        return ForeignFile{"a file of gin", "a model is YAML with a `graph`, or a program of StableHLO",
                           "`shardc rules t5x FILE.gin` makes a layout of it"};
    if (text.starts_with("logical_axis_rules:") || text.find("\nlogical_axis_rules:") != text.npos)
        return ForeignFile{"a config of MaxText", "a model is YAML with a `graph`, or a program of StableHLO",
                           "`shardc rules maxtext FILE` makes a layout of it"};
    return std::nullopt;
}

} // namespace shard
