#include "importer/mlir/mlir_reader.h"

#include "importer/mlir/mlir_attributes.h"
#include "importer/mlir/mlir_names.h"
#include "importer/mlir/mlir_parts.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace shard {

namespace {

constexpr size_t most_bytes = 64u << 20;
constexpr int most_values = 1'000'000;

// The types of an op: "(A, B) -> C", or, without an arrow, a list that is of operands or of results.
struct Signature {
    std::vector<MlirType> before, after;
    bool arrow = false;
};

class MlirReader {
public:
    MlirReader(const Sources& sources, int file, Diagnostics& diagnostics)
        : cursor_(sources, file, diagnostics), attributes_(cursor_, module_) {}

    std::optional<MlirModule> read() {
        while (!cursor_.failed()) {
            const char next = cursor_.peek();
            if (cursor_.at_end()) break;
            if (next == '#')
                attributes_.alias();
            else
                take_parts(op(), module_);
        }
        if (!cursor_.failed() && module_.functions.empty()) cursor_.expected("a function");
        if (cursor_.failed()) return std::nullopt;
        attributes_.resolve_aliases();
        return std::move(module_);
    }

private:
    MlirOp op() {
        const MlirDepth level(cursor_, attributes_.depth());
        std::vector<std::pair<std::string, int>> names = results();
        MlirOp op;
        op.span = cursor_.here();
        const bool generic = cursor_.peek() == '"';
        op.name = generic ? cursor_.quoted() : std::string(cursor_.word());
        if (op.name.empty()) cursor_.expected("an op");
        op.span = cursor_.from(op.span);
        if (op.name == "return" || op.name == "call") op.name = "func." + op.name;
        if (!generic && op.name == "func.func") {
            function(op);
            return op;
        }
        define(op, names, generic ? generic_form(op) : pretty_form(op));
        if (!generic) pretty_regions(op);
        op.location = attributes_.location();
        bound_.clear();
        return op;
    }

    std::vector<std::pair<std::string, int>> results() {
        std::vector<std::pair<std::string, int>> names;
        while (cursor_.take('%')) {
            std::string name = cursor_.name();
            int count = 1;
            if (cursor_.take(':')) count = parse_number<int>(cursor_.number()).value_or(0);
            if (count < 1 || count > most_values) cursor_.expected("a number of results");
            names.emplace_back(std::move(name), count);
            if (!cursor_.take(',')) {
                cursor_.expect('=');
                break;
            }
        }
        return names;
    }

    MlirId value(MlirType type, Span span) {
        if (static_cast<int>(module_.values.size()) >= most_values)
            cursor_.fail("E0802", span, fmt::format("the program has more than {} values", most_values),
                         "lower a smaller part of the program");
        module_.values.push_back({std::move(type), span});
        return static_cast<MlirId>(module_.values.size()) - 1;
    }

    void define(const std::string& name, MlirNames::Meaning meaning, Span span) {
        if (!names_.define(name, meaning))
            cursor_.fail("E0801", span, fmt::format("%{} is defined above already", name));
    }

    void operand(MlirOp& op, std::vector<MlirId>& operands) {
        const Span begin = cursor_.here();
        cursor_.expect('%');
        const std::string name = cursor_.name();
        Span span = cursor_.from(begin);
        int index = 0;
        if (cursor_.take('#')) {
            index = parse_number<int>(cursor_.number()).value_or(-1);
            span = cursor_.from(begin);
        }
        // Of a loop: the name is that of a region's argument, and what it begins with follows.
        if (!op.name.empty() && cursor_.take('=')) {
            bound_.emplace_back(name, MlirType());
            operand(op, operands);
            return;
        }
        // As of a reducer or a manual computation: an argument with its type.
        if (cursor_.peek() == ':' && depth_in_group_ > 0) {
            cursor_.take(':');
            bound_.emplace_back(name, attributes_.type());
            attributes_.location();
            return;
        }
        const std::optional<MlirId> id = names_.find(name, index);
        if (!id) {
            if (!cursor_.failed()) cursor_.fail("E0801", span, fmt::format("%{} is not defined above", name));
            return;
        }
        operands.push_back(*id);
    }

