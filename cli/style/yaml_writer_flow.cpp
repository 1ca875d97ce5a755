// Collections in brackets: items stand one behind the other, and lines that would get too long are broken.
#include "cli/style/yaml_writer.h"

#include "planner/text/yaml_text.h"

#include <algorithm>

namespace shard {

namespace {

size_t size_of(const Yaml& node) { return node.map() != nullptr ? node.map()->size() : node.list()->size(); }

} // namespace

// Whether an item goes behind what the line has. What is written over several lines is asked on each of them.
bool YamlWriter::fits(const Yaml& node, size_t item, size_t align, size_t reserve) {
    if (wide_) return true;
    StyledLines measured;
    measured.begin(0);
    std::swap(lines_, measured);
    const size_t at = at_, comments = comments_;
    wide_ = true;
    write_flow_item(node, item, align, reserve);
    wide_ = false;
    at_ = at;
    comments_ = comments;
    std::swap(lines_, measured);
    return measured.count() > 1 || lines_.column() + 1 + measured.column() + reserve <= style_width;
}

// `reserve`: columns of what closes behind it.
void YamlWriter::write_flow(const Yaml& node, size_t reserve) {
    const bool is_pair = text_[at_] != '[' && text_[at_] != '{'; // [a: 1]
    const bool is_map = node.map() != nullptr;
    lines_.append(is_map ? "{" : "[");
    at_ += is_pair ? 0 : 1;
    const size_t align = lines_.column();
    for (size_t i = 0, count = size_of(node); i < count; ++i) {
        const Yaml* item = is_map ? nullptr : &(*node.list())[i];
        size_t begin = 0;
        if (item != nullptr && item->is_null()) {
            begin = skip_yaml_blanks(text_, at_);
            if (begin < text_.size() && text_[begin] == ',') begin = skip_yaml_blanks(text_, begin + 1);
            begin = written_yaml_null(text_, begin).begin;
        } else {
            begin = offset(item != nullptr ? item->span : (*node.map())[i].key_span);
        }
        const YamlGap before = gap(begin);
        if (i > 0) lines_.append(",");
        const size_t behind = i + 1 < count ? 1 : reserve + 1;
        const bool has_comments = put_flow_comments(before, align);
        if (has_comments || (i > 0 && (before.new_line || !fits(node, i, align, behind))))
            lines_.begin(align);
        else if (i > 0)
            lines_.append(" ");
        for (const YamlProperty& property : before.properties) lines_.append(property.text + " ");
        if (before.has_question) lines_.append("? ");
        write_flow_item(node, i, align, behind);
    }
    if (!is_pair) {
        const YamlGap behind = gap(std::string_view::npos);
        if (put_flow_comments(behind, align - 1)) lines_.begin(align - 1);
        ++at_;
    }
    lines_.append(is_map ? "}" : "]");
}

void YamlWriter::write_flow_item(const Yaml& node, size_t item, size_t align, size_t reserve) {
    if (node.map() != nullptr)
        write_pair((*node.map())[item], align, reserve);
    else
        write_inline((*node.list())[item], {}, align, reserve);
}

void YamlWriter::write_pair(const YamlEntry& entry, size_t align, size_t reserve) {
    write_key(entry);
    const size_t colon = skip_yaml_blanks(text_, at_);
    const bool has_colon = colon < text_.size() && text_[colon] == ':';
    if (has_colon) at_ = colon + 1;
    lines_.append(":");
    const Yaml& value = entry.value;
    const YamlWrittenNull null = value.is_null() && has_colon ? written_yaml_null(text_, at_) : YamlWrittenNull{at_, 0};
    const YamlGap before = gap(value.is_null() ? null.begin : offset(value.span));
    if (put_flow_comments(before, align))
        lines_.begin(align);
    else
        lines_.append(" ");
    write_inline(value, before, align, reserve);
}

} // namespace shard
