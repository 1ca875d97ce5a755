#include "executor/engine/mpi/mpi_transport.h"

#include <mpi.h>

#include <algorithm>
#include <array>

namespace shard {

namespace {

constexpr i64 most_at_once = i64{1} << 30; // a count is an int

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

    void abort(int exit_code) override { MPI_Abort(world_, exit_code); }

private:
    template<typename Begin>
    void in_parts(i64 bytes, int ticket, const Begin& begin) {
        if (static_cast<size_t>(ticket) >= parts_left_.size()) parts_left_.resize(static_cast<size_t>(ticket) + 1, 0);
        i64 at = 0;
        do { // an empty message is one too
            const i64 part = std::min(bytes - at, most_at_once);
            requests_.push_back(begin(at, static_cast<int>(part)));
            tickets_.push_back(ticket);
            ++parts_left_[static_cast<size_t>(ticket)];
            at += part;
        } while (at < bytes);
    }

    MPI_Comm world_ = MPI_COMM_NULL;
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
