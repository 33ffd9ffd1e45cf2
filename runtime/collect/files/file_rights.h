// Another user's rights to files, for root: what that user's process wrote names files to be read and folders
// to be written, and may lead root no further than the user could go without it.
#pragma once

#include <sys/types.h>

#include <vector>

#include "model/error.h"

namespace traceback::collect {

// While it lives, the calling thread reaches files as `user` does who has no groups but the first (fsuid: see
// credentials(7)). Of the calling user itself, and where that is not root, nothing changes. They may be
// nested, and end in the opposite order.
class FileRights {
 public:
  static model::Result<FileRights> of(uid_t user);
  FileRights(FileRights&& other) noexcept;
  FileRights& operator=(FileRights&&) = delete;
  ~FileRights();

 private:
  FileRights() = default;

  bool m_taken = false;
  uid_t m_user = 0;  // before
  gid_t m_group = 0;
  std::vector<gid_t> m_groups;
};

}  // namespace traceback::collect
