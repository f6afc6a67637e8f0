# SPDX-License-Identifier: Apache-2.0
"""sm100sim: a cycle-level simulator of the NVIDIA B200's asynchronous units.

    import sm100sim

    result = sm100sim.run("dense_small", {"config.stages": 2}, trace=True)
    result["cycles"], result["tflops"], result["verdict"]
    waits = result.trace.select("spans", kind="wait", role="mma")
    (waits["end"] - waits["begin"]).sum()

Every run is a process of its own: `sm100sim.program()` says which program it is.
"""

from ._commands import (
    Exploration,
    InputError,
    InternalError,
    Result,
    check,
    diff,
    explain,
    explain_config,
    explore,
    ledger,
    lists,
    program,
    run,
    stats,
    sweep,
    version,
)
from ._trace import Trace, read_trace

__all__ = [
    "Exploration",
    "InputError",
    "InternalError",
    "Result",
    "Trace",
    "check",
    "diff",
    "explain",
    "explain_config",
    "explore",
    "ledger",
    "lists",
    "program",
    "read_trace",
    "run",
    "stats",
    "sweep",
    "version",
]
