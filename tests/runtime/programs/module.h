// The functions of module.S: see there.
#pragma once

#include <stdint.h>

void count(volatile uint64_t* counter, uint64_t n);
void traced_handler(int signal);
void store(int* address);
void call(void (*function)(void*), void* argument);
void recurse(void);
uint64_t registers(void);
extern volatile uint64_t handled;
extern char store_instruction[];
