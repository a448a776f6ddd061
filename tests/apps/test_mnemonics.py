# SPDX-License-Identifier: MIT
"""Usage: test_mnemonics.py LIBRARY. The list of a library's mnemonics is what is in the library. Skipped without it."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
library = sys.argv[1]
installed = sorted(pathlib.Path("/usr/lib/x86_64-linux-gnu").glob(f"{library}.so.?"))
if not installed:
    print(f"skipped: {library} is not installed")
    sys.exit(77)
listed = {line.strip() for line in (HERE / "mnemonics" / f"{library}.txt").read_text().splitlines() if line[0] != "#"}
command = [HERE.parents[1] / "tools" / "coverage", "--list", "--in", installed[0]]
found = set(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split())
print(f"{len(found)} mnemonics; not listed: {sorted(found - listed)}; not found: {sorted(listed - found)}")
sys.exit(found != listed)
