#include "plans/file/plan_json_kernel.h"

#include "plans/dtype/element_bits.h"
#include "plans/file/plan_json.h"
#include "plans/file/plan_json_nouns.h"
#include "plans/file/plan_json_program.h"

#include <fmt/format.h>

namespace shard {

namespace {

// --- moves ---

std::string print_piece(const Mesh& mesh, const MovePiece& piece) {
    return JsonObject()
        .integer_unless(0, "operand", piece.operand)
        .raw("in_start", print_affines(mesh, piece.in_start))
        .raw("in_stride", json_integers(piece.in_stride))
        .raw("out_start", print_affines(mesh, piece.out_start))
        .raw("out_stride", json_integers(piece.out_stride))
        .raw("extent", json_integers(piece.extent))
        .text();
}

MovePiece read_piece(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"operand", "in_start", "in_stride", "out_start", "out_stride", "extent"});
    MovePiece piece;
    piece.operand = at.small("operand", 0);
    piece.in_start = read_affines(at["in_start"], mesh);
    piece.in_stride = at["in_stride"].integers();
    piece.out_start = read_affines(at["out_start"], mesh);
    piece.out_stride = at["out_stride"].integers();
    piece.extent = at["extent"].integers();
    return piece;
}

std::string print_move(const Mesh& mesh, const Move& move) {
    JsonObject object;
    object.flag_if("flat", move.flat);
    if (!move.permutation.empty()) object.raw("permutation", json_integers(move.permutation));
    std::vector<std::string> pieces;
    for (const MovePiece& piece : move.pieces) pieces.push_back(print_piece(mesh, piece));
    if (!pieces.empty()) object.raw("pieces", json_array(pieces));
    return object.number_unless(0, "fill", move.fill).flag_if("fills", !move.covers).text();
}

Move read_move(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"flat", "permutation", "pieces", "fill", "fills"});
    Move move;
    move.flat = at.flag("flat");
    if (at.has("permutation")) move.permutation = at["permutation"].smalls();
    if (at.has("pieces"))
        move.pieces = at["pieces"].list<MovePiece>([&mesh](const JsonAt& piece) { return read_piece(piece, mesh); });
    move.fill = at.number("fill", 0);
    move.covers = !at.flag("fills");
    return move;
}

// --- random numbers ---

std::string print_key(const Key& key) {
    const i64 words[] = {key.k0, key.k1};
    return json_integers(words);
}

Key read_key(const JsonAt& at) {
    const std::vector<i64> words = at.integers();
    if (words.size() == 2 && words[0] >= 0 && words[1] >= 0 && words[0] <= 0xFFFFFFFF && words[1] <= 0xFFFFFFFF)
        return {static_cast<std::uint32_t>(words[0]), static_cast<std::uint32_t>(words[1])};
    at.problem("a key is two 32-bit words");
    return {};
}

std::string print_random(const Mesh& mesh, const Random& random) {
    const Distribution& d = random.distribution;
    JsonObject object;
    object.string("kind", distribution_kind_name(d.kind))
        .number_unless(0, "value", d.value)
        .number_unless(0, "low", d.low)
        .number_unless(0, "high", d.high)
        .number_unless(0, "probability", d.probability)
        .number_unless(1, "scale", d.scale)
        .number_unless(0, "offset", d.offset)
        .raw("key", print_key(random.key))
        .string("bits", bit_layout_name(random.layout))
        .integer_unless(1, "multiplier", random.multiplier);
    if (!random.words.empty()) object.raw("words", print_affines(mesh, random.words));
    if (!random.folds.empty()) object.raw("folds", print_affines(mesh, random.folds));
    if (!random.blocks.empty()) object.raw("blocks", json_integers(random.blocks));
    if (!random.layers.empty()) {
        std::vector<std::string> keys;
        for (const Key& key : random.layers) keys.push_back(print_key(key));
        object.raw("layers", json_array(keys));
    }
    return object.text();
}

