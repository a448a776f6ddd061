# SPDX-License-Identifier: MIT
"""How many dispatches of all test programs were replayed, and why the others were not. Tests note theirs as they run, in one
file each; `shares.py FOLDER` prints the sum and fails below the goal."""
import collections
import json
import os
import pathlib
import sys

GOAL = 0.99


def note(name, outcomes):
    """Called after a run with several groups; KREPLAY_SHARES is the folder."""
    folder = os.environ.get("KREPLAY_SHARES")
    if not folder:
        return
    counts = collections.Counter("replayed" if o["outcome"] == "replayed" else o["reason"] for o in outcomes)
    path = pathlib.Path(folder) / (name.replace("/", "_") + ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(counts), encoding="utf-8")


def main():
    total, where = collections.Counter(), collections.defaultdict(set)
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
    for path in files:
        counts = json.loads(path.read_text(encoding="utf-8"))
        total.update(counts)
        for key in counts:
            where[key].add(path.stem)
    dispatches = sum(total.values())
    if not dispatches:
        print("no test has noted anything")
        return 1
    share = total["replayed"] / dispatches
    print(f"{dispatches} dispatches of {len(files)} runs: {100 * share:.2f} % replayed")
    for key, count in total.most_common():
        if key != "replayed":
            print(f"{count:8} {key}: {', '.join(sorted(where[key]))}")
    return 0 if share >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
