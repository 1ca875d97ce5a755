// config.json of Hugging Face's transformers, which says which family a model is of and its sizes. Typed access with
// places: what is missing or wrong is E0807, what this program makes no model of is E0808.
#pragma once

#include "plans/diagnostics/diagnostic.h"
#include "plans/json/json_places.h"
#include "plans/json/json_tree.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

class HfConfig {
public:
    // nullopt after E0807 if it is no object of JSON.
    static std::optional<HfConfig> parse(const Sources& sources, int file, Diagnostics& diagnostics);

    // A path leads into objects: "rope_parameters.rope_theta". null counts as absent.
    bool has(std::string_view path) const { return find(path) != nullptr; }
    i64 size(std::string_view path) const;             // from 1
    i64 size(std::string_view path, i64 usual) const;  // where it is absent
    i64 count(std::string_view path, i64 usual) const; // from 0
    double number(std::string_view path, double usual) const;
    bool flag(std::string_view path, bool usual) const;
    std::string word(std::string_view path, std::string_view usual) const; // letters, digits, and ./_-
    std::vector<std::string> words(std::string_view path) const;           // none where it is absent
    i64 entries(std::string_view path) const; // of a list or an object; 0 where it is absent

    // The part of it at a path, with the same places; itself where there is none.
    HfConfig part(std::string_view path) const;

    // E0808 at the value, or at the top where it is absent.
    void refuse(std::string_view path, const std::string& message, const std::string& help) const;
    // E0807 likewise.
    void wrong(std::string_view path, const std::string& message) const;
    bool ok() const { return diagnostics_->error_count() == errors_before_; }

private:
    HfConfig(std::string_view text, int file, Diagnostics& diagnostics)
        : text_{text, file}, diagnostics_(&diagnostics), errors_before_(diagnostics.error_count()) {}
    const Json* find(std::string_view path) const;
    Span place(std::string_view path) const;

    Json root_;
    std::string prefix_; // of paths in the file: "text_config."
    JsonText text_;
    Diagnostics* diagnostics_;
    int errors_before_ = 0;
};

} // namespace shard
