// Crashes: in a thread other than main, while main waits for it.
#include <pthread.h>

#include <cstdio>

namespace {

struct Account {
  int balance;
  Account* parent;
};

int total(const Account* account, int depth) {
  if (depth == 0) return account->balance;
  return account->balance + total(account->parent, depth - 1);
}

void* work(void* argument) {
  Account* leaf = static_cast<Account*>(argument);
  for (int depth = 0; depth < 8; ++depth) leaf->balance += total(leaf, depth);
  return leaf;
}

}  // namespace

int main() {
  Account root{1, nullptr}, middle{2, &root}, leaf{3, &middle};
  std::printf("%d\n", total(&leaf, 2));
  std::fflush(stdout);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, work, &leaf) != 0) return 1;
  pthread_join(thread, nullptr);
  std::printf("%d\n", leaf.balance);
  return 0;
}
