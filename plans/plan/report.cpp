#include "plans/plan/report.h"

#include "plans/base/base.h"

namespace shard {

namespace {

struct RoleName {
    Role role;
    std::string_view name;
};
constexpr RoleName roles[] = {
    {Role::input, "input"},       {Role::param, "param"}, {Role::variable, "variable"}, {Role::state, "state"},
    {Role::gradient, "gradient"}, {Role::value, "value"}, {Role::output, "output"},
};

} // namespace

std::string_view name(Role role) { return roles[static_cast<size_t>(role)].name; }

std::optional<Role> parse_role(std::string_view text) {
    for (const RoleName& entry : roles)
        if (entry.name == text) return entry.role;
    return std::nullopt;
}

} // namespace shard
