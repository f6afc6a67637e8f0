#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bugs on silicon and in the model: the same faults in the same PTX of kernels for sm_90a.

usage: bug_table.py prepare PTX_DIR OUT        scenarios of the bugs, with the PTX of one entry each
       bug_table.py model SM100SIM OUT         what the model says; writes OUT/model.json
       bug_table.py silicon SM100_RUN OUT      on this machine's GPU, a process for each; writes OUT/silicon.json
       bug_table.py table OUT                  both, side by side

PTX_DIR holds hopper_matmul_no_trace_points.ptx and copy_no_trace_points.ptx (build/PRESET/tests/kernels/cuda).
"""
import json
import pathlib
import re
import subprocess
import sys

BASES = {  # problem, config and run of a base, its entry, and the problem that fills the chip
    "cooperative": ("hopper_matmul", 0, "m=512 n=512 k=512", "stages=4", 4, "m=1536 n=1408 k=512"),
    "cluster": ("hopper_matmul", 1, "m=512 n=512 k=512", "block_n=256 cluster=2 stages=4", 4, "m=1536 n=5632 k=512"),
    "pingpong": ("hopper_matmul", 2, "m=512 n=512 k=512", 'schedule="pingpong" block_n=128 stages=6', 4,
                 "m=1536 n=1408 k=512"),
    "fp8": ("hopper_matmul", 4, "m=512 n=512 k=512", 'dtype="e4m3" stages=4', 4, "m=1536 n=1408 k=512"),
    "copy": ("pipeline_copy", 3, "m=512 n=1024", "stages=4", 1, "m=4096 n=4096"),
    "copy_multicast": ("pipeline_copy", 13, "m=512 n=1024", "cluster=2 multicast=true stages=4", 2, "m=4096 n=4096"),
}

# name: base, what is wrong, the faults
BUGS = {
    # parity
    "consumer_parity": ("cooperative", "consumers wait for the other parity", "mbarrier_try_wait_parity role=consumer flip_parity"),
    "consumer_parity_once": ("cooperative", "the sixth wait of each consumer warp has the other parity",
                             "mbarrier_try_wait_parity role=consumer occurrence=5 flip_parity"),
    "producer_parity": ("cooperative", "the producer waits for the other parity", "mbarrier_try_wait_parity role=load flip_parity"),
    "producer_parity_once": ("cooperative", "the producer's sixth wait has the other parity",
                             "mbarrier_try_wait_parity role=load occurrence=5 flip_parity"),
    "copy_parity_once": ("copy_multicast", "a consumer's second wait for stage 1 has the other parity",
                         "mbarrier_try_wait_parity role=consumer barrier=input_full stage=1 occurrence=1 flip_parity"),
    # waits
    "full_not_awaited": ("cooperative", "consumers do not wait for their sixth stage",
                         "mbarrier_try_wait_parity role=consumer occurrence=5 drop"),
    "empty_not_awaited": ("cooperative", "the producer does not wait for its seventh slot",
                          "mbarrier_try_wait_parity role=load occurrence=6 drop"),
    "empty_never_awaited": ("cooperative", "the producer never waits for a slot", "mbarrier_try_wait_parity role=load drop"),
    "copy_full_not_awaited": ("copy", "a consumer does not wait for its sixth stage",
                              "mbarrier_try_wait_parity role=consumer barrier=input_full occurrence=5 drop"),
    # counts
    "empty_count_larger": ("cooperative", "input_empty counts one arrival too many",
                           "mbarrier_init barrier=input_empty add operand=count value=1"),
    "empty_count_smaller": ("cooperative", "input_empty counts one arrival too few",
                            "mbarrier_init barrier=input_empty add operand=count value=-1"),
    "full_count_larger": ("cooperative", "input_full counts one arrival too many",
                          "mbarrier_init barrier=input_full add operand=count value=1"),
    "cluster_count_smaller": ("cluster", "input_empty does not count the peer's last warp",
                              "mbarrier_init barrier=input_empty add operand=count value=-1"),
    "copy_count_larger": ("copy_multicast", "input_empty counts one arrival too many",
                          "mbarrier_init barrier=input_empty add operand=count value=1"),
    # bytes
    "bytes_larger": ("cooperative", "expect_tx of the fourth load is 16 bytes too large",
                     "mbarrier_arrive_expect_tx role=load occurrence=3 add operand=bytes value=16"),
    "bytes_smaller": ("cooperative", "expect_tx counts A's bytes alone",
                      "mbarrier_arrive_expect_tx role=load add operand=bytes value=-16384"),
    "bytes_of_one_cta": ("cluster", "expect_tx counts a part of the bytes that the cluster brings",
                         "mbarrier_arrive_expect_tx role=load occurrence=2 add operand=bytes value=-16384"),
    "not_armed": ("cooperative", "the fourth load arms no barrier", "mbarrier_arrive_expect_tx role=load occurrence=3 drop"),
    "armed_twice": ("cooperative", "the fourth load arms its barrier twice",
                    "mbarrier_arrive_expect_tx role=load occurrence=3 duplicate value=2"),
    # arrivals
    "release_missing": ("cooperative", "a consumer warp does not hand its fourth stage back",
                        "mbarrier_arrive role=consumer warp=9 occurrence=3 drop"),
    "release_missing_cluster": ("cluster", "a consumer warp does not hand its fourth stage back to the cluster",
                                "mbarrier_arrive role=consumer warp=9 occurrence=3 drop"),
    "release_twice": ("cooperative", "a consumer warp hands every stage back twice",
                      "mbarrier_arrive role=consumer warp=5 duplicate value=2"),
    "copy_release_twice": ("copy", "a consumer hands every stage back twice",
                           "mbarrier_arrive role=consumer barrier=input_empty duplicate value=2"),
    "copy_release_missing": ("copy", "a consumer does not hand stage 2 back once",
                             "mbarrier_arrive role=consumer barrier=input_empty stage=2 occurrence=3 drop"),
    "release_to_itself": ("cluster", "consumers hand stages back to their own CTA alone", "mbarrier_arrive role=consumer own_cta"),
    "copy_release_to_itself": ("copy_multicast", "a consumer hands stages back to its own CTA alone",
                               "mbarrier_arrive role=consumer barrier=input_empty own_cta"),
    # fences and proxies
    "init_fence_missing": ("cluster", "no fence.mbarrier_init", "fence_mbarrier_init drop"),
    "proxy_fence_missing": ("fp8", "one warp writes C without a proxy fence",
                            "fence_proxy_async_shared_cta role=consumer warp=6 drop"),
    "proxy_fences_missing": ("cooperative", "no warp fences what it writes of C", "fence_proxy_async_shared_cta role=consumer drop"),
    "copy_proxy_fence_missing": ("copy", "no proxy fence before the store", "fence_proxy_async_shared_cta drop"),
    # named barriers
    "strip_not_awaited": ("cooperative", "the strip is stored before all warps have written it", "bar_sync role=consumer id=1 drop"),
    "strip_count_larger": ("cooperative", "the strip's barrier counts another warp",
                           "bar_sync role=consumer id=1 add operand=threads value=32"),
    "turn_not_given": ("pingpong", "a warp does not give the turn", "bar_arrive role=consumer warp=4 occurrence=0 drop"),
    "turn_not_awaited": ("pingpong", "a consumer does not wait for its turn", "bar_sync role=consumer id=4 drop"),
    # bulk groups
    "store_not_awaited": ("cooperative", "strips are written again while TMA reads them", "cp_async_bulk_wait_group_read drop"),
    "store_in_no_group": ("cooperative", "stores are in no bulk group", "cp_async_bulk_commit_group drop"),
    # masks, addresses, coordinates
    "mask_without_peer": ("cluster", "multicast leaves the peer out", "cp_async_bulk_tensor_shared_global_multicast clear_mask value=2"),
    "signals_next_stage": ("cooperative", "a load signals the next stage's barrier",
                           "cp_async_bulk_tensor_shared_global role=load occurrence=5 add operand=barrier value=8"),
    "wrong_slot": ("cooperative", "a load fills the slot behind its own",
                   "cp_async_bulk_tensor_shared_global role=load occurrence=5 add operand=smem value=16384"),
    "wrong_column": ("cooperative", "a load takes the next k tile",
                     "cp_async_bulk_tensor_shared_global role=load occurrence=5 add operand=x value=64"),
    # start and end of a cluster
    "peer_not_awaited": ("cluster", "a CTA does not wait until its peer has initialised its barriers",
                         "barrier_cluster_wait occurrence=0 drop"),
    "exit_before_peer": ("cluster", "a producer exits without waiting until its peer has handed the stages back",
                         "mbarrier_try_wait_parity role=load from=16 drop"),
    # wgmma
    "wgmma_not_awaited": ("cooperative", "stages go back while wgmma read them", "wgmma_wait_group drop"),
    "wgmma_in_no_group": ("pingpong", "no wgmma is in a group", "wgmma_commit_group drop"),
    "wgmma_next_step": ("cooperative", "B's descriptor is one wgmma too far", "wgmma_mma_async role=consumer occurrence=5 add operand=b value=32"),
}


def table(text: str) -> str:
    return "".join(f"{part.replace('=', ' = ', 1)}\n" for part in text.split())


def fault(text: str) -> str:
    lines = ["[[fault]]"]
    parts = text.split()
    lines.append(f'instruction = "{parts[0]}"')
    for part in parts[1:]:
        key, _, value = part.partition("=")
        if not value:
            lines.append(f'action = "{key}"')
        else:
            lines.append(f"{key} = {value}" if re.fullmatch(r"-?\d+", value) else f'{key} = "{value}"')
    return "\n".join(lines) + "\n"


def prepare(ptx_dir: pathlib.Path, out: pathlib.Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for base, (kernel, index, problem, config, sms, chip) in BASES.items():
        stem = "hopper_matmul" if kernel == "hopper_matmul" else "copy"
        text = (ptx_dir / f"{stem}_no_trace_points.ptx").read_text()
        first = text.index(".visible .entry")
        entries = re.split(r"(?=^\.visible \.entry)", text[first:], flags=re.M)
        entry = next(e for e in entries if f"ConfigILm{index}E" in e.split("(")[0])
        (out / f"{base}.ptx").write_text(text[:first] + entry)
        name = re.search(r"\.entry (\w+)", entry).group(1)  # type: ignore[union-attr]
        for size, shape, count in (("alone", problem, sms), ("chip", chip, 132)):
            head = (f'kernel = "{kernel}"\nprofile = "h200"\n\n[problem]\n{table(shape)}\n[config]\n{table(config)}\n'
                    f'[run]\nsms = {count}\nptx = "{base}.ptx"\nptx_entry = "{name}"\nprovenance = "off"\n')
            (out / f"sound_{base}_{size}.toml").write_text(head)
            for bug, (of, what, text_of_fault) in BUGS.items():
                if of == base:
                    (out / f"{bug}_{size}.toml").write_text(f'description = "{what}"\n{head}\n{fault(text_of_fault)}')


def scenarios(out: pathlib.Path, size: str) -> dict[str, pathlib.Path]:
    names = [f"sound_{base}" for base in BASES] + list(BUGS)
    return {name: out / f"{name}_{size}.toml" for name in names}


def model(program: str, out: pathlib.Path) -> None:
    result = {}
    for name, file in scenarios(out, "alone").items():
        done = subprocess.run([str(pathlib.Path(program).resolve()), "run", file.name, "--json", "-"], capture_output=True, text=True, timeout=600,
                              cwd=out)
        try:
            d = json.loads(done.stdout)
        except json.JSONDecodeError:
            result[name] = {"outcome": "refused", "text": done.stderr.strip()}
            print(name, done.stderr.strip())
            continue
        result[name] = {"outcome": d["outcome"], "ids": sorted({f["id"] for f in d["findings"]}),
                        "warnings": sorted({f["id"] for f in d["warnings"] if isinstance(f, dict)})}
        print(f"{name:28} {d['outcome']:10} {' '.join(result[name]['ids'])}", flush=True)
    (out / "model.json").write_text(json.dumps(result, indent=1))


def silicon(program: str, out: pathlib.Path) -> None:
    result: dict[str, dict[str, str]] = {}
    for size in ("alone", "chip"):
        for name, file in scenarios(out, size).items():
            command = [str(pathlib.Path(program).resolve()), file.name, "--trials", "100", "--hang-timeout", "2", "--json", "-"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=out)
            except subprocess.TimeoutExpired:
                done = subprocess.CompletedProcess(command, 3, "", "the process had to be killed")
            if done.returncode in (0, 1):
                d = json.loads(done.stdout)
                said = f"wrong {d['wrong_trials']} of {d['trials']}" if d["wrong_trials"] else f"right {d['trials']} of {d['trials']}"
            else:
                text = done.stderr.strip().removeprefix("sm100-run: ")
                said = {3: "hang", 4: "trap"}.get(done.returncode, f"exit code {done.returncode}") + f": {text}"
            result.setdefault(name, {})[size] = said
            print(f"{name:28} {size:6} {said}", flush=True)
            (out / "silicon.json").write_text(json.dumps(result, indent=1))


def side_by_side(out: pathlib.Path) -> None:
    said = json.loads((out / "model.json").read_text())
    seen = json.loads((out / "silicon.json").read_text())
    for name in scenarios(out, "alone"):
        m, s = said.get(name, {}), seen.get(name, {})
        what = BUGS[name][1] if name in BUGS else "sound"
        short = {k: re.sub(r"hang: .*launch (\d+) of.*", r"hang in launch \1", re.sub(r"hang: the kernel has not finished.*?$", "hang", v) if "launch" not in v else v) for k, v in s.items()}
        print(f"| {name} | {what} | {short.get('alone', '')} | {short.get('chip', '')} | {m.get('outcome', '')} {' '.join(m.get('ids', []))} |")


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    action, *rest = sys.argv[1:]
    paths = [pathlib.Path(path) for path in rest]
    if action == "prepare":
        prepare(paths[0], paths[1])
    elif action == "model":
        model(rest[0], paths[1])
    elif action == "silicon":
        silicon(rest[0], paths[1])
    else:
        side_by_side(paths[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