Random read_random(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"kind", "value", "low", "high", "probability", "scale", "offset", "key", "bits", "multiplier",
                   "words", "folds", "blocks", "layers"});
    Random random;
    Distribution& d = random.distribution;
    const JsonAt kind = at["kind"];
    const std::optional<DistributionKind> parsed = distribution_kind_from_name(kind.string());
    if (parsed)
        d.kind = *parsed;
    else
        kind.problem("unknown distribution");
    d.value = at.number("value", 0);
    d.low = at.number("low", 0);
    d.high = at.number("high", 0);
    d.probability = at.number("probability", 0);
    d.scale = at.number("scale", 1);
    d.offset = at.number("offset", 0);
    random.key = read_key(at["key"]);
    if (at.has("layers")) random.layers = at["layers"].list<Key>(read_key);
    const int multiplier = at.small("multiplier", 1);
    if (multiplier < 1) at["multiplier"].problem("a multiplier is at least 1");
    random.multiplier = static_cast<std::uint32_t>(multiplier);
    const JsonAt bits = at["bits"];
    const std::optional<BitLayout> layout = bit_layout_from_name(bits.string());
    if (layout)
        random.layout = *layout;
    else
        bits.problem("unknown layout of random bits");
    if (at.has("words")) random.words = read_affines(at["words"], mesh);
    if (at.has("folds")) random.folds = read_affines(at["folds"], mesh);
    if (at.has("blocks")) random.blocks = at["blocks"].integers();
    return random;
}

// --- lookups ---

JsonObject print_lookup(const Mesh& mesh, const Lookup& lookup, i64 size, const Affine& start) {
    JsonObject object =
        JsonObject().integer("axis", lookup.axis).integer("size", size).raw("start", print_affine(mesh, start));
    std::vector<std::vector<int>> pairs;
    for (const auto& [table, indices] : lookup.batch) pairs.push_back({table, indices});
    if (!pairs.empty()) object.raw("batch", print_int_lists(pairs));
    return object;
}

std::vector<std::pair<int, int>> read_batch(const JsonAt& at) {
    if (!at.has("batch")) return {};
    return at["batch"].list<std::pair<int, int>>([](const JsonAt& item) -> std::pair<int, int> {
        const std::vector<int> dims = item.smalls();
        if (dims.size() == 2) return {dims[0], dims[1]};
        item.problem("a pair is a dim of the table and one of the indices");
        return {};
    });
}

ScanOp read_scan_op(const JsonAt& at) {
    const std::optional<ScanOp> op = parse_scan_op(at.string());
    if (!op) at.problem("unknown scan");
    return op.value_or(ScanOp::sum);
}

// --- attention ---

std::string print_attend(const Mesh& mesh, const Attend& attend) {
    JsonObject object = JsonObject()
                            .string("part", name(attend.part))
                            .number("scale", attend.scale)
                            .flag_if("causal", attend.causal)
                            .integer_unless(0, "window", attend.window)
                            .number_unless(0, "soft_cap", attend.soft_cap);
    if (attend.start != Affine{}) object.raw("start", print_affine(mesh, attend.start));
    if (attend.kept) object.raw("kept", print_generate(mesh, *attend.kept));
    return object.text();
}

Attend read_attend(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"part", "scale", "causal", "window", "soft_cap", "start", "kept"});
    Attend attend;
    const JsonAt part = at["part"];
    const std::optional<AttendPart> parsed = parse_attend_part(part.string());
    if (!parsed) part.problem("unknown part of attention");
    attend.part = parsed.value_or(AttendPart::values);
    attend.scale = at["scale"].number();
    attend.causal = at.flag("causal");
    attend.window = at.integer("window", 0);
    attend.soft_cap = at.number("soft_cap", 0);
    if (at.has("start")) attend.start = read_affine(at["start"], mesh);
    if (at.has("kept")) attend.kept = read_generate(at["kept"], mesh);
    return attend;
}

// --- contractions of groups ---

std::string print_ragged(const Mesh& mesh, const RaggedContract& ragged) {
    JsonObject object = JsonObject().string("part", name(ragged.part)).flag_if("transposed", ragged.transposed);
    if (ragged.row != Affine{}) object.raw("row", print_affine(mesh, ragged.row));
    if (ragged.group != Affine{}) object.raw("group", print_affine(mesh, ragged.group));
    return object.text();
}

RaggedContract read_ragged(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"part", "transposed", "row", "group"});
    RaggedContract ragged;
    const JsonAt part = at["part"];
    const std::optional<RaggedPart> parsed = parse_ragged_part(part.string());
    if (!parsed) part.problem("unknown part of a ragged contraction");
    ragged.part = parsed.value_or(RaggedPart::rows);
    ragged.transposed = at.flag("transposed");
    if (at.has("row")) ragged.row = read_affine(at["row"], mesh);
    if (at.has("group")) ragged.group = read_affine(at["group"], mesh);
    return ragged;
}

// --- windows ---

