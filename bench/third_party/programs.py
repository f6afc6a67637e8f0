# SPDX-License-Identifier: Apache-2.0
"""Published programs whose host code launches the kernels: `sm100sim exec` runs them, and they verify themselves.

CUTLASS's examples and a program of ThunderKittens; for learn-cuda and DeepGEMM, whose host code is Python's, small hosts of ours
(hosts/).  A program counts as verified if it says that its comparison passed, every launch was carried out and none ended with a
finding.
"""
import dataclasses
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import time

from broken import Mistake, MISTAKES, broken

OPTIONS = ["-std=c++17", "-O3", "--expt-relaxed-constexpr", "-DNDEBUG", "-I", "{CUTLASS}/include", "-I", "{CUTLASS}/tools/util/include", "-I",
           "{CUTLASS}/examples/common", "-gencode", "arch=compute_100a,code=compute_100a", "-cudart", "shared"]
HOSTS = pathlib.Path(__file__).resolve().parent / "hosts"
SIZE = ["--m=512", "--n=512", "--k=512", "--iterations=0"]
CONVOLUTION = ["--n=1", "--d=1", "--h=12", "--w=12", "--c=64", "--k=64", "--t=1", "--r=3", "--s=3", "--pad_h=1", "--pad_w=1", "--iterations=0"]
IMAGE = "1 image of 12 x 12 x 64, 64 filters of 3 x 3"


@dataclasses.dataclass
class Program:
    name: str
    source: str            # of the checkout
    binary: str            # what --programs FOLDER calls it
    arguments: list
    sms: int = 4           # clusters of 2 x 4 need 8
    options: tuple = ()
    size: str = "512 x 512 x 512"
    broken: bool = False
    passed: tuple = ("Passed",)
    project: str = "CUTLASS"
    host: str = ""         # a file of hosts/ that includes the source, or loads what is compiled of it
    kernel: str = ""       # the kernel (kernels.py) whose PTX and entry the program gets as arguments


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
    *(Program(f"CUTLASS 76 convolution, {of}", f"76_blackwell_conv/76_blackwell_conv_{of}.cu", f"c76_{of}", CONVOLUTION, size=IMAGE)
      for of in ("fprop", "dgrad", "wgrad")),
    Program("CUTLASS 83 sparse fp16", "83_blackwell_sparse_gemm/83_blackwell_sparse_gemm.cu", "c83", SIZE),
    Program("CUTLASS 84a sparse nvfp4", "84_blackwell_narrow_precision_sparse_gemm/84a_blackwell_nvfp4_bf16_sparse_gemm.cu", "c84a", SIZE, sms=8),
    Program("CUTLASS 84b sparse mxfp8", "84_blackwell_narrow_precision_sparse_gemm/84b_blackwell_mixed_mxfp8_bf16_sparse_gemm.cu", "c84b", SIZE, sms=8),
    Program("CUTLASS 77 FMHA", "77_blackwell_fmha/77_blackwell_fmha.cu", "c77", ["--b=1", "--h=2", "--q=256", "--k=256", "--d=128", "--verify", "--iterations=0"],
            options=("-I", "{CUTLASS}/examples/77_blackwell_fmha"), size="1 x 2 x 256 x 256 x 128", passed=("[OK]",)),
    Program("ThunderKittens bf16 program", "kernels/gemm/bf16_b200/bf16_b200_gemm.cu", "tk_bf16", [], sms=16, size="1024 x 1024 x 1024",
            project="ThunderKittens", host="kittens_bf16.cu"),
    *(Program(f"learn-cuda v{v} host", f"02e_matmul_sm100/matmul_v{v}.cu", f"lc_v{v}", [], sms=4, project="learn-cuda", host="learn_cuda.cu",
              options=(f"-DFUNCTIONS={','.join(f'ONE(matmul_v{v}{form})' for form in forms)}",))
      for v, forms in ((1, "ab"), (2, "ab"), (3, [""]), (4, [""]), (5, [""]), (6, [""]), (7, "abc"))),
    Program("DeepGEMM bf16 driver", "deep_gemm/include/deep_gemm/impls/sm100_bf16_gemm.cuh", "deepgemm_bf16", [], sms=8, size="1024 x 512 x 512",
            project="DeepGEMM", host="deepgemm_bf16.cpp", kernel="DeepGEMM bf16"),
]
# how the sources of a project are compiled
PROJECT_OPTIONS = {
    "CUTLASS": OPTIONS,
    "ThunderKittens": ["-std=c++20", "-O3", "--use_fast_math", "--expt-extended-lambda", "--expt-relaxed-constexpr", "-DNDEBUG",
                       "-DKITTENS_BLACKWELL", "-I", "{ThunderKittens}/include", "-I", "{ThunderKittens}/prototype", "-gencode",
                       "arch=compute_100a,code=compute_100a", "-cudart", "shared", "-lcuda"],
    "learn-cuda": ["-std=c++17", "-O3", "--expt-relaxed-constexpr", "-I", "STUB", "-include", "cuda_bf16.h", "-include", "tuple", "-gencode",
                   "arch=compute_100a,code=compute_100a", "-cudart", "shared", "-lcuda"],
    "DeepGEMM": ["-std=c++17", "-O2", "-cudart", "none", "-lcuda"],
}


