# SPDX-License-Identifier: Apache-2.0
"""Published programs whose host code launches the kernels: `sm100sim exec` runs them, and they verify themselves.

CUTLASS's examples.  A program counts as verified if it says that its comparison passed, every launch was carried out and none
ended with a finding.
"""
import dataclasses
import hashlib
import json
import re
import subprocess
import time

from broken import Mistake, MISTAKES, broken

OPTIONS = ["-std=c++17", "-O3", "--expt-relaxed-constexpr", "-DNDEBUG", "-I", "{CUTLASS}/include", "-I", "{CUTLASS}/tools/util/include", "-I",
           "{CUTLASS}/examples/common", "-gencode", "arch=compute_100a,code=compute_100a", "-cudart", "shared"]
SIZE = ["--m=512", "--n=512", "--k=512", "--iterations=0"]


@dataclasses.dataclass
class Program:
    name: str
    source: str            # of CUTLASS's examples
    binary: str            # what --programs FOLDER calls it
    arguments: list
    sms: int = 4           # clusters of 2 x 4 need 8
    options: tuple = ()
    size: str = "512 x 512 x 512"
    broken: bool = False
    passed: tuple = ("Passed",)


PROGRAMS = [
    Program("CUTLASS 70 fp16 GEMM", "70_blackwell_gemm/70_blackwell_fp16_gemm.cu", "c70", SIZE, broken=True),
    Program("CUTLASS 72a nvfp4", "72_blackwell_narrow_precision_gemm/72a_blackwell_nvfp4_bf16_gemm.cu", "c72a", SIZE, sms=8),
    Program("CUTLASS 72b nvfp4 output", "72_blackwell_narrow_precision_gemm/72b_blackwell_nvfp4_nvfp4_gemm.cu", "c72b", SIZE, sms=8),
    Program("CUTLASS 72c mxfp8", "72_blackwell_narrow_precision_gemm/72c_blackwell_mixed_mxfp8_bf16_gemm.cu", "c72c", SIZE, sms=8),
    Program("CUTLASS 74 stream-K", "74_blackwell_gemm_streamk/blackwell_gemm_streamk.cu", "c74", SIZE),
    Program("CUTLASS 75 grouped", "75_blackwell_grouped_gemm/75_blackwell_grouped_gemm.cu", "c75",
            ["--m=256", "--n=256", "--k=128", "--groups=2", "--iterations=0"], sms=16, size="256 x 256 x 128, 2 groups"),
    Program("CUTLASS 81 blockwise FP8", "81_blackwell_gemm_blockwise/81_blackwell_gemm_blockwise.cu", "c81", SIZE),
    Program("CUTLASS 92 MoE", "92_blackwell_moe_gemm/92_blackwell_moe_gemm_regular.cu", "c92", ["--m=256", "--n=64", "--k=256", "--l=2", "--iterations=0"],
            sms=16, size="256 x 64 x 256, 2 groups"),
    Program("CUTLASS 77 FMHA", "77_blackwell_fmha/77_blackwell_fmha.cu", "c77", ["--b=1", "--h=2", "--q=256", "--k=256", "--d=128", "--verify", "--iterations=0"],
            options=("-I", "{CUTLASS}/examples/77_blackwell_fmha"), size="1 x 2 x 256 x 256 x 128", passed=("[OK]",)),
]


def supports(simulator):
    return subprocess.run([simulator, "exec", "--help"], capture_output=True).returncode == 0


def nvcc(program, cutlass):
    options = [o.format(CUTLASS=cutlass) for o in (*OPTIONS, *program.options)]
    return ["nvcc", *options, f"{cutlass}/examples/{program.source}"]


def compiled(program, cutlass, folder):
    """Minutes for each; `folder` keeps them."""
    out = folder / program.binary
    if not out.exists():
        subprocess.run([*nvcc(program, cutlass), "-o", out], check=True, capture_output=True)
    return out


def kernel_launch(launches):
    """The launch that is looked at: CUTLASS's own kernel, not what fills and compares."""
    return next((l for l in launches if "device_kernel" in l["entry"]), launches[-1] if launches else None)


