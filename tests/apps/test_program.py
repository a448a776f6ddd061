# SPDX-License-Identifier: MIT
"""Usage: test_program.py alone|replayed PROGRAM COVERAGE-FILE [ARGUMENT...]. Runs a program that compares one computation with the host's:
alone on the software GPU, recording what instructions it executes, or under kreplay with three counter groups. Under
kreplay each of its dispatches must be replayed and have the same plausible values in every pass, except where the table says
why not."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration" / "softgpu"))
import harness  # noqa: E402
import shares  # noqa: E402

GROUPS = ["SQ_WAVES SQ_INSTS_VALU", "SQ_WAVES SQ_INSTS_SALU", "SQ_WAVES GRBM_COUNT"]
DECLINED = {  # why dispatches of a program are not replayed
    "device_printf": {"unsafe_kernel"},
    "functions": {"unsafe_kernel"},
    "managed_memory": {"host_memory"},
}
problems = []


def expect(condition, *what):
    if not condition:
        problems.append(" ".join(str(w) for w in what))


def run_alone(program, coverage, arguments):
    coverage.unlink(missing_ok=True)
    result = harness.plain(program, *arguments, SOFTGPU_COVERAGE=str(coverage))
    expect(result.returncode == 0 and result.stdout.endswith(f"{program.name}: ok\n"), result.returncode, result.stdout)
    expect(not result.stderr, result.stderr)
    expect(coverage.is_file(), "no coverage was recorded")


def check_dispatch(outcome, waves, name):
    if outcome["outcome"] == "declined":
        expect(outcome["reason"] in DECLINED.get(name, ()), "declined:", outcome["reason"])
        return
    expect(outcome["outcome"] == "replayed" and outcome["executed_passes"] == len(GROUPS), outcome)
    expect(len(waves) == len(GROUPS) and len(set(waves)) == 1 and waves[0] > 0, "SQ_WAVES of the passes:", waves)


def run_replayed(program):
    name = program.name
    replay = harness.Replay(GROUPS, program)
    expect(replay.result.returncode == 0 and f"{name}: ok\n" in replay.result.stdout, replay.explain())
    if problems:
        return
    process = replay.process
    counters = {c["id"]["handle"]: c["name"] for c in process["counters"]}
    waves = {}
    for record in process["callback_records"]["counter_collection"]:
        dispatch = record["dispatch_data"]["dispatch_info"]["dispatch_id"]
        by_engine = [r["value"] for r in record["records"] if counters[r["counter_id"]["handle"]] == "SQ_WAVES"]
        waves.setdefault(dispatch, []).append(sum(by_engine))
    outcomes = process["kreplay"]["dispatches"]
    expect(outcomes, "no dispatches")
    shares.note(name, outcomes)
    for outcome in outcomes:
        check_dispatch(outcome, waves.get(outcome["dispatch_id"], []), name)


how, path, file = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
if how == "alone":
    run_alone(path, file, sys.argv[4:])
else:
    run_replayed(path)
print("\n".join(problems) or f"{path.name}: {how}")
sys.exit(bool(problems))