def supports(simulator):
    return subprocess.run([simulator, "exec", "--help"], capture_output=True).returncode == 0


def nvcc(program, checkouts):
    """The command, with checkouts {project: folder}; a host of ours includes the published source."""
    options = [o.format(**checkouts) for o in (*PROJECT_OPTIONS[program.project], *program.options)]
    folder = {"CUTLASS": "examples/"}.get(program.project, "")
    published = f"{checkouts[program.project]}/{folder}{program.source}"
    if not program.host:
        return ["nvcc", *options, published]
    included = [] if program.kernel else [f'-DSOURCE="{published}"']
    return ["nvcc", *options, *included, str(HOSTS / program.host)]


def shown_command(program):
    """The same with the projects' names for their checkouts."""
    line = shlex.join(nvcc(program, {p: p for p in PROJECT_OPTIONS})).replace(f"{HOSTS}/", "bench/third_party/hosts/")
    arguments = ["KERNEL.ptx", "ENTRY"] if program.kernel else program.arguments
    return " ".join([line, "-o program; sm100sim exec --sms", str(program.sms), "./program", *arguments]).strip()


def compiled(program, checkouts, folder):
    """Minutes for each; `folder` keeps them."""
    out = folder / program.binary
    if not out.exists():
        stub = folder / "stub/torch"  # learn-cuda's headers want one macro of PyTorch
        stub.mkdir(parents=True, exist_ok=True)
        (stub / "library.h").write_text("#define TORCH_CHECK(...)\n")
        command = [str(folder / "stub") if o == "STUB" else o for o in nvcc(program, checkouts)]
        subprocess.run([*command, "-o", out], check=True, capture_output=True)
    return out


def kernel_launch(launches):
    """The launch that is looked at: the kernel with units, not what fills, compresses and compares."""
    launches = [l for l in launches if not l["functional"]] or launches
    return next((l for l in launches if re.search("device_kernel|matmul_v|gemm_impl|6kernelI", l["entry"])), launches[-1] if launches else None)


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
    if "Failed" in said:
        return "incomplete: the program's comparison fails"
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
    folder = "examples/" if program.project == "CUTLASS" else ""
    return {"name": program.name, "project": program.project, "source": folder + program.source, "instantiation": None,
            "entry": launch["entry"], "size": program.size, "command": shown_command(program),
            "ptx_sha256": ptx_hash(ptx), "category": category(program, answer, said), "verdict": result.get("verdict", "error"),
            "not_checked": unchecked, "cycles": result.get("cycles") or 0, "warnings": sorted({w["id"] for w in result.get("warnings", [])}),
            "findings": sorted({w["id"] for w in result.get("findings", [])}), "wall_seconds": round(seconds, 1)}


def ptx_hash(path):
    """SHA-256 of the text without comments and places of sources, which differ from machine to machine."""
    kept = [line for line in path.read_text().splitlines() if not line.strip().startswith((".file", ".loc", "//"))]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()
