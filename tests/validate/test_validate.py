#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The validator is itself tested: a golden document passes, and each way of being wrong is caught."""
import copy
import unittest

import validate

GROUPS = [["SQ_WAVES", "SQ_INSTS_VALU", unique] for unique in
          ("GRBM_COUNT", "GRBM_GUI_ACTIVE", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_LDS")]
KERNELS = [validate.Kernel("vector_add", 1024 * 1024, 1024, 16384), validate.Kernel("saxpy", 512 * 512, 512, 4096),
           validate.Kernel("scale", 256 * 256, 256, 1024)]
VALU = {"vector_add": 900000, "saxpy": 220000, "scale": 55000}
HANDLES = {name: 100 + i for i, name in enumerate(sorted({c for g in GROUPS for c in g}))}


def instances(counter, total):
    """SQ counters have 8 instances, GRBM counters one."""
    n = 8 if counter.startswith("SQ_") else 1
    parts = [total // n] * n
    parts[0] += total - sum(parts)
    return [{"counter_id": {"handle": HANDLES[counter]}, "value": part} for part in parts]


def golden():
    records = []
    for number, kernel in enumerate(KERNELS):
        for index, group in enumerate(GROUPS):
            values = []
            for counter in group:
                total = {"SQ_WAVES": kernel.waves, "SQ_INSTS_VALU": VALU[kernel.name], "SQ_INSTS_LDS": 0}.get(
                    counter, 5000 * (number + 1))
                values += instances(counter, total)
            records.append({
                "thread_id": 1,
                "dispatch_data": {"start_timestamp": 1, "end_timestamp": 2, "dispatch_info": {
                    "dispatch_id": number + 1, "kernel_id": number + 1,
                    "grid_size": {"x": kernel.grid, "y": 1, "z": 1},
                    "workgroup_size": {"x": kernel.workgroup, "y": 1, "z": 1}}},
                "records": values, "replay_pass": index})
    return {"rocprofiler-sdk-tool": [{
        "counters": [{"id": {"handle": handle}, "name": name} for name, handle in HANDLES.items()],
        "kernel_symbols": [{"kernel_id": i + 1, "formatted_kernel_name": k.name} for i, k in enumerate(KERNELS)],
        "callback_records": {"counter_collection": records}}]}


def records_of(document):
    return document["rocprofiler-sdk-tool"][0]["callback_records"]["counter_collection"]


def dispatch_info(record):
    return record["dispatch_data"]["dispatch_info"]


def counter(record, name):
    return [v for v in record["records"] if v["counter_id"]["handle"] == HANDLES[name]]


def keep(document, wanted):
    records_of(document)[:] = [r for r in records_of(document) if wanted(r)]


# Each mutation changes a golden document in place.
def loop_exited_early(d):
    keep(d, lambda r: r["replay_pass"] != 4)


def one_pass_too_many(d):
    for r in [r for r in records_of(d) if r["replay_pass"] == 4]:
        extra = copy.deepcopy(r)
        extra["replay_pass"] = 5
        records_of(d).insert(records_of(d).index(r) + 1, extra)


def pass_index_one_based(d):
    for r in records_of(d):
        r["replay_pass"] += 1


def pass_index_never_incremented(d):
    for r in records_of(d):
        r["replay_pass"] = 0


def same_group_every_pass(d):
    first = {dispatch_info(r)["dispatch_id"]: r["records"] for r in records_of(d) if r["replay_pass"] == 0}
    for r in records_of(d):
        r["records"] = copy.deepcopy(first[dispatch_info(r)["dispatch_id"]])


def move_groups(d, mapping):
    old = {(dispatch_info(r)["dispatch_id"], r["replay_pass"]): r["records"] for r in records_of(d)}
    for r in records_of(d):
        r["records"] = old[(dispatch_info(r)["dispatch_id"], mapping(r["replay_pass"]))]


def pass_groups_swapped(d):
    move_groups(d, lambda p: {0: 1, 1: 0}.get(p, p))


def pass_groups_skewed(d):
    move_groups(d, lambda p: (p + 1) % 5)


def restore_broken(d):
    for r in records_of(d):
        counter(r, "SQ_INSTS_VALU")[0]["value"] += 64 * r["replay_pass"]


def dispatch_ids_collapsed(d):
    for r in records_of(d):
        dispatch_info(r)["dispatch_id"] = 1


def counter_values_all_zero(d):
    for r in records_of(d):
        for value in r["records"]:
            value["value"] = 0


def only_first_dispatch_replayed(d):
    keep(d, lambda r: dispatch_info(r)["dispatch_id"] == 1 or r["replay_pass"] == 0)


def launch_dims_wrong(d):
    for r in records_of(d):
        dispatch_info(r)["grid_size"]["x"] //= 2


def kernels_indistinguishable(d):
    model = {r["replay_pass"]: r["records"] for r in records_of(d) if dispatch_info(r)["dispatch_id"] == 1}
    for r in records_of(d):
        r["records"] = copy.deepcopy(model[r["replay_pass"]])


def one_counter_never_collected(d):
    for r in records_of(d):
        r["records"] = [v for v in r["records"] if v["counter_id"]["handle"] != HANDLES["SQ_INSTS_LDS"]]


def shared_counter_missing_in_one_pass(d):
    for r in records_of(d):
        if r["replay_pass"] == 2:
            r["records"] = [v for v in r["records"] if v["counter_id"]["handle"] != HANDLES["SQ_WAVES"]]


# Beyond the classic fifteen.
def value_recorded_twice(d):
    r = records_of(d)[3]
    r["records"].append(copy.deepcopy(counter(r, "SQ_INSTS_SMEM")[0]))


def record_twice(d):
    records_of(d).insert(1, copy.deepcopy(records_of(d)[0]))


def passes_of_different_kernels(d):
    dispatch_info(records_of(d)[1])["kernel_id"] = 3


MUTATIONS = (loop_exited_early, one_pass_too_many, pass_index_one_based, pass_index_never_incremented,
             same_group_every_pass, pass_groups_swapped, pass_groups_skewed, restore_broken, dispatch_ids_collapsed,
             counter_values_all_zero, only_first_dispatch_replayed, launch_dims_wrong, kernels_indistinguishable,
             one_counter_never_collected, shared_counter_missing_in_one_pass, value_recorded_twice, record_twice,
             passes_of_different_kernels)


class Validator(unittest.TestCase):
    def test_golden_passes(self):
        self.assertEqual(validate.check(golden(), GROUPS, KERNELS, 3), [])

    def test_each_mutation_is_caught(self):
        for mutate in MUTATIONS:
            with self.subTest(mutate.__name__):
                document = golden()
                mutate(document)
                self.assertNotEqual(document, golden(), "the mutation changes nothing")
                self.assertNotEqual(validate.check(document, GROUPS, KERNELS, 3), [])

    def test_each_rule_catches_something(self):
        caught = set()
        for mutate in MUTATIONS:
            document = golden()
            mutate(document)
            caught |= {p.split(":")[0] for p in validate.check(document, GROUPS, KERNELS, 3)}
        self.assertEqual(caught, {rule.__name__ for rule in validate.RULES})

    def test_band_is_symmetric(self):
        for factor, ok in ((1.09, True), (1 / 1.09, True), (1.2, False), (1 / 1.2, False)):
            groups = [["GRBM_COUNT"], ["GRBM_COUNT"]]
            document = golden()
            keep(document, lambda r: r["replay_pass"] in (0, 1))
            for r in records_of(document):
                r["records"] = instances("GRBM_COUNT", 1000000)
                if r["replay_pass"] == 1:
                    r["records"][0]["value"] *= factor
            self.assertEqual(validate.check(document, groups, (), 3) == [], ok, factor)


if __name__ == "__main__":
    unittest.main()
