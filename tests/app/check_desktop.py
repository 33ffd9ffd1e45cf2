#!/usr/bin/env python3
"""What a desktop and its shells need, looked at by the tools that are made for it.

usage: check_desktop.py --resources FOLDER --traceback PROGRAM [--viewer PROGRAM] --folder SCRATCH
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

ID = "io.github.traceback.Viewer"
SNAP = "application/vnd.traceback.snap"


def ran(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, **more)
    return done.returncode, done.stdout + done.stderr


def words_of(program, *command):
    status, text = ran(program, "complete-words", *command)
    assert status == 0, text
    return [line.split("\t") for line in text.splitlines()]


class Desktop(unittest.TestCase):
    def test_every_file_goes_by_one_id(self):
        for suffix in (".desktop", ".metainfo.xml", ".mime.xml"):
            self.assertTrue((OPTIONS.resources / (ID + suffix)).exists(), suffix)
        metainfo = ElementTree.parse(OPTIONS.resources / f"{ID}.metainfo.xml").getroot()
        self.assertEqual(metainfo.findtext("id"), ID)
        self.assertEqual(metainfo.findtext("launchable"), f"{ID}.desktop")
        self.assertIn(SNAP, [each.text for each in metainfo.iter("mediatype")])
        desktop = (OPTIONS.resources / f"{ID}.desktop").read_text()
        self.assertIn(f"Icon={ID}\n", desktop)
        self.assertIn(f"MimeType={SNAP};\n", desktop)
        self.assertTrue((OPTIONS.resources / "icons" / f"{ID}.svg").exists())
        self.assertTrue((OPTIONS.resources / "icons" / "application-vnd.traceback.snap.svg").exists())

    def test_desktop_file_is_valid(self):
        status, text = ran("desktop-file-validate", OPTIONS.resources / f"{ID}.desktop")
        self.assertEqual((status, text), (0, ""))

    def test_metainfo_is_valid(self):
        status, text = ran("appstreamcli", "validate", "--no-net", "--explain", OPTIONS.resources / f"{ID}.metainfo.xml")
        self.assertEqual(status, 0, text)

    def test_snaps_are_known_by_their_bytes(self):
        data = OPTIONS.folder / "share"
        shutil.rmtree(data, ignore_errors=True)
        packages = data / "mime" / "packages"
        packages.mkdir(parents=True)
        shutil.copy(OPTIONS.resources / f"{ID}.mime.xml", packages / f"{ID}.xml")
        status, text = ran("update-mime-database", "-V", data / "mime")
        self.assertEqual(status, 0, text)
        magic = (data / "mime" / "magic").read_bytes()
        self.assertIn(b"TBSNAP\r\n", magic)
        self.assertIn(SNAP.encode(), magic)
        self.assertIn(f"{SNAP}:*.tbsnap", (data / "mime" / "globs").read_text())
        # As a snap begins, in the format's own header.
        header = (OPTIONS.resources.parent / "runtime" / "format" / "snap.h").read_text()
        self.assertRegex(header, r"TBSNAP")

    def test_manuals_are_clean(self):
        for name in ("traceback.1", "traceback-viewer.1", "traceback-site.5", "tracebackd.8"):
            status, text = ran("mandoc", "-T", "lint", "-W", "warning", OPTIONS.resources / "man" / name)
            self.assertEqual((status, text), (0, ""), name)

    def test_viewers_options_are_in_its_manual(self):
        if OPTIONS.viewer is None:
            self.skipTest("built without the viewer")
        manual = (OPTIONS.resources / "man" / "traceback-viewer.1").read_text().replace("\\-", "-")
        status, text = ran(OPTIONS.viewer, "--help")
        self.assertEqual(status, 0, text)
        options = set(re.findall(r"^ +(?:-\w, )?(--[a-z][a-z-]*)", text, re.M)) - {"--help-all"}
        self.assertIn("--screenshot", options)
        for option in options:
            self.assertIn(option, manual, option)


class Completions(unittest.TestCase):
    """Every option of every command is offered by each shell, straight from the command line's definitions."""

    def setUp(self):
        self.file = OPTIONS.resources / "completions"
        self.commands = {fields[1]: [] for fields in words_of(OPTIONS.traceback) if fields[0] == "command"}
        self.assertIn("instrument", self.commands)
        self.assertNotIn("collect", self.commands)
        for command in self.commands:
            self.commands[command] = [
                fields[1] for fields in words_of(OPTIONS.traceback, command) if fields[0] == "option" and fields[1].startswith("--")]
            self.assertIn("--help", self.commands[command])

    def bash(self, *words):
        script = (f'source "{self.file}/traceback"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_traceback 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"')
        status, text = ran("bash", "-c", script, "bash", OPTIONS.traceback, *words)
        self.assertEqual(status, 0, text)
        return text.split()

    def fish(self, text):
        environment = dict(os.environ, PATH=f"{OPTIONS.traceback.parent}:{os.environ['PATH']}",
                           XDG_CONFIG_HOME=str(OPTIONS.folder), XDG_DATA_HOME=str(OPTIONS.folder), HOME=str(OPTIONS.folder))
        status, output = ran("fish", "--no-config", "-c",
                             f'source "{self.file}/traceback.fish"; complete -C "{text}"', env=environment)
        self.assertEqual(status, 0, output)
        return [line.split("\t")[0] for line in output.splitlines()]

    def zsh(self, *words):
        # What the completion would show is caught where it hands it over.
        script = (f'_describe() {{ local list=${{@[-1]}}; print -rl -- ${{${{(P)list}}%%:*}} }}; '
                  '_files() { print files "$@" }; _message() { }; _pids() { print pids }; _command_names() { print names }; '
                  '_normal() { print normal }; _gnu_generic() { print generic }; '
                  f'words=("$@"); CURRENT=$#; service=traceback; source "{self.file}/_traceback"')
        status, text = ran("zsh", "-f", "-c", script, "zsh", OPTIONS.traceback, *words)
        self.assertEqual(status, 0, text)
        return text.split()

    def test_commands(self):
        for offered in (self.bash(""), self.fish("traceback "), self.zsh("")):
            for command in self.commands:
                self.assertIn(command, offered)

    def test_options(self):
        for command, options in self.commands.items():
            for offered in (self.bash(command, "--"), self.fish(f"traceback {command} --"), self.zsh(command, "--")):
                for option in options:
                    self.assertIn(option, offered, command)

    def test_the_viewers_options(self):
        if OPTIONS.viewer is None:
            self.skipTest("built without the viewer")
        environment = dict(os.environ, PATH=f"{OPTIONS.viewer.parent}:{os.environ['PATH']}", HOME=str(OPTIONS.folder),
                           XDG_CONFIG_HOME=str(OPTIONS.folder), XDG_DATA_HOME=str(OPTIONS.folder))
        _, fish = ran("fish", "--no-config", "-c",
                      f'source "{self.file}/traceback-viewer.fish"; complete -C "traceback-viewer --"', env=environment)
        script = (f'source "{self.file}/traceback"; COMP_WORDS=("$1" --); COMP_CWORD=1; _traceback_viewer; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        _, bash = ran("bash", "-c", script, "bash", OPTIONS.viewer)
        for option in ("--compare", "--screenshot", "--source-path"):
            self.assertIn(option, bash)
            self.assertIn(option, fish)

    def test_values(self):
        for offered in (self.bash("print", "--format", ""), self.fish("traceback print --format "),
                        self.zsh("print", "--format", "")):
            self.assertEqual(sorted(offered), ["json", "text"])

    def test_files_are_snaps(self):
        folder = OPTIONS.folder / "files"
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("a.tbsnap", "b.txt"):
            (folder / name).touch()
        self.assertEqual(self.bash("compare", f"{folder}/"), [f"{folder}/a.tbsnap"])
        self.assertEqual(self.zsh("compare", ""), ["files", "-g", "*.tbsnap"])

    def test_what_is_run_is_completed_by_itself(self):
        self.assertIn("normal", self.zsh("run", "--null", "--", "ls", "-"))
        self.assertIn("names", self.zsh("run", "--buffer-size", "1M", ""))
        self.assertIn("bash", self.bash("run", "bas"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("resources", "traceback", "viewer", "folder"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=name != "viewer")
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.folder.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *rest])