    // "name"(%a, %b) <{...}> ({regions}) {attributes} : (types) -> types
    Signature generic_form(MlirOp& op) {
        cursor_.expect('(');
        while (!cursor_.failed() && !cursor_.take(')')) {
            MlirOp no_binding;
            operand(no_binding, op.operands);
            if (!cursor_.take(',') && cursor_.peek() != ')') cursor_.expected("',' or ')'");
        }
        if (cursor_.take('<')) {
            cursor_.expect('{');
            op.items = attributes_.items('}');
            cursor_.expect('>');
        }
        if (cursor_.take('(')) {
            do {
                op.regions.push_back(region({}));
            } while (!cursor_.failed() && cursor_.take(','));
            cursor_.expect(')');
        }
        if (cursor_.take('{'))
            for (MlirItem& item : attributes_.items('}')) op.items.push_back(std::move(item));
        cursor_.expect(':');
        return signature();
    }

    // Whether a line begins another op, and does not go on with the one before: in_shardings=[...].
    bool begins_op() {
        const char next = cursor_.peek();
        const std::string_view word = cursor_.peek_word();
        return next == '%' || next == '"' || next == '#' || next == '^' || word.find('.') != word.npos ||
               word == "return" || word == "call" || word == "module";
    }

    // Up to the types, or to the line of the next op where there are none.
    Signature pretty_form(MlirOp& op) {
        std::vector<MlirId> initial; // of a reduce, whose operands come first
        bool first = true;
        while (!cursor_.failed()) {
            const char next = cursor_.peek();
            if (next == '\0' || (cursor_.on_new_line() && !first && begins_op()) || next == '}') break;
            first = false;
            if (cursor_.take(':')) {
                op.operands.insert(op.operands.end(), initial.begin(), initial.end());
                return signature();
            }
            if (next == '{' && (!bound_.empty() || op.name == "module" || op.name == "sdy.manual_computation")) {
                cursor_.take('{');
                op.regions.push_back(region(std::exchange(bound_, {}), true));
                if (op.name == "module") break;
            } else if (next == '{') {
                cursor_.take('{');
                for (MlirItem& item : attributes_.items('}')) op.items.push_back(std::move(item));
            } else if (next == '%') {
                operand(op, op.operands);
            } else if (next == '(') {
                group(op, initial);
            } else if (next == ',' || next == '=') {
                cursor_.take(next);
            } else if (cursor_.peek_word() == "loc") {
                break;
            } else if (cursor_.peek_word() == "attributes") {
                cursor_.word();
                op.items.push_back({"attributes", {attributes_.attribute(true)}});
            } else {
                pretty_item(op);
            }
        }
        op.operands.insert(op.operands.end(), initial.begin(), initial.end());
        return {};
    }

    // A word, a bracket, or a key with what belongs to it: dims = [1], contracting_dims = [1] x [0].
    void pretty_item(MlirOp& op) {
        MlirItem item;
        item.parts.push_back(attributes_.attribute(false));
        if (item.parts.front().kind == MlirAttribute::Kind::word && cursor_.take('=')) {
            item.key = item.parts.front().text;
            item.parts = {attributes_.attribute(false)};
            while (!cursor_.failed() && cursor_.peek_word() == "x") {
                cursor_.word();
                item.parts.push_back(attributes_.attribute(false));
            }
            // b, 0, f]x[0, i, o]->[b, 0, f
            while (!cursor_.failed() && cursor_.take("->")) item.parts.push_back(attributes_.attribute(false));
        }
        op.items.push_back(std::move(item));
    }

    // (%a init: %b), (%argument = %value, ...), (%argument: type), (%a, k = 2)
    void group(MlirOp& op, std::vector<MlirId>& initial) {
        const MlirDepth level(cursor_, attributes_.depth());
        cursor_.expect('(');
        ++depth_in_group_;
        bool is_initial = false;
        while (!cursor_.failed() && !cursor_.take(')')) {
            if (cursor_.peek() == '%') {
                operand(op, is_initial ? initial : op.operands);
            } else if (cursor_.peek_word() == "init") {
                cursor_.word();
                cursor_.expect(':');
                is_initial = true;
            } else if (!cursor_.take(',')) {
                pretty_item(op);
            }
        }
        --depth_in_group_;
    }

