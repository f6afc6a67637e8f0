# SPDX-License-Identifier: Apache-2.0
"""Runs the program, and ends it when Python is interrupted."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
from pathlib import Path
from typing import Callable, Optional, Sequence

Progress = Callable[[float, str], None]

_PROGRESS = re.compile(r"^ *(\d+) %  (.*)$")


class InputError(ValueError):
    """The program has refused its input; the text is the program's own line, with file, key, value and what is allowed."""


class InternalError(RuntimeError):
    """The program has failed; please report it."""


def program() -> str:
    """The program that runs: SM100SIM if it is set, else what was installed with this package, else what PATH has."""
    named = os.environ.get("SM100SIM")
    if named:
        return named
    for folder in Path(os.path.abspath(__file__)).parents:  # links are not followed: a build folder links to the sources
        for name in ("bin/sm100sim", "sm100sim"):
            candidate = folder / name
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return str(candidate)
    found = shutil.which("sm100sim")
    if found:
        return found
    raise InputError("the program sm100sim is not in PATH, and the environment variable SM100SIM does not name it")


class Finished:
    """What a process has printed, and its exit code."""

    def __init__(self, code: int, out: str, err: str):
        self.code, self.out, self.err = code, out, err


def _end(process: subprocess.Popen[str]) -> None:
    """Ends the program with its own processes, and waits until it is gone."""
    for number, patience in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue


def call(arguments: Sequence[str], progress: Optional[Progress] = None, accept: Sequence[int] = (0,)) -> Finished:
    """Runs sm100sim with these arguments.  An exit code that is not accepted becomes InputError (2) or InternalError."""
    command = [program(), *arguments]
    if progress is not None:
        command.append("--progress")
    try:
        # In a group of its own, so that all of it can be ended.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise InputError(f"{command[0]}: {error.strerror}") from None
    out: list[str] = []
    reader = threading.Thread(target=lambda: out.append(process.stdout.read()))  # type: ignore[union-attr]
    reader.start()
    err: list[str] = []
    try:
        for line in process.stderr:  # type: ignore[union-attr]
            match = _PROGRESS.match(line)
            if not match:
                err.append(line)
            elif progress is not None:
                progress(int(match.group(1)) / 100, match.group(2).strip())
        process.wait()
    except BaseException:  # Ctrl-C, and whatever the caller's progress raises
        _end(process)
        raise
    finally:
        reader.join()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    finished = Finished(process.returncode, out[0], "".join(err))
    if finished.code in accept:
        return finished
    text = finished.err.strip() or finished.out.strip()
    if finished.code == 2:
        raise InputError(text)
    raise InternalError(f"sm100sim ended with {finished.code}: {text}")
