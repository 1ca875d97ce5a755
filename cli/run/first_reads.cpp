#include "cli/run/first_reads.h"

#include <cstring>

namespace shard {

namespace {

constexpr const char* what = "what the first rank reads";

// Numbers, texts and tensors, one behind the other: both sides are the same program.
class Packed {
public:
    void number(i64 value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
    void text(std::string_view value) {
        number(std::ssize(value));
        text_ += value;
    }
    void tensors(const std::map<std::string, Tensor>& all) {
        number(std::ssize(all));
        for (const auto& [name, tensor] : all) {
            text(name);
            number(static_cast<i64>(tensor.type.dtype));
            number(std::ssize(tensor.type.shape));
            for (i64 size : tensor.type.shape) number(size);
            text({reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
        }
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

class Unpacked {
public:
    explicit Unpacked(std::string_view left) : left_(left) {}

    i64 number() {
        i64 value = 0;
        std::memcpy(&value, part(sizeof value).data(), sizeof value);
        return value;
    }
    std::string_view text() { return part(static_cast<size_t>(number())); }
    std::map<std::string, Tensor> tensors() {
        std::map<std::string, Tensor> all;
        for (i64 left = number(); left > 0; --left) {
            Tensor& tensor = all[std::string(text())];
            tensor.type.dtype = static_cast<DType>(number());
            for (i64 dims = number(); dims > 0; --dims) tensor.type.shape.push_back(number());
            const std::string_view bytes = text();
            tensor.bytes.resize(bytes.size());
            if (!bytes.empty()) std::memcpy(tensor.bytes.data(), bytes.data(), bytes.size());
        }
        return all;
    }

private:
    std::string_view part(size_t bytes) {
        internal_check(bytes <= left_.size(), "what the first rank read ends early");
        const std::string_view found = left_.substr(0, bytes);
        left_.remove_prefix(bytes);
        return found;
    }
    std::string_view left_;
};

} // namespace

void send_reads(Ranks& ranks, const FirstReads* reads) {
    ranks.meet(what, "", [&](std::vector<std::string>&) {
        if (reads == nullptr) return std::string();
        Packed packed;
        packed.text(reads->plan);
        packed.tensors(reads->inputs);
        packed.tensors(reads->data);
        packed.number(std::ssize(reads->restored));
        for (const std::string& name : reads->restored) packed.text(name);
        packed.number(reads->checkpoint_step);
        packed.number(reads->first_step);
        return packed.take();
    });
}

std::optional<FirstReads> receive_reads(Ranks& ranks) {
    const std::optional<std::string> message = ranks.meet(what, "", {});
    if (!message || message->empty()) return std::nullopt;
    Unpacked unpacked(*message);
    FirstReads reads;
    reads.plan = unpacked.text();
    reads.inputs = unpacked.tensors();
    reads.data = unpacked.tensors();
    for (i64 left = unpacked.number(); left > 0; --left) reads.restored.emplace(unpacked.text());
    reads.checkpoint_step = unpacked.number();
    reads.first_step = static_cast<int>(unpacked.number());
    return reads;
}

} // namespace shard
