#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a kernel costs to compile: processor seconds of its role code for the simulator and of each CUDA module.

  bench/compile_times.py BUILD [BEFORE]

BUILD is a configured and built tree; a second one, of an earlier commit, adds its seconds and the ratio.  Each file is
compiled alone, without a compiler cache, with the build's own command, into a folder that is thrown away.  The
simulator's role code is compiled once for all configurations; a CUDA module holds an entry for each configuration that
it names, plain and traced.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import tempfile


def processor_seconds(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, shell=True, cwd=folder, env={**os.environ, "CCACHE_DISABLE": "1"},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"does not compile: {command}\n{done.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def host_times(build, scratch):
    """The role code of each kernel: {kernel: seconds}."""
    times = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        match = re.search(r"/kernels/(\w+)/sim/\w+_code\.cpp$", entry["file"])
        if match:
            command = re.sub(r" -o \S+", f" -o {shlex.quote(str(scratch / 'code.o'))}", entry["command"])
            times[match[1]] = processor_seconds(command, entry["directory"])
    return times


def device_times(build, scratch):
    """The CUDA modules: {module: (seconds, entries)}; none in a build without the CUDA Toolkit."""
    modules = build / "kernels/cuda"
    times = {}
    for log in sorted(modules.glob("*.ptxas.txt")):
        name = log.name.removesuffix(".ptxas.txt")
        commands = subprocess.run(["ninja", "-C", build, "-t", "commands", f"kernels/cuda/{name}.o"],
                                  capture_output=True, text=True, check=True).stdout.splitlines()
        # What it writes goes to the scratch folder, where it is thrown away; a source may have been generated.
        for source in modules.glob(f"{name}.cu"):
            shutil.copy(source, scratch)
        # What the build keeps of the dependencies is the build's.
        command = re.sub(r" && \S+ -E cmake_transform_depfile .*", "", commands[-1]).replace(str(modules), str(scratch))
        times[name] = processor_seconds(command, scratch), log.read_text().count("Compiling entry function")
    return times


def measure(build):
    with tempfile.TemporaryDirectory() as scratch:
        return host_times(build, pathlib.Path(scratch)), device_times(build, pathlib.Path(scratch))


def compared(seconds, before):
    return f"{seconds:10.1f}" + ("" if before is None else f"{before:10.1f}{seconds / before:8.2f}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("before", type=pathlib.Path, nargs="?")
    chosen = arguments.parse_args()
    for build in filter(None, (chosen.build, chosen.before)):
        if not (build / "compile_commands.json").is_file():
            arguments.error(f"{build} is no configured build: it has no compile_commands.json")
    host, device = measure(chosen.build.resolve())
    host_before, device_before = measure(chosen.before.resolve()) if chosen.before else ({}, {})
    columns = "   seconds" + ("    before   ratio" if chosen.before else "")
    print(f"role code for the simulator{columns}")
    for kernel, seconds in sorted(host.items()):
        print(f"  {kernel:25}{compared(seconds, host_before.get(kernel))}")
    if device:
        print(f"CUDA module                {columns}   entries   seconds per entry")
    for module, (seconds, entries) in device.items():
        earlier = device_before.get(module, (None, 0))[0]
        print(f"  {module:25}{compared(seconds, earlier)}{entries:10}{seconds / max(entries, 1):12.1f}")


main()