def run(simulator, program, binary, folder, limit):
    """@return what exec says, the program's output, seconds, and the folder of the saved launches"""
    saved, answer = folder / f"{program.binary}.launches", folder / f"{program.binary}.json"
    begin = time.time()
    done = subprocess.run([simulator, "exec", "--sms", str(program.sms), "--save", saved, "--json", answer, binary, *program.arguments],
                          capture_output=True, text=True, timeout=limit)
    return json.loads(answer.read_text()), done.stdout, time.time() - begin, saved


def without_stores(lines):
    """On each path: the first store behind tensor-memory loads."""
    changed, behind = [], False
    for i, line in enumerate(lines):
        behind |= "tcgen05.ld." in line
        if behind and re.search(r"^\s*(@!?%p\d+ )?st\.(shared|global)\b", line):
            lines[i], behind = "", False
            changed.append(i)
    return changed[0]


MUTATIONS = [*MISTAKES, Mistake("stores removed", "the program's own comparison", without_stores)]


def outcome(program, done):
    """How a run has ended, in the words of its first report."""
    for line in done.stderr.splitlines():
        if re.match(r"(HANG|FINDING) ", line):
            return line.rstrip()
    if any(word in done.stdout for word in program.passed):
        return "passed"
    return "the program's comparison fails"


def mutated(simulator, program, binary, ptx, entry, folder, limit):
    """What becomes of the program with each mistake in its kernel's PTX."""
    records, file = [], folder / "mutated.ptx"
    for mistake in MUTATIONS:
        try:
            text, line = broken(ptx.read_text(), entry, mistake)
        except (StopIteration, IndexError, TypeError):
            continue  # the pattern is not there
        file.write_text(text)
        done = subprocess.run([simulator, "exec", "--sms", str(program.sms), "--ptx", file, binary, *program.arguments], capture_output=True,
                              text=True, timeout=limit)
        records.append({"program": program.name, "mistake": mistake.name, "line": line, "exit": done.returncode, "outcome": outcome(program, done)})
        print(f"  {mistake.name}: {done.returncode}, {records[-1]['outcome']}", flush=True)
    return records


def category(program, answer, said):
    for launch in answer["launches"]:
        result = launch["result"] or {}
        findings = result.get("findings", [])
        if rejected := next((f["message"] for f in findings if "not implemented" in f["message"]), None):
            return rejected
        if findings:
            return "hang" if result["outcome"] == "hang" else "finding: " + findings[0]["id"]
        if not launch["carried_out"]:
            return f"incomplete: {launch['error']}"
    if not any(word in said for word in program.passed):
        return "incomplete: the program does not say that it passed"
    unchecked = sorted({n.split(" (")[0] for l in answer["launches"] for n in l["result"]["not_checked"]})
    if unchecked:  # the comparison has passed all the same
        return "incomplete: " + ", ".join(unchecked)
    return "verified"


def record(program, answer, said, seconds, saved):
    launch = kernel_launch(answer["launches"])
    number = launch["launch"]
    result = launch["result"] or {}
    ptx = saved / f"launch_{number}.ptx"
    unchecked = sorted({n for l in answer["launches"] for n in (l["result"] or {}).get("not_checked", [])})
    return {"name": program.name, "project": "CUTLASS", "source": f"examples/{program.source}", "instantiation": None, "entry": launch["entry"],
            "size": program.size, "command": " ".join(nvcc(program, "CUTLASS")) + " -o program; sm100sim exec --sms "
            f"{program.sms} ./program {' '.join(program.arguments)}",
            "ptx_sha256": ptx_hash(ptx), "category": category(program, answer, said), "verdict": result.get("verdict", "error"),
            "not_checked": unchecked, "cycles": result.get("cycles") or 0, "warnings": sorted({w["id"] for w in result.get("warnings", [])}),
            "findings": sorted({w["id"] for w in result.get("findings", [])}), "wall_seconds": round(seconds, 1)}


def ptx_hash(path):
    """SHA-256 of the text without comments and places of sources, which differ from machine to machine."""
    kept = [line for line in path.read_text().splitlines() if not line.strip().startswith((".file", ".loc", "//"))]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()
