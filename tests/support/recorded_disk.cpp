#include "tests/support/recorded_disk.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

namespace shard {

namespace fs = std::filesystem;

std::string RecordedDisk::below(const std::string& path) const {
    if (path == root_) return "";
    REQUIRE(path.starts_with(root_ + "/"));
    return path.substr(root_.size() + 1);
}

int RecordedDisk::open(const std::string& path, int flags, mode_t mode) {
    const int descriptor = Disk::open(path, flags, mode);
    if (descriptor < 0) return descriptor;
    open_[descriptor] = below(path);
    if ((flags & O_CREAT) != 0) calls.push_back({Call::new_file, below(path)});
    return descriptor;
}

ssize_t RecordedDisk::write(int descriptor, const char* from, size_t bytes) {
    const ssize_t written = Disk::write(descriptor, from, bytes);
    if (written > 0)
        calls.push_back({Call::written, open_.at(descriptor), std::string(from, static_cast<size_t>(written))});
    return written;
}

int RecordedDisk::ftruncate(int, off_t) {
    FAIL("nothing that must survive is cut");
    return -1;
}

int RecordedDisk::fsync(int descriptor) {
    calls.push_back({Call::synced, open_.at(descriptor)});
    return 0; // the disk that is tested is the recorded one
}

int RecordedDisk::rename(const std::string& from, const std::string& to) {
    const int result = Disk::rename(from, to);
    if (result == 0) calls.push_back({Call::renamed, below(from), below(to)});
    return result;
}

int RecordedDisk::unlink(const std::string& path) {
    const int result = Disk::unlink(path);
    if (result == 0) calls.push_back({Call::removed, below(path)});
    return result;
}

int RecordedDisk::mkdir(const std::string& path) {
    const int result = Disk::mkdir(path);
    if (result == 0) calls.push_back({Call::new_folder, below(path)});
    return result;
}

int RecordedDisk::rmdir(const std::string& path) {
    const int result = Disk::rmdir(path);
    if (result == 0) calls.push_back({Call::removed, below(path)});
    return result;
}

CrashedDisk::CrashedDisk() : nodes_(1) { nodes_[0].folder = true; }

int CrashedDisk::find(const std::string& path) const {
    int node = 0;
    for (size_t at = 0; at < path.size();) {
        const size_t end = std::min(path.find('/', at), path.size());
        node = nodes_[node].seen.at(path.substr(at, end - at));
        at = end + 1;
    }
    return node;
}

int CrashedDisk::parent_of(const std::string& path, std::string& name) const {
    const size_t slash = path.rfind('/');
    name = path.substr(slash + 1);
    return slash == std::string::npos ? 0 : find(path.substr(0, slash));
}

void CrashedDisk::set(int folder, const std::string& name, int node) {
    Node& parent = nodes_[folder];
    if (node < 0)
        parent.seen.erase(name);
    else
        parent.seen[name] = node;
    parent.pending.emplace_back(name, node);
    parent.calls.push_back(call_);
}

void CrashedDisk::apply(const RecordedDisk::Call& call) {
    using Call = RecordedDisk::Call;
    std::string name;
    ++call_;
    if (call.kind == Call::new_file || call.kind == Call::new_folder) {
        nodes_.emplace_back();
        nodes_.back().folder = call.kind == Call::new_folder;
        const int folder = parent_of(call.path, name);
        set(folder, name, static_cast<int>(nodes_.size()) - 1);
    } else if (call.kind == Call::written) {
        nodes_[find(call.path)].now += call.other;
    } else if (call.kind == Call::removed) {
        const int folder = parent_of(call.path, name);
        set(folder, name, -1);
    } else if (call.kind == Call::renamed) {
        const int node = find(call.path);
        const int folder = parent_of(call.path, name);
        set(folder, name, -1);
        const int to = parent_of(call.other, name);
        REQUIRE(folder == to); // otherwise it would be two names on two folders
        set(folder, name, node);
    } else {
        Node& node = nodes_[find(call.path)];
        node.synced = node.now;
        node.kept = node.seen;
        node.pending.clear();
        node.calls.clear();
    }
}

// A line a file or folder: its path, a tab, and for a file its bytes in hex and a dot.
void CrashedDisk::write_state(int node, const std::string& path, const std::set<int>& kept, bool bytes,
                              std::string& out) const {
    const Node& of = nodes_[node];
    if (!of.folder) {
        out += path + "\t.";
        for (const char byte : bytes ? of.now : of.synced)
            for (const int half : {(byte >> 4) & 15, byte & 15}) out += "0123456789abcdef"[half];
        out += "\n";
        return;
    }
    if (node != 0) out += path + "\t\n";
    std::map<std::string, int> names = of.kept;
    for (size_t i = 0; i < of.pending.size(); ++i) {
        if (!kept.contains(of.calls[i])) continue;
        if (of.pending[i].second < 0)
            names.erase(of.pending[i].first);
        else
            names[of.pending[i].first] = of.pending[i].second;
    }
    for (const auto& [name, child] : names) write_state(child, node == 0 ? name : path + "/" + name, kept, bytes, out);
}

std::set<std::string> CrashedDisk::states() const {
    std::set<int> all;
    for (const Node& node : nodes_) all.insert(node.calls.begin(), node.calls.end());
    const std::vector<int> calls(all.begin(), all.end());
    std::vector<std::set<int>> selections = {{}, all};
    std::mt19937 random(11);
    const auto select = [&](auto keep) {
        std::set<int> kept;
        for (size_t i = 0; i < calls.size(); ++i)
            if (keep(i)) kept.insert(calls[i]);
        selections.push_back(std::move(kept));
    };
    if (calls.size() <= 6)
        for (unsigned bits = 0; bits < 1U << calls.size(); ++bits)
            select([&](size_t i) { return (bits >> i & 1) != 0; });
    for (size_t one = 0; one < calls.size(); ++one) {
        select([&](size_t i) { return i == one; });
        select([&](size_t i) { return i != one; });
        select([&](size_t i) { return i < one; });
    }
    for (int times = 0; times < 16; ++times) select([&](size_t) { return random() % 2 == 0; });
    std::set<std::string> states;
    for (const std::set<int>& kept : selections)
        for (const bool bytes : {false, true}) {
            std::string state;
            write_state(0, "", kept, bytes, state);
            states.insert(std::move(state));
        }
    return states;
}

void make_state(const std::string& state, const std::string& root) {
    for (size_t at = 0; at < state.size();) {
        const size_t tab = state.find('\t', at), end = state.find('\n', at);
        const std::string path = root + "/" + state.substr(at, tab - at);
        if (end == tab + 1) {
            fs::create_directory(path);
        } else {
            std::string bytes;
            for (size_t i = tab + 2; i < end; i += 2)
                bytes += static_cast<char>(std::stoi(state.substr(i, 2), nullptr, 16));
            std::ofstream(path, std::ios::binary) << bytes;
        }
        at = end + 1;
    }
}

} // namespace shard