std::string print_slides(const std::vector<Slide>& slides) {
    std::vector<std::string> items;
    for (const Slide& slide : slides)
        items.push_back(JsonObject()
                            .integer_unless(1, "stride", slide.stride)
                            .integer_unless(0, "low", slide.low)
                            .integer_unless(1, "dilation", slide.dilation)
                            .integer_unless(1, "input_dilation", slide.input_dilation)
                            .flag_if("reversed", slide.reversed)
                            .text());
    return json_array(items);
}

std::vector<Slide> read_slides(const JsonAt& at) {
    return at.list<Slide>([](const JsonAt& item) {
        item.known_keys({"stride", "low", "dilation", "input_dilation", "reversed"});
        return Slide{item.integer("stride", 1), item.integer("low", 0), item.integer("dilation", 1),
                     item.integer("input_dilation", 1), item.flag("reversed")};
    });
}

std::string print_select(const SelectWindows& select) {
    return JsonObject()
        .flag_if("smallest", select.smallest)
        .raw("window", json_integers(select.window))
        .raw("slides", print_slides(select.slides))
        .raw("start", json_integers(select.start))
        .text();
}

std::string print_body(const Mesh& mesh, const Kernel& kernel) {
    if (const Convolve* convolve = std::get_if<Convolve>(&kernel))
        return JsonObject()
            .string("dims", convolve->dims)
            .integer_unless(1, "groups", convolve->groups)
            .raw("windows", print_slides(convolve->windows))
            .text();
    if (const ReduceWindows* reduce = std::get_if<ReduceWindows>(&kernel))
        return JsonObject()
            .string("op", name(reduce->op))
            .raw("window", json_integers(reduce->window))
            .raw("slides", print_slides(reduce->slides))
            .text();
    if (const SelectWindows* select = std::get_if<SelectWindows>(&kernel)) return print_select(*select);
    if (const Contract* contract = std::get_if<Contract>(&kernel))
        return JsonObject()
            .raw("lhs", json_integers(contract->lhs))
            .raw("rhs", json_integers(contract->rhs))
            .raw("out", json_integers(contract->out))
            .text();
    if (const Pointwise* pointwise = std::get_if<Pointwise>(&kernel))
        return add_program(mesh, *pointwise, JsonObject()).text();
    if (const Reduce* reduce = std::get_if<Reduce>(&kernel)) {
        JsonObject object;
        object.raw("dims", json_integers(reduce->dims)).string("op", name(reduce->op));
        if (reduce->made) {
            JsonObject made;
            made.raw("shape", json_integers(reduce->made->shape));
            object.raw("made", add_program(mesh, reduce->made->program, std::move(made)).text());
        }
        return object.text();
    }
    if (const Scan* scan = std::get_if<Scan>(&kernel))
        return JsonObject()
            .integer("dim", scan->dim)
            .string("op", name(scan->op))
            .flag_if("reverse", scan->reverse)
            .text();
    if (const Sort* sort = std::get_if<Sort>(&kernel))
        return JsonObject().integer("dim", sort->dim).flag_if("descending", sort->descending).text();
    if (const Attend* attend = std::get_if<Attend>(&kernel)) return print_attend(mesh, *attend);
    if (const RaggedContract* ragged = std::get_if<RaggedContract>(&kernel)) return print_ragged(mesh, *ragged);
    if (const Move* move = std::get_if<Move>(&kernel)) return print_move(mesh, *move);
    if (const Gather* gather = std::get_if<Gather>(&kernel))
        return print_lookup(mesh, gather->lookup(), gather->size, gather->start).text();
    if (const Scatter* scatter = std::get_if<Scatter>(&kernel)) {
        JsonObject object = print_lookup(mesh, scatter->lookup(), scatter->size, scatter->start);
        if (scatter->op != ReduceOp::sum) object.string("op", name(scatter->op));
        return object.text();
    }
    return print_generate(mesh, std::get<Generate>(kernel));
}

// Long ones are the bytes of f64, which read and are read faster than decimals.
constexpr size_t most_decimals = 1024;

std::string print_literal(const Literal& literal) {
    if (literal.values.size() > most_decimals) {
        std::vector<ElementNumber> numbers;
        for (const Number& value : literal.values) numbers.push_back({value, 0});
        return json_string(element_bytes(numbers, DType::f64));
    }
    std::vector<std::string> values;
    for (const Number& value : literal.values) values.push_back(json_number(value));
    return json_array(values);
}

