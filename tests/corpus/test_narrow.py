#!/usr/bin/env python3
"""A wrong instrumentor is found out: it damages the copy of one function, which the bisection names and the checker refuses.

    test_narrow.py --programs FOLDER --folder FOLDER     FOLDER: of the build; and one to work in
"""

import math
import pathlib
import shutil
import stat
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import narrow  # noqa: E402
import of_build  # noqa: E402
from checks import Checks  # noqa: E402
from jobs import Script  # noqa: E402
from objects import Objects  # noqa: E402
from runner import Runner  # noqa: E402

COUNT = 40
# The instrumentor, but for one function: a constant in its copy is another, wherever that stands.
WRONG = r"""#!{python}
import struct, subprocess, sys
sys.path.insert(0, {here!r})
import maps


def shift(image, address):
    # by how much it is above its place in the file
    table, = struct.unpack_from("<Q", image, 32)
    for i in range(struct.unpack_from("<H", image, 56)[0]):
        kind, _, offset, start, _, size = struct.unpack_from("<IIQQQQ", image, table + 56 * i)
        if kind == 1 and start <= address < start + size:
            return start - offset


ran = subprocess.run([{traceback!r}, *sys.argv[1:]])
out = sys.argv[sys.argv.index("-o") + 1]
if ran.returncode == 0:
    with open(out, "r+b") as file:
        image = bytearray(file.read())
        for function in maps.functions(out):
            if function.name == {victim!r} and function.copy:
                start = function.copy - shift(image, function.copy)
                code = image[start:start + function.copy_size]
                right = ({constant}).to_bytes(4, "little")
                if right not in code:
                    sys.exit(3)
                image[start:start + function.copy_size] = code.replace(right, ({constant} ^ 4).to_bytes(4, "little"))
                file.seek(0)
                file.write(image)
sys.exit(ran.returncode)
"""


def constant(letter: str, number: int) -> int:
    return 0x01010101 * (1 if letter == "f" else 2) + 0x1357 * number


def functions(letter: str) -> str:
    return "\n".join(f"__attribute__((noipa)) unsigned {letter}{i:02}(unsigned x) {{ return (x ^ {constant(letter, i):#x}u) * 3; }}" for i in range(COUNT))


class Narrow(of_build.OfBuild):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)
        (cls.folder / "state" / "inputs").mkdir(parents=True)
        library, program = cls.folder / "libnarrow.so", cls.folder / "narrow"
        (cls.folder / "library.c").write_text(functions("g"))
        calls = "".join(f'printf("%u\\n", {letter}{i:02}({i}));' for letter in "fg" for i in range(COUNT))
        declarations = "".join(f"unsigned g{i:02}(unsigned);" for i in range(COUNT))
        (cls.folder / "program.c").write_text(f"#include <stdio.h>\n{declarations}\n{functions('f')}\n"
                                              f"int main(void) {{ {calls} return 0; }}\n")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, cls.folder / "library.c"], check=True)
        subprocess.run(["cc", "-O1", "-o", program, cls.folder / "program.c", library, f"-Wl,-rpath,{cls.folder}"], check=True)
        cls.library, cls.program = str(library), str(program)
        cls.job = Script("test", "narrow", f"run {program}; run {program} > copy\n")

    def runner(self, traceback: pathlib.Path) -> Runner:
        runner = Runner(Objects(traceback, self.folder / "state", traceback.name), self.folder / "state", self.programs, "bound")
        self.addCleanup(runner.close)
        return runner

    def wrong(self, letter: str, number: int) -> pathlib.Path:
        victim = f"{letter}{number:02}"
        file = self.folder / f"wrong-{victim}"
        file.write_text(WRONG.format(python=sys.executable, here=str(HERE), traceback=str(self.programs / "bin" / "traceback"), victim=victim,
                                     constant=constant(letter, number)))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return file

    def test_the_damaged_function_is_named(self):
        cases = (("f", 23, self.program, "probes"), ("f", 23, self.program, "null"), ("g", 0, self.library, "probes"),
                 ("g", COUNT - 1, self.library, "probes"))
        for letter, number, file, mode in cases:
            with self.subTest(function=f"{letter}{number}", mode=mode):
                found = narrow.Narrowing(self.job, self.runner(self.wrong(letter, number)), mode, 200).culprit()
                self.assertEqual((found.function.name, found.file, found.sole), (f"{letter}{number:02}", file, True))
                # Everything; the file, two at most; it alone; all its functions left out; halves of them; the one left out.
                self.assertLessEqual(found.runs, 1 + 2 + 1 + 1 + math.ceil(math.log2(COUNT + 1)) + 1)

    def test_without_damage_there_is_none(self):
        self.assertIsNone(narrow.Narrowing(self.job, self.runner(self.programs / "bin" / "traceback"), "probes", 200).culprit())

    def test_the_checker_refuses_the_damaged_file_alone(self):
        runner = self.runner(self.wrong("f", 7))
        checks = Checks(self.programs / "bin" / "truth_second_decoder", self.folder / "state")
        for mode in ("null", "probes"):
            for path, good in ((self.program, False), (self.library, True)):
                with self.subTest(path=path, mode=mode):
                    copy, _ = runner.objects.copy(path, mode)
                    self.assertFalse(checks.known_already(path, copy))
                    said = checks.check(path, copy, mode)
                    self.assertEqual(said["decoder"], 0 if good else 1, said)
                    self.assertEqual(said["lint"], [])
                    self.assertEqual(Checks.wrong(said) == "", good)
                    self.assertTrue(checks.known_already(path, copy))


if __name__ == "__main__":
    of_build.main()
