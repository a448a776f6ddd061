# SPDX-License-Identifier: MIT
"""Runs programs plain, on the software GPU, and under kreplay; the build folder comes from KREPLAY_BUILD."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["KREPLAY_BUILD"])
KREPLAY = BUILD / "bin" / "kreplay"
SOFTGPU_RUN = BUILD / "bin" / "softgpu-run"
EXAMPLES = BUILD / "examples"
APPS = BUILD / "tests" / "apps"
LIMIT_S = 300  # a hang is a failure; nothing here takes a tenth of it on an idle machine

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "validate"))


def run(command, **environment):
    """CompletedProcess with stdout and stderr as text. In a sanitizer build the sanitizer is loaded first, without its leak
    check: HIP and ROCr keep much until the end."""
    preload = os.environ.get("KREPLAY_TEST_PRELOAD")
    if preload:
        environment = {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0", **environment}
    return subprocess.run([str(c) for c in command], env={**os.environ, **environment}, text=True, capture_output=True,
                          timeout=LIMIT_S, check=False)


def plain(program, *arguments, **environment):
    return run([SOFTGPU_RUN, "--", program, *arguments], **environment)


class Replay:
    """One program under kreplay with the given counter groups; `document` is its JSON, `text` its terminal output."""

    def __init__(self, groups, program, *arguments, options=(), **environment):
        self.folder = tempfile.TemporaryDirectory(prefix="kreplay-test-")
        command = [KREPLAY, "run"]
        for group in groups:
            command += ["--pmc", *group.split()]
        command += ["--replay-mode", "kernel", "--output-format", "json", "-d", self.folder.name, "-o", "out",
                    "--soft-gpu", *options, "--", program, *arguments]
        self.result = run(command, **environment)
        self.path = pathlib.Path(self.folder.name) / "out_results.json"

    @property
    def document(self):
        with open(self.path, encoding="utf-8") as file:
            return json.load(file)

    @property
    def process(self):
        return self.document["rocprofiler-sdk-tool"][0]

    def explain(self):
        return (f"exit status {self.result.returncode}\n--- stdout\n{self.result.stdout}\n--- stderr\n"
                f"{self.result.stderr}")