Literal read_literal(const JsonAt& at) {
    if (!at.is_string()) return {at.list<Number>([](const JsonAt& value) { return value.number(); })};
    const std::optional<std::vector<ElementNumber>> numbers = read_element_bytes(at.text(), DType::f64);
    if (!numbers) at.problem("expected the bytes of f64 numbers, in hexadecimal digits behind 0x");
    Literal literal;
    for (const ElementNumber& number : numbers.value_or(std::vector<ElementNumber>()))
        literal.values.push_back(number.real);
    return literal;
}

} // namespace

std::string print_generate(const Mesh& mesh, const Generate& generate) {
    JsonObject object;
    if (const Fill* fill = std::get_if<Fill>(&generate.source)) object.number("fill", fill->value);
    if (const Iota* iota = std::get_if<Iota>(&generate.source)) object.integer("iota", iota->dim);
    if (const Random* random = std::get_if<Random>(&generate.source)) object.raw("random", print_random(mesh, *random));
    if (const Literal* literal = std::get_if<Literal>(&generate.source)) object.raw("literal", print_literal(*literal));
    return object.raw("shape", json_integers(generate.shape)).raw("start", print_affines(mesh, generate.start)).text();
}

Generate read_generate(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"fill", "iota", "random", "literal", "shape", "start"});
    Generate generate;
    if (at.has("fill"))
        generate.source = Fill{at["fill"].number()};
    else if (at.has("iota"))
        generate.source = Iota{at["iota"].small()};
    else if (at.has("random"))
        generate.source = read_random(at["random"], mesh);
    else if (at.has("literal"))
        generate.source = read_literal(at["literal"]);
    else
        at.problem("one of fill, iota, random and literal is needed");
    generate.shape = at["shape"].integers();
    generate.start = read_affines(at["start"], mesh);
    return generate;
}

std::string print_kernel(const Mesh& mesh, const Kernel& kernel) {
    return JsonObject().raw(class_name(kernel), print_body(mesh, kernel)).text();
}

Kernel read_kernel(const JsonAt& at, const Mesh& mesh) {
    const std::string_view key = at.only_key();
    if (key.empty()) return Generate{};
    const JsonAt body = at[key];
    if (key == "contract") {
        body.known_keys({"lhs", "rhs", "out"});
        return Contract{body["lhs"].smalls(), body["rhs"].smalls(), body["out"].smalls()};
    }
    if (key == "pointwise") {
        body.known_keys({"inputs", "steps"});
        return read_program(body, mesh);
    }
    if (key == "reduce") {
        body.known_keys({"dims", "op", "made"});
        Reduce reduce{body["dims"].smalls(), read_reduce(body["op"])};
        if (body.has("made")) {
            const JsonAt made = body["made"];
            made.known_keys({"shape", "inputs", "steps"});
            reduce.made = {made["shape"].integers(), read_program(made, mesh)};
        }
        return reduce;
    }
    if (key == "move") return read_move(body, mesh);
    if (key == "scan") {
        body.known_keys({"dim", "op", "reverse"});
        return Scan{body["dim"].small(), read_scan_op(body["op"]), body.flag("reverse")};
    }
    if (key == "sort") {
        body.known_keys({"dim", "descending"});
        return Sort{body["dim"].small(), body.flag("descending")};
    }
    if (key == "attend") return read_attend(body, mesh);
    if (key == "ragged_contract") return read_ragged(body, mesh);
    if (key == "convolve") {
        body.known_keys({"dims", "groups", "windows"});
        return Convolve{body["dims"].string(), body.integer("groups", 1), read_slides(body["windows"])};
    }
    if (key == "reduce_windows") {
        body.known_keys({"op", "window", "slides"});
        return ReduceWindows{read_reduce(body["op"]), body["window"].integers(), read_slides(body["slides"])};
    }
    if (key == "select_windows") {
        body.known_keys({"smallest", "window", "slides", "start"});
        return SelectWindows{body.flag("smallest"), body["window"].integers(), read_slides(body["slides"]),
                             body["start"].integers()};
    }
    if (key == "gather") {
        body.known_keys({"axis", "size", "start", "batch"});
        return Gather{body["axis"].small(), body["size"].integer(), read_affine(body["start"], mesh), read_batch(body)};
    }
    if (key == "scatter") {
        body.known_keys({"axis", "size", "start", "op", "batch"});
        return Scatter{body["axis"].small(), body["size"].integer(), read_affine(body["start"], mesh),
                       body.has("op") ? read_reduce(body["op"]) : ReduceOp::sum, read_batch(body)};
    }
    if (key == "generate") return read_generate(body, mesh);
    at.problem(fmt::format("unknown kernel class \"{}\"", key.substr(0, 60)));
    return Generate{};
}

} // namespace shard
