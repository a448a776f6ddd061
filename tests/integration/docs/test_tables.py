#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of the documents against the sources. Usage: test_tables.py SOURCES"""
import pathlib
import re
import sys
import unittest

SOURCES = pathlib.Path(sys.argv.pop(1))
# Where the short names of docs/parity.md lead, as its first paragraph says.
PLACES = {"docs": "tests/integration/docs/CMakeLists.txt", "engine": "tests/unit/engine/CMakeLists.txt",
          "hsa": "tests/unit/hsa/test_*.c", "layout": "tests/unit/api/*", "tools": "tests/integration/tools/test_tools.py",
          "apps": "tests/integration/softgpu/test_apps.py", "isolation": "tests/integration/softgpu/test_isolation.py"}


def rows(document):
    for line in (SOURCES / document).read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| rule") and not line.startswith("| what |"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def text_of(pattern):
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob(pattern)))


def place_of(group):
    return PLACES.get(group, f"tests/unit/engine/test_{group}.c")


class Parity(unittest.TestCase):
    def test_each_rule_has_a_test_or_a_reason(self):
        for row in rows("docs/parity.md"):
            if len(row) == 5 and not row[0].startswith("A9"):
                self.assertTrue(row[3] not in ("", "-") or row[4] not in ("", "-", "none"), row[0])

    def test_named_tests_exist(self):
        found = 0
        for row in rows("docs/parity.md"):
            for group, name in re.findall(r"`([a-z]+)\.([A-Za-z_.]+)`", row[3] if len(row) == 5 else ""):
                name = name.split(".")[-1]
                if name in ("c", "cpp", "py", "sh", "txt"):
                    continue  # a file
                self.assertIn(name, text_of(place_of(group)), row[0])
                found += 1
        self.assertGreater(found, 50)

    def test_named_files_exist(self):
        for row in rows("docs/parity.md"):
            for name in re.findall(r"`((?:src|tests|include|docs|examples|bench)/[^` ]+)`", " ".join(row)):
                self.assertTrue((SOURCES / name).exists(), name)


class Limits(unittest.TestCase):
    def test_each_reason_is_explained(self):
        header = (SOURCES / "include/kreplay/kreplay.h").read_text(encoding="utf-8")
        header = header.split("KREPLAY_REASON_MAP(X)")[1]
        keys = re.findall(r'^    X\([A-Z_]+, [0-9]+, "([a-z_]+)"', header, re.MULTILINE)
        explained = {row[0].strip("`") for row in rows("docs/limits.md")}
        self.assertGreater(len(keys), 15)
        self.assertEqual(set(keys) - {"none"} - explained, set())


if __name__ == "__main__":
    unittest.main()
