# SPDX-License-Identifier: MIT
"""However a program ends: its files are there and whole, no dispatch that it saw complete is missing, kreplay says how
it ended and exits as it did. KREPLAY_KILLS is the number of kills at random times (20), KREPLAY_SEED their seed."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import weakref

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "softgpu"))
import harness  # noqa: E402

PROGRAM = harness.BUILD / "tests" / "apps" / "ends"
STEP = "_Z4stepPi"
KILLS = int(os.environ.get("KREPLAY_KILLS", "20"))
SEED = int(os.environ.get("KREPLAY_SEED", str(int(time.time()))))


class Store:
    """What tests ask of a NAME_results.db."""

    def __init__(self, path):
        with contextlib.closing(sqlite3.connect(path)) as database:
            self.processes = database.execute("SELECT complete, damaged_at, dispatches FROM kreplay_process").fetchall()
            self.kernels = database.execute(
                "SELECT kernel_name, kind FROM kreplay_outcome o JOIN rocpd_kernel_dispatch d"
                " ON d.guid = o.guid AND d.dispatch_id = o.dispatch_id JOIN rocpd_info_kernel_symbol k"
                " ON k.guid = d.guid AND k.id = d.kernel_id").fetchall()
            self.exit_status = database.execute("SELECT exit_status FROM kreplay_run").fetchone()[0]
            self.integrity = database.execute("PRAGMA integrity_check").fetchone()[0]

    def count(self, kernel, kind=None):
        return sum(1 for name, what in self.kernels if name == kernel and kind in (None, what))


class Run:
    """`ends` with a mode under kreplay, or another program if `program` says so; two counter groups."""

    def __init__(self, *arguments, program=None, options=(), **environment):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="kreplay-ends-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.tally_file = self.path / "tally"
        command = program or [PROGRAM, self.tally_file, *arguments]
        self.process = subprocess.Popen(
            [str(word) for word in
             [harness.KREPLAY, "run", "--pmc", "SQ_WAVES", "--pmc", "SQ_INSTS_VALU", "--table", "false", "-d", self.path,
              "-o", "out", "--soft-gpu", *options, "--", *command]],
            env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.output = self.errors = None

    def finish(self):
        self.output, self.errors = self.process.communicate(timeout=harness.LIMIT_S)
        return self

    @property
    def status(self):
        return self.process.returncode

    @property
    def tally(self):
        """launched, seen complete, flag"""
        try:
            data = self.tally_file.read_bytes()
        except FileNotFoundError:
            data = b""
        return struct.unpack("3I", data) if len(data) == 12 else (0, 0, 0)

    def wait_until(self, condition):
        limit = time.monotonic() + harness.LIMIT_S
        while not condition(self.tally):
            if self.process.poll() is not None or time.monotonic() > limit:
                raise AssertionError("the program did not come so far: " + self.explain())
            time.sleep(0.002)

    @property
    def program_pid(self):
        """Of the program: kreplay's only child."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text("ascii").split()
        return int(children[0]) if children else None

    @staticmethod
    def is_program(pid):
        """Not so between fork and exec."""
        try:
            return pid is not None and os.readlink(f"/proc/{pid}/exe") == str(PROGRAM.resolve())
        except FileNotFoundError:
            return False

    @property
    def store(self):
        return Store(self.path / "out_results.db")

    def explain(self):
        if self.errors is None:
            self.process.kill()
            self.finish()
        return (f"exit status {self.status}, tally {self.tally}\n--- stdout\n{self.output}\n--- stderr\n{self.errors}")


