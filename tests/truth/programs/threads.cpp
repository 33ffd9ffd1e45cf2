// Threads, each with its own path, made together and joined; counters local to the thread.
#include <pthread.h>

#include <cstdio>

namespace {

thread_local unsigned steps = 0;
thread_local unsigned seed = 1;

unsigned next() {
  ++steps;
  seed = seed * 1103515245 + 12345;
  return (seed >> 16) & 0x7FFF;
}

struct Job {
  unsigned id = 0;
  unsigned result = 0;
  unsigned steps = 0;
};

unsigned walk(unsigned position, unsigned left) {
  if (left == 0) return position;
  unsigned turn = next() % 4;
  if (turn == 0) return walk(position + 1, left - 1);
  if (turn == 1) return walk(position * 2, left - 1);
  for (unsigned i = 0; i < turn; ++i) position ^= next();
  return walk(position & 0xFFFF, left - 1);
}

void* work(void* argument) {
  Job* job = static_cast<Job*>(argument);
  seed = job->id + 1;
  job->result = 0;
  for (unsigned round = 0; round < 10 + job->id; ++round) job->result += walk(round, 20);
  job->steps = steps;
  return job;
}

}  // namespace

int main() {
  Job jobs[4];
  pthread_t threads[4];
  for (unsigned i = 0; i < 4; ++i) {
    jobs[i].id = i;
    if (pthread_create(&threads[i], nullptr, work, &jobs[i]) != 0) return 1;
  }
  for (pthread_t& thread : threads) pthread_join(thread, nullptr);
  for (const Job& job : jobs) std::printf("job %u: %u in %u steps\n", job.id, job.result, job.steps);
  return 0;
}