    // Behind the types: cond {..} do {..} of a loop, reducer(%a: T, ...) (...) {..} of a reduce.
    void pretty_regions(MlirOp& op) {
        const std::vector<std::pair<std::string, MlirType>> bound = std::exchange(bound_, {});
        while (!cursor_.failed()) {
            const std::string_view word = cursor_.peek_word();
            if (word == "cond" || word == "do") {
                cursor_.word();
                std::vector<std::pair<std::string, MlirType>> arguments = bound;
                for (size_t i = 0; i < arguments.size() && i < op.operands.size(); ++i)
                    arguments[i].second = module_.type(op.operands[i]);
                cursor_.expect('{');
                op.regions.push_back(region(std::move(arguments), true));
            } else if (word == "reducer") {
                cursor_.word();
                std::vector<MlirId> none;
                while (!cursor_.failed() && cursor_.peek() == '(') group(op, none);
                // In pairs, one for each operand: all left sides come first in the generic form.
                std::vector<std::pair<std::string, MlirType>> arguments;
                for (size_t side = 0; side < 2; ++side)
                    for (size_t i = side; i < bound_.size(); i += 2) arguments.push_back(bound_[i]);
                bound_.clear();
                cursor_.expect('{');
                op.regions.push_back(region(std::move(arguments), true));
            } else if (word == "attributes") {
                cursor_.word();
                cursor_.expect('{');
                for (MlirItem& item : attributes_.items('}')) op.items.push_back(std::move(item));
            } else {
                return;
            }
        }
    }

    std::vector<MlirType> type_list() {
        std::vector<MlirType> types;
        if (!cursor_.take('(')) {
            do {
                types.push_back(attributes_.type());
            } while (!cursor_.failed() && cursor_.take(','));
            return types;
        }
        while (!cursor_.failed() && !cursor_.take(')')) {
            types.push_back(attributes_.type());
            if (!cursor_.take(',') && cursor_.peek() != ')') cursor_.expected("',' or ')'");
        }
        return types;
    }

    Signature signature() {
        Signature result;
        result.before = type_list();
        if ((result.arrow = cursor_.take("->"))) result.after = type_list();
        return result;
    }

    void define(MlirOp& op, const std::vector<std::pair<std::string, int>>& names, const Signature& signature) {
        size_t count = 0;
        for (const std::pair<std::string, int>& name : names) count += static_cast<size_t>(name.second);
        // A constant's type is that of its elements.
        std::vector<MlirType> types = signature.arrow ? signature.after : signature.before;
        if (types.empty() && !op.items.empty() && !op.items.back().parts.empty() &&
            op.items.back().parts.front().kind == MlirAttribute::Kind::elements)
            types = {op.items.back().parts.front().type};
        if (!signature.arrow && count == 1 && types.size() > 1) types = {types.back()}; // select: i1, then the result
        if (!signature.arrow && types.size() == 1 && count > 1) types.resize(count, types.front());
        if (cursor_.failed()) return;
        if (types.size() != count && (count > 0 || signature.arrow)) {
            cursor_.fail("E0801", op.span,
                         fmt::format("{} has {} results and {} types for them", op.name, count, types.size()));
            return;
        }
        if (signature.arrow || op.name.ends_with(".return")) check_operands(op, signature.before);
        size_t at = 0;
        for (const std::pair<std::string, int>& name : names) {
            const MlirId first = static_cast<MlirId>(module_.values.size());
            for (int i = 0; i < name.second && !cursor_.failed(); ++i)
                op.results.push_back(value(types[at++], op.span));
            define(name.first, {first, name.second}, op.span);
        }
    }

    void check_operands(const MlirOp& op, const std::vector<MlirType>& types) {
        if (types.size() != op.operands.size()) {
            cursor_.fail(
                "E0801", op.span,
                fmt::format("{} has {} operands and {} types for them", op.name, op.operands.size(), types.size()));
            return;
        }
        for (size_t i = 0; i < types.size(); ++i)
            if (module_.type(op.operands[i]) != types[i])
                cursor_.fail("E0801", op.span,
                             fmt::format("operand {} of {} is {}, and its type here is {}", i, op.name,
                                         text_of(module_.type(op.operands[i])), text_of(types[i])));
    }

