#include "runtime/collect/files/file_rights.h"

#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <format>
#include <utility>

#include "runtime/collect/files/system_file.h"

namespace traceback::collect {

namespace {

constexpr gid_t kNobodysGroup = 65534;

gid_t firstGroupOf(uid_t user) {
  struct passwd entry{};
  struct passwd* found = nullptr;
  std::array<char, 4096> text{};
  return ::getpwuid_r(user, &entry, text.data(), text.size(), &found) == 0 && found != nullptr
             ? found->pw_gid
             : kNobodysGroup;
}

// Of the thread alone, where setgroups(3) is of the process. False if it may not.
bool setGroups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

// What they were before is all that these calls return: asked with what cannot be, they tell what is.
uid_t userNow() { return static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))); }
gid_t groupNow() { return static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))); }

}  // namespace

model::Result<FileRights> FileRights::of(uid_t user) {
  FileRights rights;
  if (::geteuid() != 0 || user == userNow()) return rights;
  const int count = ::getgroups(0, nullptr);
  rights.m_groups.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (count < 0 || ::getgroups(count, rights.m_groups.data()) != count)
    return failWithErrno("the groups of this process cannot be told");
  rights.m_user = userNow();
  rights.m_group = groupNow();
  const gid_t group = firstGroupOf(user);
  rights.m_taken = true;  // what was changed is changed back
  const bool changed = setGroups({});
  ::setfsgid(group);
  ::setfsuid(user);
  if (!changed || groupNow() != group || userNow() != user)
    return model::fail(std::format("files cannot be reached with the rights of user {}", user));
  return rights;
}

FileRights::FileRights(FileRights&& other) noexcept
    : m_taken(std::exchange(other.m_taken, false)),
      m_user(other.m_user),
      m_group(other.m_group),
      m_groups(std::move(other.m_groups)) {}

FileRights::~FileRights() {
  if (!m_taken) return;
  ::setfsuid(m_user);
  ::setfsgid(m_group);
  [[maybe_unused]] const bool back = setGroups(m_groups);
}

}  // namespace traceback::collect