class Ends(unittest.TestCase):
    def assert_ended(self, run, status, said=None, complete=None, processes=1):
        """Exit status, one line about it, and a readable store without gaps, which is returned."""
        self.assertEqual(run.status, status, run.explain())
        if said is None and status != 0:
            said = f"the program ended with exit status {status}"
        lines = [line for line in run.errors.splitlines()
                 if line.startswith(("kreplay: the program ended with", "kreplay: the program was ended"))]
        expected = [] if said is None else [f"kreplay: {said}"]
        self.assertEqual([line.removesuffix(", core dumped") for line in lines], expected, run.explain())
        self.assertFalse((run.path / "out_run").exists(), run.explain())
        return self.assert_whole(run, run.store, status, complete, processes)

    def assert_whole(self, run, store, status, complete=None, processes=1):
        launched, seen, _ = run.tally
        self.assertEqual(store.integrity, "ok")
        self.assertEqual(store.exit_status, status)
        self.assertEqual(len(store.processes), processes, run.explain())
        self.assertEqual([damage for _, damage, _ in store.processes], [None] * processes, run.explain())
        if complete is not None:
            self.assertEqual(sorted(whole for whole, _, _ in store.processes), sorted(complete), run.explain())
        self.assertGreaterEqual(store.count(STEP), seen, run.explain())
        self.assertLessEqual(store.count(STEP), launched, run.explain())
        return store


def signal_text(number):
    return f"the program was ended by signal {number} ({signal.strsignal(number)})"


class Signals(Ends):
    def test_it_ends_itself(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGBUS):
            with self.subTest(number.name):
                run = Run("raise", int(number)).finish()
                self.assert_ended(run, 128 + number, signal_text(number), complete=[0])
                self.assertEqual(run.tally[1], 2)

    def test_segmentation_fault(self):
        run = Run("raise", "fault").finish()
        self.assert_ended(run, 139, signal_text(signal.SIGSEGV), complete=[0])

    def test_abort(self):
        run = Run("leave", "abort").finish()
        self.assert_ended(run, 134, signal_text(signal.SIGABRT), complete=[0])

    def test_ended_from_outside(self):
        run = Run("forever")
        run.wait_until(lambda tally: tally[1] >= 3)
        os.kill(run.program_pid, signal.SIGTERM)
        self.assert_ended(run.finish(), 143, signal_text(signal.SIGTERM), complete=[0])

    def test_killed_while_a_window_is_open(self):
        run = Run("spin")
        run.wait_until(lambda tally: tally[2] == 1)
        time.sleep(0.5)
        os.kill(run.program_pid, signal.SIGKILL)
        store = self.assert_ended(run.finish(), 137, signal_text(signal.SIGKILL), complete=[0])
        self.assertEqual(store.count(STEP, "replayed"), 1)


class Leaving(Ends):
    def test_return(self):
        store = self.assert_ended(Run("leave", "return").finish(), 7, complete=[1])
        self.assertEqual(store.count(STEP), 3)  # the one that nobody waited for, too

    def test_all_is_well(self):
        store = self.assert_ended(Run("steps", 3).finish(), 0, complete=[1])
        self.assertEqual(store.count(STEP, "replayed"), 3)

    def test_all_is_well_is_said_when_asked(self):
        run = Run("steps", 1, options=("--log-level", "info")).finish()
        self.assert_ended(run, 0, "the program ended with exit status 0", complete=[1])

    def test_no_exit_handlers(self):
        for how in ("_exit", "quick_exit"):
            with self.subTest(how):
                self.assert_ended(Run("leave", how).finish(), 7, complete=[0])

    def test_a_destructor_frees_device_memory(self):
        self.assert_ended(Run("destructor", 0).finish(), 6, complete=[1])

    def test_a_destructor_dispatches(self):
        store = self.assert_ended(Run("destructor", 3).finish(), 6, complete=[1])
        fill = "__amd_rocclr_fillBufferAligned"
        self.assertEqual((store.count(fill, "replayed"), store.count(fill, "declined")), (1, 3))

    def test_a_kernel_still_runs(self):
        run = Run("spin", "exit", KREPLAY_EXIT_MS="500").finish()
        self.assert_ended(run, 0, complete=[0])
        self.assertIn("the output lacks 1 of its kernel dispatches", run.errors)

    def test_another_thread_exits(self):
        run = Run("thread", "waiting").finish()
        self.assert_ended(run, 5)

    def test_another_thread_exits_with_dispatches_in_flight(self):
        run = Run("thread", "hasty", KREPLAY_EXIT_MS="2000").finish()
        # HIP may be gone before the thread that still calls it: then it crashes there, as it can alone.
        said = signal_text(signal.SIGSEGV) if run.status == 139 else None
        store = self.assert_ended(run, 139 if said else 5, said)
        self.assertGreater(store.count(STEP, "declined"), 0)


