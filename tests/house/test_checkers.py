#!/usr/bin/env python3
"""The checkers of this folder find what they are there to find."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_includes  # noqa: E402
import check_tree  # noqa: E402

PROJECT = pathlib.Path(__file__).parents[2]


class IncludeChecker(unittest.TestCase):
    def findings(self, name: str, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "ARCHITECTURE.md").write_text((PROJECT / "ARCHITECTURE.md").read_text())
            for header in ["model/ids.h", "loader/load.h", "loader/elf/image.h", "views/pane.h", "runtime/format/ring.h"]:
                (root / header).parent.mkdir(parents=True, exist_ok=True)
                (root / header).write_text("#pragma once\n")
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
            return check_includes.check(root)

    def test_includes_along_the_table_pass(self):
        self.assertEqual(self.findings("loader/a.cpp", '#include "model/ids.h"\n#include "loader/load.h"\n#include <vector>\n'), [])
        self.assertEqual(self.findings("instrument/a.cpp", '#include "loader/elf/image.h"\n'), [])
        self.assertEqual(self.findings("app/viewer/a.cpp", '#include "views/pane.h"\n#include <QWidget>\n'), [])
        self.assertEqual(self.findings("app/traceback/a.cpp", '#include "loader/load.h"\n'), [])

    def test_includes_against_the_table_are_found(self):
        for name, target in [("model/a.cpp", "loader/load.h"), ("loader/a.cpp", "views/pane.h"),
                             ("instrument/a.cpp", "loader/load.h"), ("views/a.cpp", "loader/load.h"),
                             ("runtime/inject/a.cpp", "model/ids.h"), ("runtime/format/a.h", "model/ids.h"),
                             ("app/traceback/a.cpp", "views/pane.h")]:
            with self.subTest(name=name, target=target):
                self.assertEqual(len(self.findings(name, f'#include "{target}"\n')), 1)

    def test_qt_outside_the_viewer_is_found(self):
        for name in ["model/a.cpp", "loader/a.cpp", "instrument/a.cpp", "runtime/collect/a.cpp", "app/traceback/a.cpp"]:
            for header in ["QString", "QtCore/qglobal.h", "KSyntaxHighlighting/Theme"]:
                with self.subTest(name=name, header=header):
                    self.assertEqual(len(self.findings(name, f"#include <{header}>\n")), 1)

    def test_library_code_in_the_traced_process_is_found(self):
        self.assertEqual(len(self.findings("runtime/inject/a.cpp", "#include <string>\n")), 1)
        self.assertEqual(self.findings("runtime/inject/a.cpp", "#include <cstdint>\n#include <sys/mman.h>\n"), [])

    def test_relative_and_misquoted_includes_are_found(self):
        self.assertEqual(len(self.findings("model/a.cpp", '#include "ids.h"\n')), 1)
        self.assertEqual(len(self.findings("loader/a.cpp", "#include <model/ids.h>\n")), 1)

    def test_a_namespace_that_is_not_the_folders_is_found(self):
        self.assertEqual(len(self.findings("loader/a.cpp", "namespace traceback::model {\nint f();\n}\n")), 1)
        self.assertEqual(self.findings("loader/a.cpp", "namespace traceback::loader::elf {\n"), [])

    def test_forward_declarations_of_others_pass(self):
        self.assertEqual(self.findings("loader/a.h", "namespace traceback::model {\nclass Trace;\nstruct Entry;\n}\n"), [])
        self.assertEqual(len(self.findings("loader/a.h", "namespace traceback::model {\nclass Trace;\nint f();\n}\n")), 1)

    def test_a_source_outside_the_folders_is_found(self):
        self.assertEqual(len(self.findings("common/a.cpp", "\n")), 1)


class TreeChecker(unittest.TestCase):
    def findings(self, name: str, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for top in check_tree.FOLDERS:
                (root / top).mkdir()
                (root / top / "file").write_text("\n")
            for command in check_tree.RUN_DIRECTLY:
                (root / command).write_text("#!/bin/sh\n")
                (root / command).chmod(0o755)
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
            return check_tree.check(root)

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.findings("model/a.cpp", "std::string home = getenv(\"HOME\");\n"), [])

    def test_foreign_files_and_folders_are_found(self):
        self.assertEqual(len(self.findings("docs/a.md", "\n")), 1)
        self.assertEqual(len(self.findings("notes.txt", "\n")), 1)

    def test_paths_of_one_machine_are_found(self):
        for text in ["open(\"/ho" + "me/anna/x\")", "cd /ro" + "ot/x", "cp /Us" + "ers/anna/x ."]:
            with self.subTest(text=text):
                self.assertEqual(len(self.findings("tests/a.cpp", text + "\n")), 1)

    def test_registry_addresses_are_found(self):
        self.assertEqual(len(self.findings(".ci/list", "deb ht" + "tp://mirror.example/debian trixie main\n")), 1)

    def test_links_to_nowhere_are_found(self):
        self.assertEqual(len(self.findings("README.md", "See [that](nowhere.md) and [this](model/file).\n")), 1)

    def test_commands_must_be_executable(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("check: missing or not executable", check_tree.check(pathlib.Path(folder)))


if __name__ == "__main__":
    unittest.main()
