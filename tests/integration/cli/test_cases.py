#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a table of command lines. Usage: test_cases.py TABLE

A line of a table is `arguments | exit status | check; check; ...`; blank lines and those that begin with # are none. The
arguments begin with kreplay or rocprofv3, which may stand behind NAME=value for the environment. `three` as the program
is the example of three kernels, `note` writes the counter groups of each run to a file and needs no GPU. A line
`@ NAME | TEXT` puts a file there for the cases below it; \\n in the text ends a line, \\t is a tab. Every case
runs in a folder of its own, on the software GPU, with "out" as the name of its files unless it says otherwise.
"""
import concurrent.futures
import csv
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["KREPLAY_BUILD"])
PROGRAMS = {"three": [str(BUILD / "examples" / "three_kernels")],
            "note": ["sh", "-c", 'echo "$KREPLAY_PMC" >>runs; printenv KREPLAY_DERIVED >derived; exit 0']}
WORKERS = 2
LIMIT_S = 120


class Run:
    """One case, executed in `folder`."""

    def __init__(self, words, folder):
        self.folder = folder
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("KREPLAY_", "ROCPROF_"))}
        environment |= {"KREPLAY_SOFT_GPU": "on", "KREPLAY_OUTPUT_FILE": "out"}
        while re.match(r"[A-Z_0-9]+=", words[0]):
            name, value = words.pop(0).split("=", 1)
            environment[name] = value
        if words[0] == "rocprofv3":
            (folder / "rocprofv3").symlink_to(BUILD / "bin" / "kreplay")
        command = [str(folder / "rocprofv3" if words[0] == "rocprofv3" else BUILD / "bin" / "kreplay")]
        for word in words[1:]:
            known = command[-1] == "--" and word in PROGRAMS
            command += PROGRAMS[word] if known else [word]
        self.result = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True,
                                     timeout=LIMIT_S, check=False)

    def text(self, name):
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def rows(self):
        """Counter rows of all CSV files, in order."""
        return [row for path in sorted(self.folder.rglob("*counter_collection.csv"))
                for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]


def short(name):
    return name.split("(")[0]


# Each check: what there is, to be equal to what stands behind its word.
def values(run, counter):
    return [f"{float(row['Counter_Value']):g}" for row in run.rows() if row["Counter_Name"] == counter]


def dispatches(run):
    names = {}
    for row in run.rows():
        names[int(row["Dispatch_Id"])] = short(row["Kernel_Name"])
    return [names[number] for number in sorted(names)]


FACTS = {
    "rows": lambda run: [str(len(run.rows()))],
    "ids": lambda run: sorted({row["Dispatch_Id"] for row in run.rows()}, key=int),
    "kernels": lambda run: sorted({short(row["Kernel_Name"]) for row in run.rows()}),
    "sequence": dispatches,
    "counters": lambda run: sorted({row["Counter_Name"] for row in run.rows()}),
    "passes": lambda run: sorted({row["Replay_Pass"] for row in run.rows()}, key=int),
    "groups": lambda run: run.text("runs").split("\n")[:-1],
    "derived": lambda run: run.text("derived").split(),
    "lines": lambda run: [str(len(run.result.stderr.splitlines()))],
}


def wrong(run, check):
    """Why the check does not hold; None if it does."""
    word, _, rest = check.partition(" ")
    rest = rest.strip()
    if word in ("err", "out", "no-err", "no-out"):
        text = run.result.stderr if word.endswith("err") else run.result.stdout
        return None if (rest in text) != word.startswith("no-") else f"{check}: {text!r}"
    if word in ("file", "no-file"):
        there = sorted(str(path.relative_to(run.folder)) for path in run.folder.rglob(rest))
        return None if bool(there) != word.startswith("no-") else f"{check}: {sorted(map(str, run.folder.rglob('*')))}"
    if word == "value":
        counter, *expected = rest.split()
        got = values(run, counter)
    elif word == "groups":
        expected, got = [group.strip() for group in rest.split(" then ")], FACTS[word](run)
    else:
        expected, got = rest.split(), FACTS[word](run)
    return None if got == expected else f"{check}: {got}"


def execute(case):
    """What is wrong with a case: a list of texts."""
    line, files = case
    arguments, status, checks = [cell.strip() for cell in line.rsplit(" | ", 2)]
    with tempfile.TemporaryDirectory(prefix="kreplay-case-") as folder:
        for name, text in files.items():
            (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
        run = Run(shlex.split(arguments), pathlib.Path(folder))
        found = [wrong(run, check) for check in checks.split("; ")]
        if run.result.returncode != int(status):
            found.append(f"exit status {run.result.returncode}: {run.result.stderr}")
        return [text for text in found if text]


def main():
    cases, files = [], {}
    for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        if line.startswith("@ "):
            name, text = line[2:].split(" | ", 1)
            files = {**files, name: text.replace("\\n", "\n").replace("\\t", "\t")}
        elif line.strip() and not line.startswith("#"):
            cases.append((line, files))
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        found = list(pool.map(execute, cases))
    for (case, _), texts in zip(cases, found):
        for text in texts:
            print(f"FAIL: {case}\n      {text}")
    failed = sum(bool(texts) for texts in found)
    print(f"{len(cases) - failed} of {len(cases)} cases hold")
    return failed != 0 or not cases


if __name__ == "__main__":
    sys.exit(main())