    // With `open`, behind its bracket. What is defined in it ends with it.
    MlirRegion region(std::vector<std::pair<std::string, MlirType>> arguments, bool open = false) {
        const MlirDepth level(cursor_, attributes_.depth());
        if (!open) cursor_.expect('{');
        const size_t scope = names_.enter();
        const std::vector<std::pair<std::string, MlirType>> bound = std::exchange(bound_, {});
        MlirRegion result;
        for (std::pair<std::string, MlirType>& argument : arguments)
            add_argument(result, argument.first, argument.second, cursor_.here());
        if (cursor_.peek() == '^') {
            cursor_.take('^');
            cursor_.word();
            if (cursor_.take('(')) argument_list(result, nullptr);
            cursor_.expect(':');
        }
        while (!cursor_.failed() && !cursor_.take('}')) result.ops.push_back(op());
        names_.leave(scope);
        bound_ = bound;
        return result;
    }

    void add_argument(MlirRegion& region, const std::string& name, MlirType type, Span span) {
        const MlirId id = value(std::move(type), span);
        region.arguments.push_back(id);
        define(name, {id, 1}, span);
    }

    // %arg0: tensor<8xf32> {attributes} loc(...), up to the bracket that closes it.
    void argument_list(MlirRegion& region, std::vector<MlirItem>* attributes) {
        while (!cursor_.failed() && !cursor_.take(')')) {
            const Span begin = cursor_.here();
            cursor_.expect('%');
            const std::string name = cursor_.name();
            cursor_.expect(':');
            MlirType type = attributes_.type();
            add_argument(region, name, std::move(type), cursor_.from(begin));
            if (attributes != nullptr) attributes->push_back(attribute_map());
            module_.values.back().location = attributes_.location();
            if (!cursor_.take(',') && cursor_.peek() != ')') cursor_.expected("',' or ')'");
        }
    }

    MlirItem attribute_map() {
        if (cursor_.peek() != '{') return {};
        return {{}, {attributes_.attribute(true)}};
    }

    // func.func public @main(%arg0: T {attributes}, ...) -> (T {attributes}, ...) attributes {...} {body}
    void function(MlirOp& op) {
        while (!cursor_.failed() && cursor_.peek() != '(') op.items.push_back({{}, {attributes_.attribute(false)}});
        cursor_.expect('(');
        const size_t scope = names_.enter();
        MlirRegion body;
        MlirAttribute arguments, results;
        std::vector<MlirType> types;
        arguments.kind = results.kind = MlirAttribute::Kind::list;
        argument_list(body, &arguments.items);
        if (cursor_.take("->")) {
            const bool many = cursor_.take('(');
            do {
                if (many && cursor_.peek() == ')') break;
                types.push_back(attributes_.type());
                results.items.push_back(many ? attribute_map() : MlirItem());
            } while (!cursor_.failed() && many && cursor_.take(','));
            if (many) cursor_.expect(')');
        }
        if (cursor_.peek_word() == "attributes") {
            cursor_.word();
            attributes_.attribute(true);
        }
        op.items.push_back({"arg_attrs", {std::move(arguments)}});
        op.items.push_back({"res_attrs", {std::move(results)}});
        if (cursor_.take('{')) {
            while (!cursor_.failed() && !cursor_.take('}')) body.ops.push_back(this->op());
            if (!cursor_.failed() && !body.ops.empty()) check_operands(body.ops.back(), types); // what it returns
            op.regions.push_back(std::move(body));
        }
        names_.leave(scope);
        op.location = attributes_.location();
    }

    MlirModule module_;
    MlirCursor cursor_;
    MlirAttributeReader attributes_;
    MlirNames names_;
    std::vector<std::pair<std::string, MlirType>> bound_; // arguments of the region that comes next
    int depth_in_group_ = 0;
};

} // namespace

std::optional<MlirModule> read_mlir(const Sources& sources, int file, Diagnostics& diagnostics) {
    if (sources.text(file).size() > most_bytes) {
        diagnostics.error("E0802", {file, 1, 1, 1}, "the file is larger than 64 MiB")
            .help("lower the program with its parameters as arguments: constants are part of the text");
        return std::nullopt;
    }
    return MlirReader(sources, file, diagnostics).read();
}

} // namespace shard