class Processes(Ends):
    def test_exec(self):
        store = self.assert_ended(Run("exec", "gpu").finish(), 0, complete=[0, 1], processes=2)
        self.assertEqual(store.count(STEP, "replayed"), 4)
        self.assert_ended(Run("exec", "other").finish(), 4, complete=[0])

    def test_fork(self):
        for how, complete, steps in (("exit", [1], 4), ("_exit", [1], 4), ("exec", [1, 1], 6)):
            with self.subTest(how):
                store = self.assert_ended(Run("fork", how).finish(), 0, complete=complete, processes=len(complete))
                self.assertEqual(store.count(STEP, "replayed"), steps)

    def test_both_sides_use_the_gpu(self):
        store = self.assert_ended(Run("fork_first").finish(), 0, complete=[1, 1], processes=2)
        self.assertEqual(store.count(STEP, "replayed"), 4)

    def test_a_process_outlives_the_program(self):
        run = Run("orphan").finish()
        self.assertEqual(run.status, 0, run.explain())
        logs = run.path / "out_run"
        self.assertIn(f"can be read later with kreplay convert -i {logs}", run.errors)
        self.assertGreaterEqual(run.store.count(STEP), 2)
        limit = time.monotonic() + harness.LIMIT_S
        while run.tally[2] != 2 and time.monotonic() < limit:
            time.sleep(0.01)
        later = harness.run([harness.KREPLAY, "convert", "-i", logs, "-f", "rocpd", "-d", run.path, "-o", "later"])
        self.assertEqual(later.returncode, 0, later.stderr)
        # The folder's index knows how the program itself ended.
        store = self.assert_whole(run, Store(run.path / "later_results.db"), 0, processes=2)
        self.assertEqual(store.count(STEP), 4)


