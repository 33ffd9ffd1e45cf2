"""Programs by chance, of the shapes that csmith lacks and rewriters trip over."""

import random

PRELUDE = """
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
typedef unsigned long u64;
#define NOINLINE __attribute__((noinline))
static volatile u64 sink;
static u64 words[16];
"""

CXX_PRELUDE = """
#include <stdexcept>
#include <string>
struct Guard { u64 &at; u64 by; ~Guard() { at = at * 31 + by; } };
"""


class Shapes:
    """Each method returns the definition of `static u64 NAME(u64 x)`, or of several functions of which that is one."""

    def __init__(self, seed: int, language: str):
        self.random = random.Random(seed)
        self.language = language
        self.common = [self.switch, self.computed_goto, self.tail_calls, self.jumps, self.carry, self.counted, self.condition_codes,
                       self.registers, self.variadic, self.floating, self.frames, self.callbacks, self.strings, self.flags_in_branches,
                       self.handlers, self.handlers_that_jump, self.faults]
        self.cxx = [self.exceptions, self.rethrow, self.virtual, self.cleanups]

    def number(self, most: int = 1 << 20) -> int:
        return self.random.randrange(1, most)

    def step(self) -> str:
        """A statement on `x`."""
        n = self.number()
        return self.random.choice([
            f"x = x * {n | 1}ul + {self.number()};", f"x ^= x >> {self.random.randrange(1, 60)};", f"x += words[x % 16] ^ {n}ul;",
            f"words[(x >> 3) % 16] += x | {n};", f"if (x & {1 << self.random.randrange(20)}) x -= {n}; else x += {self.number()};",
            f"x = (x << {self.random.randrange(1, 30)}) | (x >> 34);", f"for (int i = 0; i < {self.random.randrange(1, 5)}; ++i) x += i * {n}ul;",
        ])

    def steps(self, most: int = 4) -> str:
        return " ".join(self.step() for _ in range(self.random.randrange(1, most + 1)))

    def switch(self, name: str) -> str:
        cases = self.random.sample(range(24), self.random.randrange(5, 16))
        body = " ".join(f"case {c}: {self.steps()} {self.random.choice(['break;', 'break;', '/* falls */'])}" for c in cases)
        return f"NOINLINE static u64 {name}(u64 x) {{ switch (x % 26) {{ {body} default: x += 3; }} return x; }}"

    def computed_goto(self, name: str) -> str:
        count = self.random.randrange(3, 9)
        table = ", ".join(f"&&l{i}" for i in range(count))
        labels = " ".join(f"l{i}: {self.steps()} if (!--n) return x; goto *to[(x >> {i}) % {count}];" for i in range(count))
        return f"NOINLINE static u64 {name}(u64 x) {{ static void *const to[] = {{ {table} }}; int n = 12; goto *to[x % {count}]; {labels} }}"

    def tail_calls(self, name: str) -> str:
        return (f"NOINLINE static u64 {name}_b(u64 x, u64 n); NOINLINE static u64 {name}_a(u64 x, u64 n) {{ {self.steps()} "
                f"return n ? {name}_b(x, n - 1) : x; }} NOINLINE static u64 {name}_b(u64 x, u64 n) {{ {self.steps()} return n ? {name}_a(x, n - 1) : x + 1; }}\n"
                f"static u64 (*volatile {name}_p)(u64, u64) = {name}_a; NOINLINE static u64 {name}(u64 x) {{ return {name}_p(x, x % 9); }}")

    def jumps(self, name: str) -> str:
        return (f"static jmp_buf {name}_to; NOINLINE static void {name}_deep(u64 x, int n) {{ if (!n) longjmp({name}_to, (int)(x % 7) + 1); "
                f"{name}_deep(x + 1, n - 1); sink = x; }}\nNOINLINE static u64 {name}(u64 x) {{ volatile u64 kept = x; volatile int n = 0; "
                f"int got = setjmp({name}_to); kept += (u64)got; if (++n < {self.random.randrange(3, 6)}) {name}_deep(kept, n); return kept; }}")

    def carry(self, name: str) -> str:
        """The carry lives over the head of a loop."""
        return (f"NOINLINE static u64 {name}(u64 x) {{ u64 a[6], b[6], c[6], t, n = 6; for (int i = 0; i < 6; ++i) {{ a[i] = x * (i + {self.number()}ul); b[i] = ~a[i] ^ x; }} "
                "u64 *p = a, *q = b, *r = c; __asm__ volatile(\"clc\\n1: mov (%1), %0\\n adc (%2), %0\\n mov %0, (%3)\\n lea 8(%1), %1\\n lea 8(%2), %2\\n lea 8(%3), %3\\n"
                " dec %4\\n jnz 1b\\n sbb %0, %0\" : \"=&r\"(t), \"+r\"(p), \"+r\"(q), \"+r\"(r), \"+r\"(n) : : \"memory\", \"cc\"); "
                f"for (int i = 0; i < 6; ++i) x = x * 31 + c[i]; {self.steps()} return x + t; }}")

    def counted(self, name: str) -> str:
        return (f"NOINLINE static u64 {name}(u64 x) {{ u64 n = x % 7 + 1, s = {self.number()}; __asm__ volatile(\"1: add %%rcx, %0\\n loop 1b\\n jrcxz 2f\\n mov $0, %0\\n2:\" "
                f": \"+r\"(s), \"+c\"(n) : : \"cc\"); char from[48], to[48]; memset(from, (int)x, 48); const char *p = from; char *q = to; u64 left = 40; "
                f"__asm__ volatile(\"rep movsb\" : \"+S\"(p), \"+D\"(q), \"+c\"(left) : : \"memory\"); {self.steps()} return x + s + (unsigned char)to[17]; }}")

    def condition_codes(self, name: str) -> str:
        condition = self.random.choice(["c", "z", "s", "o", "be", "l", "g"])
        return (f"NOINLINE static u64 {name}(u64 x) {{ int f, n = 5; do {{ __asm__(\"cmp %2, %1\" : \"=@cc{condition}\"(f) : \"r\"(x), \"r\"({self.number()}ul)); "
                f"if (f) {{ {self.steps()} }} else {{ {self.steps()} }} }} while (--n); return x; }}")

    def flags_in_branches(self, name: str) -> str:
        """Flags that several blocks read, set before them."""
        return (f"NOINLINE static u64 {name}(u64 x) {{ u64 r = {self.number()}; __asm__ volatile(\"cmp ${self.number(1 << 30)}, %1\\n jb 2f\\n ja 3f\\n lea 1(%0), %0\\n jmp 4f\\n"
                "2: js 5f\\n lea 2(%0), %0\\n jo 4f\\n jmp 3f\\n5: lea 9(%0), %0\\n3: jnp 4f\\n lea 4(%0), %0\\n4: setc %b0\\n adc $0, %0\" : \"+r\"(r) : \"r\"(x) : \"cc\"); "
                f"{self.steps()} return x + r; }}")

    def registers(self, name: str) -> str:
        """Callers that know what their callee leaves alone (-fipa-ra)."""
        return (f"NOINLINE static u64 {name}_leaf(u64 x) {{ return x * {self.number()}ul + 7; }}\nNOINLINE static u64 {name}(u64 x) {{ u64 a = x + 1, b = x ^ {self.number()}ul, "
                f"c = x * 5, d = x - 3, e = ~x, f = x << 2; for (int i = 0; i < 4; ++i) {{ x = {name}_leaf(x + a); a += b ^ x; b += c; c ^= d + e; d += f; e -= a; f += 11; }} return x + a + b + c + d + e + f; }}")

    def variadic(self, name: str) -> str:
        return (f"NOINLINE static u64 {name}_sum(int n, ...) {{ va_list l; va_start(l, n); u64 s = 0; while (n--) s = s * 3 + va_arg(l, u64); va_end(l); return s; }}\n"
                f"NOINLINE static u64 {name}(u64 x) {{ {self.steps()} return {name}_sum(9, x, x + 1, 2ul, x ^ 3, 4ul, 5ul, 6ul, x, 8ul); }}")

    def floating(self, name: str) -> str:
        return (f"NOINLINE static u64 {name}(u64 x) {{ double d = (double)(x % 1000), s = 0; long double w = 1; float f = (float)(x % 77); for (int i = 1; i < 6; ++i) {{ s += d / i; w *= 1.5L + i; "
                f"f = f * 0.5f + (float)i; if (s > {self.number(3000)}.5) s -= d; }} return (u64)(s * 1000) + (u64)w + (u64)f + x % 5; }}")

    def frames(self, name: str) -> str:
        """Frames that are aligned, grow, and hold arrays."""
        return (f"NOINLINE static u64 {name}(u64 x) {{ _Alignas(64) u64 a[8]; char *more = (char *)alloca(x % 100 + 8); memset(more, 3, x % 100 + 8); for (int i = 0; i < 8; ++i) a[i] = x + i * {self.number()}ul; "
                f"{self.steps()} sink = (u64)more[3]; return a[x % 8] + (u64)more[x % 8]; }}").replace("_Alignas", "alignas" if self.language == "c++" else "_Alignas")

    def callbacks(self, name: str) -> str:
        return (f"static int {name}_less(const void *a, const void *b) {{ u64 x = *(const u64 *)a, y = *(const u64 *)b; return x % {self.number()} < y % {self.number()} ? -1 : x > y; }}\n"
                f"NOINLINE static u64 {name}(u64 x) {{ u64 v[12]; for (int i = 0; i < 12; ++i) v[i] = (x = x * 6364136223846793005ul + 1442695040888963407ul) >> 20; qsort(v, 12, sizeof v[0], {name}_less); return v[3] * 3 + v[7]; }}")

    def strings(self, name: str) -> str:
        return (f"NOINLINE static u64 {name}(u64 x) {{ char b[64]; int n = snprintf(b, sizeof b, \"%lu-%lx\", x, x ^ {self.number()}ul); for (int i = 0; i < n; ++i) x = x * 33 + (unsigned char)b[i]; return x + strlen(b); }}")

    def handlers(self, name: str) -> str:
        """A signal's handler in which another signal comes."""
        return (f"static u64 {name}_seen; static void {name}_on(int signal) {{ u64 x = {name}_seen + (u64)signal; {self.steps()} if (signal == SIGUSR1 && x % 3) raise(SIGUSR2); {self.steps()} {name}_seen += x; }}\n"
                f"NOINLINE static u64 {name}(u64 x) {{ {name}_seen = x; signal(SIGUSR1, {name}_on); signal(SIGUSR2, {name}_on); {self.steps()} raise(SIGUSR1); if (x & 4) raise(SIGUSR2); return x ^ {name}_seen; }}")

    def handlers_that_jump(self, name: str) -> str:
        """Out of one handler, or two."""
        return (f"static sigjmp_buf {name}_to; static volatile u64 {name}_x; static void {name}_on(int signal) {{ u64 x = {name}_x; {self.steps()} if (signal == SIGUSR1 && (x & 2)) raise(SIGUSR2); siglongjmp({name}_to, signal); }}\n"
                f"NOINLINE static u64 {name}_deep(u64 x, int n) {{ {self.steps()} if (!n) {{ {name}_x = x; raise(SIGUSR1); }} else x += {name}_deep(x, n - 1); return x; }}\n"
                f"NOINLINE static u64 {name}(u64 x) {{ volatile u64 kept = x; volatile int n = 0; signal(SIGUSR1, {name}_on); signal(SIGUSR2, {name}_on); kept += (u64)sigsetjmp({name}_to, 1) * {self.number()}; "
                f"if (++n < {self.random.randrange(2, 5)}) sink = {name}_deep(kept, n); return kept; }}")

    def faults(self, name: str) -> str:
        """A handler that mends what faulted, and one that steps over it."""
        over = self.random.randrange(2)
        mend = "gregs[REG_RIP] += 3" if over else f"gregs[REG_RAX] = (greg_t)&words[{self.random.randrange(16)}]"
        return (f"static void {name}_on(int signal, siginfo_t *info, void *data) {{ u64 x = (u64)(signal + info->si_code); {self.steps()} ((ucontext_t *)data)->uc_mcontext.{mend}; sink = x; }}\n"
                f"NOINLINE static u64 {name}(u64 x) {{ struct sigaction action; memset(&action, 0, sizeof action); action.sa_sigaction = {name}_on; action.sa_flags = SA_SIGINFO; sigaction(SIGSEGV, &action, 0); "
                f"for (u64 i = 0; i < 3; ++i) {{ u64 p = i == 1 ? (u64)&words[i] : i; __asm__ volatile(\".byte 0x48, 0x8b, 0x00\" : \"+a\"(p) : : \"memory\"); x += p; {self.steps()} }} return x; }}")

    def exceptions(self, name: str) -> str:
        return (f"NOINLINE static u64 {name}_deep(u64 x, int n) {{ Guard g{{x, {self.number()}}}; if (n == 0) {{ if (x % 3 == 0) throw (int)(x % 100); if (x % 3 == 1) throw std::runtime_error(\"r\"); return x; }} return {name}_deep(x * 3 + 1, n - 1) + 1; }}\n"
                f"NOINLINE static u64 {name}(u64 x) {{ try {{ x += {name}_deep(x, {self.random.randrange(1, 6)}); }} catch (int i) {{ {self.steps()} x += (u64)i; }} catch (const std::exception &e) {{ x ^= (u64)e.what()[0]; }} return x; }}")

    def rethrow(self, name: str) -> str:
        return (f"NOINLINE static u64 {name}(u64 x) {{ try {{ try {{ if (x & 1) throw std::string(\"a\"); throw x; }} catch (const std::string &) {{ try {{ throw 5; }} catch (int) {{ x += 9; }} throw; }} catch (u64 y) {{ {self.steps()} throw y + 1; }} }} "
                f"catch (u64 y) {{ return x + y; }} catch (...) {{ return x * {self.number()}ul; }} }}")

    def virtual(self, name: str) -> str:
        return (f"struct {name}_A {{ virtual u64 f(u64 x) {{ {self.steps()} return x; }} virtual ~{name}_A() {{ sink = sink + 1; }} }}; struct {name}_B : {name}_A {{ u64 f(u64 x) override {{ {self.steps()} return {name}_A::f(x) + 1; }} }};\n"
                f"NOINLINE static u64 {name}(u64 x) {{ {name}_A *p = x & 1 ? new {name}_B : new {name}_A; x = p->f(x); delete p; return x; }}")

    def cleanups(self, name: str) -> str:
        return (f"NOINLINE static void {name}_may(u64 x) {{ if (x % 4 == 0) throw 'c'; }}\nNOINLINE static u64 {name}(u64 x) {{ u64 t = x; try {{ Guard a{{t, 1}}; std::string s(x % 50, 'q'); {name}_may(x); Guard b{{t, s.size()}}; {name}_may(x >> 2); }} catch (char c) {{ t += (u64)c; }} return t; }}")

    def program(self) -> str:
        kinds = self.common + (self.cxx * 2 if self.language == "c++" else [])
        chosen = self.random.sample(kinds, min(len(kinds), self.random.randrange(6, 11)))
        functions = [kind(f"f{i}") for i, kind in enumerate(chosen)]
        calls = " ".join(f"x += f{i}(x);" for i in range(len(chosen)))
        prelude = PRELUDE + (CXX_PRELUDE if self.language == "c++" else "")
        return f"{prelude}\n" + "\n".join(functions) + (
            f"\nint main(void) {{ u64 x = {self.number()}; for (int round = 0; round < 12; ++round) {{ {calls} }} printf(\"%lx %lx\\n\", x, words[3]); return (int)(x % 50); }}\n")


def program(seed: int, language: str) -> str:
    return Shapes(seed, language).program()
