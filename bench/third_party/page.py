# SPDX-License-Identifier: Apache-2.0
"""docs/third-party.md out of docs/third-party.json: all figures are the JSON's."""
import textwrap

EXPLANATIONS = """\
| warning | what is behind it | true? |
|---|---|---|
| MB14 (ThunderKittens, Triton) | one thread initialises, then `bar.sync` or `barrier.cluster` with release and acquire; TMA and `tcgen05.commit` use the barriers, and no fence that PTX documents for units stands between | by the letter |
| MB14 (CUTLASS) | the barrier for the deallocation is initialised behind the last `fence.mbarrier_init`, the cluster barrier that follows is `.relaxed` | by the letter; a whole tile lies between |
| TC16 (ThunderKittens, Triton, CUTLASS) | no `tcgen05.fence::after_thread_sync` behind the wait for the accumulator | by the letter; no case is known where it matters |
| TC18 (ThunderKittens, CUTLASS) | arithmetic on the registers stands in front of `tcgen05.wait::ld`, in the PTX too | by the letter; an instruction waits for registers that it reads |
| TC2 (DeepGEMM) | all epilogue warps name lane 0; the kernel's comment says that hardware ignores these bits | by the letter |
| SM3 (DeepGEMM) | the address that `tcgen05.alloc` wrote passes a cluster barrier whose arrival is `.relaxed` | by the letter; harmless |
| SM3 (Triton) | all warps store the same captured values at one place, with no order | by the letter; the bytes are equal |
| TM6 (Triton) | TMA, or `tcgen05.mma` behind `cp.async`, meets bytes of the generic proxy without `fence.proxy.async`: the place of the address of tensor memory is used again as a stage; operands come by `cp.async` | by the letter |
| SM3 (CUTLASS 77) | the address of tensor memory reaches the freeing warp through a `tcgen05.commit` only | by the letter |
| TC4 (CUTLASS 77) | `tcgen05.st` without `wait::st` in front of another warp's load | by the letter; tensor memory seems to carry out accesses in order |
| TC9 (CUTLASS 77) | the same in front of the deallocation | by the letter |
| RG2 (CUTLASS 77) | the last warp of a warpgroup gives back another number of registers than its three neighbours | by the letter |
| SC1 (learn-cuda v5 and later) | `mbarrier.arrive.expect_tx` names `.release.cta`, and the barrier is in the other CTA of the pair | by the letter; nothing but the bytes of the copies is handed over |
| LN2 (CUTLASS 77) | all lanes of the load warp wait for a slot, one loads, and they do not meet between; mended upstream (CUTLASS pull request 3654) | by the letter; the lanes of a warp stay together unless something parts them |
| MB1 (Triton ws) | the ring's barriers are invalidated while `tcgen05.commit`s to them are on their way: the wait for the last commit comes behind | true; harmless as long as nothing else is put there |
"""


def table(header, rows):
    return "\n".join(["| " + " | ".join(header) + " |", "|" + "---|" * len(header)] + ["| " + " | ".join(r) + " |" for r in rows]) + "\n"


def kernel_row(k):
    return [k["name"], k["size"], k["category"], f"{k['cycles']:,}" if k["cycles"] else "–", " ".join(k["warnings"]) or "–",
            f"{k['wall_seconds']:.1f}", f"`{k['ptx_sha256'][:12]}`" if k["ptx_sha256"] else "–"]


def rendered(data):
    out = ["# Other people's kernels", "",
           "Published kernels, compiled by nvcc and run from their PTX on the models, at small sizes, with data and all checks. This page is written from",
           "[third-party.json](third-party.json) by `bench/third_party/run.py --write docs`; checkouts are the reader's own, and nothing of them is in this",
           "repository.", "", "```"]
    out += [f"export {p['variable']}=...   # {p['url']} at {p['commit']}" for p in data["projects"]]
    out += ["python3 bench/third_party/run.py build/release/sm100sim", "```", "",
            "## What each kernel does", "",
            "`verified`: it ran to its end, and its output is that of a float64 reference, or its own program says so. `finding`, `hang`: a check has ended the run.",
            "`incomplete`: something was not looked at (CUTLASS 81 and 92 have passed their own comparison; `exec` does not know with how many registers a thread starts).",
            "`not implemented: …`: a form that the simulator does not have. Nothing else is a pass. The commands are in the JSON.",
            ""]
    out.append(table(["kernel", "M x N x K", "category", "cycles", "warnings", "seconds", "SHA-256 of the PTX"], [kernel_row(k) for k in data["kernels"]]))
    out += ["## What the warnings mean", "",
            "Every one was looked at in the kernel's source and PTX. A warning names what PTX does not promise although the kernel works on hardware as far as known;",
            "what has no such excuse is a finding and ends the run.", "", EXPLANATIONS]
    out += ["## Broken on purpose", "",
            "`bench/third_party/broken.py` makes five mistakes by pattern in the PTX of a kernel. What the report says first:", ""]
    for b in data["broken"]:
        out += [f"{b['kernel']}, {b['mistake']}, line {b['line']} of its PTX: {b['expected']}.", "", "```"] + b["report"] + ["```", ""]
    if data.get("mutated"):
        out += ["## Programs with a mistake in their PTX", "",
                "The same mistakes, and stores that are missing, in the kernels of whole programs: `sm100sim exec --ptx` puts the changed text in place of the program's",
                "own, and the program goes on to compare. `passed`: what was changed is not executed, or a barrier that nobody waits for at this size (`ledger`: 0 phases a CTA).", ""]
        out.append(table(["program", "mistake", "line", "exit code", "outcome"],
                         [[m["program"], m["mistake"], str(m["line"]), str(m["exit"]), m["outcome"]] for m in data["mutated"]]))
    out += ["## What of PTX is there", ""]
    complete, entries = sum(f["complete"] for f in data["files"]), sum(f["entries"] for f in data["files"])
    counts = {s: sum(f["state"] == s for f in data["forms"].values()) for s in ("modelled", "approximated", "rejected")}
    out += [f"`sm100sim ptx --check` finds {complete} of the {entries} entries complete in {len(data['files'])} files, examples' own reference kernels among them. They",
            f"hold {len(data['forms'])} opcode forms: {counts['modelled']} modelled, {counts['approximated']} approximated, {counts['rejected']} rejected.", ""]
    out.append(table(["file", "entries", "complete", "instructions", "rejected"],
                     [[f["file"], str(f["entries"]), str(f["complete"]), f"{f['instructions']:,}", " ".join(f"`{m}`" for m in f["missing"]) or "–"]
                      for f in data["files"]]))
    odd = [[f"`{form}`", f["state"], f["why"], f"{f['count']:,}"] for form, f in data["forms"].items() if f["state"] != "modelled"]
    out.append(table(["form", "", "", "instructions"], odd))
    out += ["Modelled:", "", "```"]
    out += textwrap.wrap("  ".join(form for form, f in data["forms"].items() if f["state"] == "modelled"), 150, break_long_words=False,
                         break_on_hyphens=False)
    out += ["```"]
    return "\n".join(out) + "\n"
