#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a counter_collection JSON of a kernel replay run: are passes, ids, groups, values and geometry consistent?

Each rule is a function that takes a Run and yields one line per problem. `check` runs them all; as a command this
prints the problems and exits 1 if there are any:

    validate.py RESULTS.json --group "SQ_WAVES SQ_INSTS_VALU GRBM_COUNT" --group "..." \
        [--kernel NAME GRID WORKGROUP WAVES] ... [--dispatches N]
"""
import argparse
import collections
import json
import sys

# Counts that the launch and the instruction stream fix; everything else depends on time or caches.
EXACT_PREFIX = "SQ_"
INEXACT = {"SQ_BUSY_CYCLES", "SQ_WAVE_CYCLES", "SQ_WAIT_INST_LDS"}
BAND = 1.1  # largest / smallest of a counter that may vary

Kernel = collections.namedtuple("Kernel", "name grid workgroup waves")


class Run:
    """The records of one process, keyed by (dispatch id, pass)."""

    def __init__(self, process, groups, kernels=(), dispatches=None):
        self.groups = groups
        self.kernels = kernels
        self.dispatches = dispatches
        self.counter_names = {c["id"]["handle"]: c["name"] for c in process["counters"]}
        self.kernel_names = {k["kernel_id"]: k["formatted_kernel_name"] for k in process["kernel_symbols"]}
        self.records = process["callback_records"]["counter_collection"]

    @property
    def common(self):
        return set.intersection(*(set(g) for g in self.groups))

    @staticmethod
    def dispatch_id(record):
        return record["dispatch_data"]["dispatch_info"]["dispatch_id"]

    def name(self, record):
        return self.kernel_names.get(record["dispatch_data"]["dispatch_info"]["kernel_id"], "?")

    def values(self, record):
        """{counter name: [value of each instance]}"""
        result = collections.defaultdict(list)
        for value in record["records"]:
            result[self.counter_names.get(value["counter_id"]["handle"], "?")].append(value["value"])
        return result

    def sums(self, record):
        return {name: sum(values) for name, values in self.values(record).items()}

    def by_dispatch(self):
        result = collections.defaultdict(list)
        for record in self.records:
            result[self.dispatch_id(record)].append(record)
        return dict(sorted(result.items()))


def pass_set(run):
    """Per dispatch the set of passes is exactly 0..N-1, each once."""
    wanted = list(range(len(run.groups)))
    for dispatch, records in run.by_dispatch().items():
        passes = sorted(r["replay_pass"] for r in records)
        if passes != wanted:
            yield f"dispatch {dispatch}: passes {passes}, expected {wanted}"


def contiguous_ids(run):
    """Dispatch ids are contiguous from 1 and come in ascending order."""
    seen = [run.dispatch_id(r) for r in run.records]
    distinct = sorted(set(seen))
    if not distinct:
        yield "no dispatch at all"
    elif distinct != list(range(1, len(distinct) + 1)):
        yield f"dispatch ids are not contiguous from 1: {distinct[:20]}"
    if seen != sorted(seen):
        yield "dispatch ids are not in ascending order"
    if run.dispatches is not None and len(distinct) != run.dispatches:
        yield f"{len(distinct)} dispatches, expected {run.dispatches}"


def common_counters(run):
    """Counters of every group: in every pass, above 0, equal over the passes (exactly, or within a band)."""
    for dispatch, records in run.by_dispatch().items():
        for counter in sorted(run.common):
            values = [run.sums(r).get(counter) for r in records]
            if None in values:
                yield f"dispatch {dispatch}: {counter} is missing in a pass"
                continue
            if min(values) <= 0:
                yield f"dispatch {dispatch}: {counter} is {min(values)} in a pass"
                continue
            exact = counter.startswith(EXACT_PREFIX) and counter not in INEXACT
            if exact and len(set(values)) != 1:
                yield f"dispatch {dispatch}: {counter} differs over the passes: {values}"
            if not exact and max(values) > BAND * min(values):
                yield f"dispatch {dispatch}: {counter} varies by more than {BAND}: {values}"


def pass_has_its_group(run):
    """Pass i carries exactly the counters of group i."""
    for record in run.records:
        index = record["replay_pass"]
        if not 0 <= index < len(run.groups):
            continue  # pass_set reports it
        got, wanted = set(run.values(record)), set(run.groups[index])
        if got != wanted:
            yield (f"dispatch {run.dispatch_id(record)} pass {index}: missing {sorted(wanted - got)}, "
                   f"unexpected {sorted(got - wanted)}")


def unique_counters(run):
    """Over the passes of a dispatch every counter that was asked for has been collected."""
    wanted = set().union(*(set(g) for g in run.groups))
    for dispatch, records in run.by_dispatch().items():
        got = set().union(*(set(run.values(r)) for r in records))
        if got != wanted:
            yield f"dispatch {dispatch}: never collected {sorted(wanted - got)}, unexpected {sorted(got - wanted)}"


def instance_counts(run):
    """A counter has the same number of values in every record: none lost, none twice."""
    counts = collections.defaultdict(set)
    for record in run.records:
        for counter, values in run.values(record).items():
            counts[counter].add(len(values))
    for counter, sizes in sorted(counts.items()):
        if len(sizes) > 1:
            yield f"{counter}: number of instances differs between records: {sorted(sizes)}"


def geometry(run):
    """Known kernels are there with their grid, work-group and number of waves, and look different."""
    signatures = collections.defaultdict(set)
    for kernel in run.kernels:
        records = [r for r in run.records if kernel.name in run.name(r)]
        if not records:
            yield f"kernel {kernel.name} is not in the output"
        for record in records:
            info = record["dispatch_data"]["dispatch_info"]
            grid = info["grid_size"]["x"] * info["grid_size"]["y"] * info["grid_size"]["z"]
            workgroup = info["workgroup_size"]["x"] * info["workgroup_size"]["y"] * info["workgroup_size"]["z"]
            if (grid, workgroup) != (kernel.grid, kernel.workgroup):
                yield (f"dispatch {run.dispatch_id(record)} {kernel.name}: grid {grid} work-group {workgroup}, expected "
                       f"{kernel.grid} and {kernel.workgroup}")
            sums = run.sums(record)
            waves = sums.get("SQ_WAVES")
            if waves is not None and kernel.waves is not None and waves != kernel.waves:
                yield f"dispatch {run.dispatch_id(record)} {kernel.name}: {waves} waves, expected {kernel.waves}"
            signatures[tuple(sums.get(c) for c in sorted(run.common))].add(kernel.name)
    for signature, names in signatures.items():
        if len(names) > 1:
            yield f"kernels {sorted(names)} cannot be told apart: {signature}"


def dispatch_description(run):
    """All passes of a dispatch describe the same kernel and geometry."""
    for dispatch, records in run.by_dispatch().items():
        kinds = {json.dumps([r["dispatch_data"]["dispatch_info"][k] for k in ("kernel_id", "grid_size", "workgroup_size")],
                            sort_keys=True) for r in records}
        if len(kinds) > 1:
            yield f"dispatch {dispatch}: passes describe different kernels: {sorted(kinds)}"


RULES = (pass_set, contiguous_ids, common_counters, pass_has_its_group, unique_counters, instance_counts, geometry,
         dispatch_description)


def check(document, groups, kernels=(), dispatches=None):
    """All problems of a whole JSON document, each prefixed with the rule's name."""
    processes = document["rocprofiler-sdk-tool"]
    if not processes:
        return ["document: no process"]
    problems = []
    for process in processes:
        run = Run(process, groups, kernels, dispatches)
        for rule in RULES:
            problems += [f"{rule.__name__}: {line}" for line in rule(run)]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--group", action="append", required=True, help="counters of one pass, separated by blanks")
    parser.add_argument("--kernel", nargs=4, action="append", default=[], metavar=("NAME", "GRID", "WORKGROUP", "WAVES"))
    parser.add_argument("--dispatches", type=int)
    arguments = parser.parse_args()
    with open(arguments.file, encoding="utf-8") as file:
        document = json.load(file)
    kernels = [Kernel(name, int(grid), int(workgroup), int(waves)) for name, grid, workgroup, waves in arguments.kernel]
    problems = check(document, [g.split() for g in arguments.group], kernels, arguments.dispatches)
    for problem in problems:
        print(problem)
    records = sum(len(p["callback_records"]["counter_collection"]) for p in document["rocprofiler-sdk-tool"])
    print(f"{arguments.file}: {records} records, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
