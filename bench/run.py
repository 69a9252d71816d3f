#!/usr/bin/env python3
"""run.py SESSFIX [--size MB] [--rounds N]: processor time and memory of sessfix beside its peers, on one dsh log.

Makes the log with bench/gen (plain and in frames), runs every command in turn, N rounds of all,
and prints medians and ratios. Judge by the ratios: the machine may be busy."""
import argparse, os, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))


def once(cmd):
    """(processor seconds, wall seconds, peak MiB) of one command."""
    begun = time.perf_counter()
    p = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    wall = time.perf_counter() - begun
    if status:
        sys.exit("%s ends with %s" % (" ".join(cmd), status))
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("sessfix")
    ap.add_argument("--size", type=int, default=100)
    ap.add_argument("--rounds", type=int, default=5)
    o = ap.parse_args()
    with tempfile.TemporaryDirectory() as work:
        # Apart: side by side they would be a fault of their own.
        plain, packed = os.path.join(work, "plain", "session.jsonl"), os.path.join(work, "frames", "session.jsonl.zstd")
        for path in (plain, packed):
            os.mkdir(os.path.dirname(path))
            subprocess.run(["go", "run", "./bench/gen", "-size", str(o.size), "-out", path], check=True, cwd=os.path.dirname(HERE))
        loads = "import json,sys\nfor l in open(sys.argv[1],'rb'): json.loads(l)"
        commands = {
            "sessfix verify, plain": [o.sessfix, "verify", "-q", plain],
            "jq empty, plain": ["jq", "empty", plain],
            "python json, plain": [sys.executable, "-c", loads, plain],
            "sessfix verify, frames": [o.sessfix, "verify", "-q", packed],
            "zstd -t, frames": ["zstd", "-tq", packed],
        }
        got = {name: [] for name, cmd in commands.items() if shutil.which(cmd[0]) or os.path.exists(cmd[0])}
        for _ in range(o.rounds):
            for name in got:
                got[name].append(once(commands[name]))
        cpu = {name: statistics.median(r[0] for r in rs) for name, rs in got.items()}
        print("%d MB plain, %.1f MB in frames, %d rounds, medians" % (o.size, os.path.getsize(packed) / 1e6, o.rounds))
        for name, rs in got.items():
            base = {"plain": "jq empty, plain", "frames": "zstd -t, frames"}[name.split(", ")[1]]
            ratio = "%.2f of %s" % (cpu[name] / cpu[base], base.split(",")[0]) if base in cpu else ""
            print("%-24s cpu %6.2f s  wall %6.2f s  peak %4.0f MiB  %s" % (
                name, cpu[name], statistics.median(r[1] for r in rs), max(r[2] for r in rs), ratio))


main()
