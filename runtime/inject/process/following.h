// Children that execute a program are to be traced as this process is: what `traceback run` put into the
// environment, and the runtime took out of the program's sight, is put into what they get.
#pragma once

#include <cstddef>

namespace traceback::inject {

using Strings = char* const*;

// At the start. `entry` is NAME=value. Of a list the value is our part; the program may have a part, too,
// before or behind which ours stands.
enum class PlaceInList { First, Last };
void keepForChildren(const char* entry);
void keepListForChildren(const char* name, const char* ours, PlaceInList place);
void forgetChildren();
// Before system calls are filtered: whether a child can reach our files cannot be asked then.
void noteReach();

// Whether a program that is executed by this path may get it: not one that gains rights, or
// that our dynamic linker does not load: a statically linked one, for another machine or C library.
bool mayFollow(const char* path);

// The room that followed() needs; 0 if the child gets the environment as it is: because nothing is to be
// followed, TRACEBACK=off is in it, the dynamic linker is to be asked something, or the child could not
// reach our files.
std::size_t followedSize(Strings environment);
// The environment with what we keep. `room` must be there until it is used.
Strings followed(Strings environment, std::size_t size, void* room);

// For the shell that libc starts itself, with an environment that only the program can change: `command`
// with our variables set for it. Null if it is to be used as it is. Give it back.
struct Command {
  char* text = nullptr;
  std::size_t size = 0;
};
Command followedCommand(const char* command);
void giveBack(const Command& command);

}  // namespace traceback::inject

// Declares `passed`, the environment for a child that is executed by `path`, in the caller's frame.
#define FOLLOW(path, environment)                                           \
  const std::size_t room = mayFollow(path) ? followedSize(environment) : 0; \
  const Strings passed = followed(environment, room, room == 0 ? nullptr : __builtin_alloca(room))