class Command(Ends):
    """kreplay itself is sent a signal, or another one than the program."""

    def test_it_passes_signals_on(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number.name):
                run = Run("forever")
                run.wait_until(lambda tally: tally[1] >= 3)
                program = run.program_pid
                run.process.send_signal(number)
                self.assert_ended(run.finish(), 128 + number, signal_text(number), complete=[0])
                self.assertFalse(pathlib.Path(f"/proc/{program}").exists())

    def test_a_signal_while_files_are_written(self):
        """The first costs no files, however the moment falls."""
        for delay in (0, 0.003, 0.01, 0.03):
            with self.subTest(delay=delay):
                run = Run("forever")
                run.wait_until(lambda tally: tally[1] >= 20)
                os.kill(run.program_pid, signal.SIGTERM)
                time.sleep(delay)
                with contextlib.suppress(ProcessLookupError):
                    run.process.send_signal(signal.SIGTERM)
                self.assert_ended(run.finish(), 143, signal_text(signal.SIGTERM), complete=[0])

    def test_it_is_killed(self):
        """Nobody can pass that on: the program goes on, and its log can be converted afterwards."""
        run = Run("forever")
        run.wait_until(lambda tally: tally[1] >= 3)
        program = run.program_pid
        run.process.kill()
        before = run.tally[1]
        while run.tally[1] < before + 3:
            time.sleep(0.002)
        os.kill(program, signal.SIGTERM)
        run.finish()
        while pathlib.Path(f"/proc/{program}/exe").exists():
            time.sleep(0.01)
        result = harness.run([harness.KREPLAY, "convert", "-i", run.path / "out_run", "-f", "rocpd", "-d", run.path, "-o",
                              "out"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_whole(run, run.store, None, complete=[0])


class Driver(Ends):
    """Whether a program used a GPU is seen by the file that its driver library keeps open."""

    def assert_nothing_written(self, run):
        self.assertEqual([path.name for path in run.path.iterdir() if path.name.startswith("out")], [], run.explain())

    def test_no_gpu_used(self):
        for program, status in ((["true"], 0), (["sh", "-c", "exit 3"], 3), (["sh", "-c", "kill -TERM $$"], 143)):
            with self.subTest(status=status):
                run = Run(program=program).finish()
                self.assertEqual(run.status, status, run.explain())
                self.assertIn("kreplay: the program did not use a GPU; there is nothing to write\n", run.errors)
                self.assert_nothing_written(run)

    def test_kreplay_was_not_loaded(self):
        wrapper = 'unset HSA_TOOLS_LIB; exec "$@"'
        run = Run(program=["sh", "-c", wrapper, "sh", PROGRAM, "/dev/shm/unused", "steps", 1])
        with contextlib.suppress(FileNotFoundError):
            run.finish()
            os.unlink("/dev/shm/unused")
        self.assertEqual(run.status, 1, run.explain())
        self.assertIn("kreplay: the program used a GPU, but kreplay was not loaded into it", run.errors)
        self.assertIn("HSA_TOOLS_LIB", run.errors)
        self.assert_nothing_written(run)

    def test_the_file_is_open_while_the_gpu_is_used(self):
        run = Run("spin")
        run.wait_until(lambda tally: tally[2] == 1)
        files = [os.readlink(entry) for entry in pathlib.Path(f"/proc/{run.program_pid}/fd").iterdir()]
        self.assertIn(str((harness.BUILD / "lib" / "softgpu" / "kfd").resolve()), files)
        os.kill(run.program_pid, signal.SIGKILL)
        run.finish()


class CutLogs(unittest.TestCase):
    """tests/unit/log cuts at every byte; here a few of them on the whole way."""

    def test_convert(self):
        run = Run("steps", 5, options=("--keep-logs",)).finish()
        log, = (run.path / "out_run").glob("*.krlog")
        whole = log.read_bytes()
        cut = run.path / "cut.krlog"
        counts = []
        end = len(whole.rstrip(b"\0"))
        for offset in (0, 7, 64, 65, 200, *(end * i // 12 for i in range(1, 12)), end - 9, end, len(whole)):
            with self.subTest(offset=offset):
                cut.write_bytes(whole[:offset])
                result = harness.run([harness.KREPLAY, "convert", "-i", cut, "-f", "rocpd", "-d", run.path, "-o", "cut",
                                      "--table", "false"])
                self.assertIn(result.returncode, (0, 1), result.stderr)
                database = run.path / "cut_results.db"
                self.assertEqual(result.returncode == 0, database.exists(), result.stderr)
                if offset <= 64:
                    self.assertIn("holds no record: its process ended before", result.stderr)
                if result.returncode == 0:
                    store = Store(database)
                    self.assertEqual(store.integrity, "ok")
                    counts.append(store.count(STEP))
        self.assertEqual(counts, sorted(counts))
        self.assertEqual((counts[0], counts[-1]), (0, 5))


class Kills(Ends):
    def test_at_random_times(self):
        moments = random.Random(SEED)
        for number in range(KILLS):
            # A tenth while the program still starts, where there may be no log yet.
            early = number % 10 == 9
            with self.subTest(number=number, seed=SEED):
                run = Run("forever")
                if early:
                    time.sleep(moments.uniform(0, 1))
                else:
                    run.wait_until(lambda tally: tally[1] >= 1)
                    time.sleep(moments.uniform(0, 0.3))
                while not run.is_program(run.program_pid):
                    time.sleep(0.001)
                os.kill(run.program_pid, signal.SIGKILL)
                run.finish()
                if (run.path / "out_results.db").exists() or run.tally[1]:
                    self.assert_ended(run, 137, signal_text(signal.SIGKILL), complete=[0])
                else:
                    self.assertTrue(early, run.explain())
                    self.assertEqual(run.status, 137, run.explain())


class KillsFault(Ends):
    def test_goes_red_when_records_are_missing(self):
        run = Run("forever", KREPLAY_FAULT="record")
        run.wait_until(lambda tally: tally[1] >= 3)
        os.kill(run.program_pid, signal.SIGKILL)
        run.finish()
        with self.assertRaises(AssertionError):
            self.assert_ended(run, 137, signal_text(signal.SIGKILL), complete=[0])


if __name__ == "__main__":
    unittest.main()
