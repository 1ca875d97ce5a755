#include "executor/engine/mpi/mpi_transport.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace shard {

namespace {

constexpr i64 most_at_once = i64{1} << 30; // a count is an int

constexpr unsigned patience_with_abort = 5; // s

// MPI_DATATYPE_NULL: MPI has no such numbers. Booleans are bytes of 0 and 1.
MPI_Datatype type_of(std::string_view number) {
    const std::pair<std::string_view, MPI_Datatype> types[] = {
        {"f32", MPI_FLOAT},    {"f64", MPI_DOUBLE},   {"i8", MPI_INT8_T},   {"i16", MPI_INT16_T},
        {"i32", MPI_INT32_T},  {"i64", MPI_INT64_T},  {"u8", MPI_UINT8_T},  {"u16", MPI_UINT16_T},
        {"u32", MPI_UINT32_T}, {"u64", MPI_UINT64_T}, {"bool", MPI_UINT8_T}};
    for (const auto& [name, type] : types)
        if (name == number) return type;
    return MPI_DATATYPE_NULL;
}

// Of booleans a sum is "or", a product "and".
MPI_Op op_of(std::string_view number, std::string_view combine) {
    const bool truth = number == "bool";
    if (combine == "sum") return truth ? MPI_MAX : MPI_SUM;
    if (combine == "prod") return truth ? MPI_MIN : MPI_PROD;
    return combine == "max" ? MPI_MAX : MPI_MIN;
}

class MpiTransport final : public Transport {
public:
    MpiTransport() {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
        MPI_Comm_dup(MPI_COMM_WORLD, &world_);
        MPI_Comm_rank(world_, &rank_);
        MPI_Comm_size(world_, &ranks_);
        MPI_Comm machine = MPI_COMM_NULL;
        MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
        MPI_Comm_size(machine, &on_machine_);
        MPI_Comm_free(&machine);
        void* bound = nullptr;
        int found = 0;
        MPI_Comm_get_attr(world_, MPI_TAG_UB, static_cast<void*>(&bound), &found);
        largest_tag_ = found != 0 ? *static_cast<int*>(bound) : 32767;
    }
    MpiTransport(const MpiTransport&) = delete;
    MpiTransport& operator=(const MpiTransport&) = delete;
    ~MpiTransport() override {
        for (MPI_Request& request : requests_) { // what nobody will answer any more
            MPI_Cancel(&request);
            MPI_Request_free(&request);
        }
        for (MPI_Comm& group : groups_) MPI_Comm_free(&group);
        MPI_Comm_free(&world_);
        MPI_Finalize();
    }

    int rank() const override { return rank_; }
    int ranks() const override { return ranks_; }
    int ranks_on_machine() const override { return on_machine_; }
    int largest_tag() const override { return largest_tag_; }
    std::string library() const override {
        std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text = {};
        int length = 0;
        MPI_Get_library_version(text.data(), &length);
        const std::string all(text.data(), static_cast<size_t>(length));
        return all.substr(0, all.find_first_of(",\n"));
    }

    void send(int rank, int tag, const std::byte* from, i64 bytes, int ticket) override {
        in_parts(bytes, ticket, [&](i64 at, int count) {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Isend(from + at, count, MPI_BYTE, rank, tag, world_, &request);
            return request;
        });
    }
    void receive(int rank, int tag, std::byte* to, i64 bytes, int ticket) override {
        in_parts(bytes, ticket, [&](i64 at, int count) {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Irecv(to + at, count, MPI_BYTE, rank, tag, world_, &request);
            return request;
        });
    }

    void poll(std::vector<int>& ended) override {
        if (requests_.empty()) return;
        int count = 0;
        indices_.resize(requests_.size());
        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(),
                     MPI_STATUSES_IGNORE);
        if (count == MPI_UNDEFINED || count == 0) return;
        for (int i = 0; i < count; ++i) {
            const int ticket = tickets_[static_cast<size_t>(indices_[static_cast<size_t>(i)])];
            if (--parts_left_[static_cast<size_t>(ticket)] == 0) ended.push_back(ticket);
        }
        size_t kept = 0;
        for (size_t i = 0; i < requests_.size(); ++i) {
            if (requests_[i] == MPI_REQUEST_NULL) continue;
            requests_[kept] = requests_[i];
            tickets_[kept++] = tickets_[i];
        }
        requests_.resize(kept);
        tickets_.resize(kept);
    }

    // MPICH ends the processes of other communicators than the world's by messages, and waits for what hangs; and should
    // the library wait for it nevertheless, the launcher ends all when this process dies.
    void abort(int exit_code) override {
        alarm(patience_with_abort);
        MPI_Abort(MPI_COMM_WORLD, exit_code);
    }

    int make_group(std::span<const int> ranks) override {
        MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
        MPI_Comm_group(world_, &all);
        MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
        MPI_Comm group = MPI_COMM_NULL;
        MPI_Comm_create_group(world_, some, 0, &group);
        MPI_Group_free(&some);
        MPI_Group_free(&all);
        groups_.push_back(group);
        return static_cast<int>(groups_.size()) - 1;
    }
    // Of the largest and the least of floats MPI does not say what becomes of NaN.
    bool reduces(std::string_view number, std::string_view combine) const override {
        const bool orders = combine == "max" || combine == "min";
        return type_of(number) != MPI_DATATYPE_NULL && !(orders && number.starts_with('f'));
    }
    void call(const LibraryCall& call, int ticket) override {
        using Kind = LibraryCall::Kind;
        const MPI_Comm group = groups_[static_cast<size_t>(call.group)];
        const bool sums = call.kind == Kind::all_reduce || call.kind == Kind::reduce_scatter;
        const MPI_Datatype type = sums ? type_of(call.number) : MPI_BYTE;
        const MPI_Op op = op_of(call.number, call.combine);
        int size = 1;
        MPI_Type_size(type, &size);
        const int count = static_cast<int>(call.bytes / size);
        MPI_Request request = MPI_REQUEST_NULL;
        switch (call.kind) {
        case Kind::all_reduce:
            MPI_Iallreduce(call.from == call.to ? MPI_IN_PLACE : call.from, call.to, count, type, op, group, &request);
            break;
        case Kind::all_gather:
            MPI_Iallgather(call.from, count, type, call.to, count, type, group, &request);
            break;
        case Kind::reduce_scatter:
            MPI_Ireduce_scatter_block(call.from, call.to, count, type, op, group, &request);
            break;
        case Kind::all_to_all:
            MPI_Ialltoall(call.from, count, type, call.to, count, type, group, &request);
            break;
        }
        await(request, ticket);
    }

private:
    void await(MPI_Request request, int ticket) {
        if (static_cast<size_t>(ticket) >= parts_left_.size()) parts_left_.resize(static_cast<size_t>(ticket) + 1, 0);
        requests_.push_back(request);
        tickets_.push_back(ticket);
        ++parts_left_[static_cast<size_t>(ticket)];
    }

    template<typename Begin>
    void in_parts(i64 bytes, int ticket, const Begin& begin) {
        i64 at = 0;
        do { // an empty message is one too
            const i64 part = std::min(bytes - at, most_at_once);
            await(begin(at, static_cast<int>(part)), ticket);
            at += part;
        } while (at < bytes);
    }

    MPI_Comm world_ = MPI_COMM_NULL;
    std::vector<MPI_Comm> groups_;
    int rank_ = 0, ranks_ = 1, on_machine_ = 1, largest_tag_ = 32767;
    std::vector<MPI_Request> requests_; // under way
    std::vector<int> tickets_;          // of them
    std::vector<int> parts_left_;       // by ticket
    std::vector<int> indices_;
};

} // namespace

} // namespace shard

extern "C" shard::Transport* shardc_make_transport(int version) {
    return version == shard::transport_version ? new shard::MpiTransport : nullptr;
}
