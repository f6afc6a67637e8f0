# SPDX-License-Identifier: Apache-2.0
"""Five mistakes, made by pattern in anybody's PTX of a GEMM in warp-specialised form: what the reports make of them.

A place is found by what stands around it: the load's wait is the last one in front of the first tensor load, the MMA's the last
one in front of the first MMA, the epilogue's the last one in front of the first tcgen05.ld.
"""
import dataclasses
import re

WAIT = r"mbarrier\.try_wait\.parity\S* \w+, \[(%r\w+)\], (%r\w+), (%r\w+);"  # with a time limit: a loop; without one it is a peek


@dataclasses.dataclass
class Mistake:
    name: str
    expected: str  # what a report must say: barrier, phase, warp and cause, in words for the page
    edit: object   # f(lines) -> index of the changed line; changes the list


def first(lines, pattern, start=0):
    return next(i for i in range(start, len(lines)) if re.search(pattern, lines[i]))


def last_before(lines, pattern, end):
    return next(i for i in range(end - 1, -1, -1) if re.search(pattern, lines[i]))


def wait_before(lines, pattern):
    return last_before(lines, WAIT, first(lines, pattern))


def without_wait(lines):
    """The MMA's wait for its operands: the predicate stays false, and the loop goes on at once."""
    at = wait_before(lines, r"tcgen05\.mma\.")
    lines[at] = ""
    loop = first(lines, r"^\s*bra(\.uni)?\s+\S+;", at)
    lines[loop] = ""
    return at


def wrong_phase(lines):
    """The epilogue's wait for the accumulator, with the other parity."""
    at = wait_before(lines, r"tcgen05\.ld\.")
    _, parity, _ = re.search(WAIT, lines[at]).groups()
    lines[at] = f"{{ .reg .b32 other; xor.b32 other, {parity}, 1; {lines[at].replace(parity + ',', 'other,').strip()} }}"
    return at


def another_count(lines):
    """The init with the largest count that the entry states expects one arrival more."""
    constants = {}
    best = None
    for i, line in enumerate(lines):
        if moved := re.search(r"mov\.[bsu]32\s+(%r\d+), (\d+);", line):
            constants[moved[1]] = int(moved[2])
        if init := re.search(r"mbarrier\.init\S* \[%r\d+\], (%r\d+);", line):
            if best is None or constants.get(init[1], 0) > best[1]:
                best = (i, constants.get(init[1], 0), init[1])
    at, _, count = best
    lines[at] = f"{{ .reg .b32 more; add.s32 more, {count}, 1; {lines[at].replace(count + ';', 'more;').strip()} }}"
    return at


def without_fence(lines):
    """The fence between the epilogue's stores to shared memory and the tensor store."""
    at = first(lines, r"fence\.proxy\.async", first(lines, r"tcgen05\.ld\."))
    lines[at] = ""
    return at


def more_bytes(lines):
    """The loads, on each path that a compiler has made of the loop, expect 16 bytes more than their copies bring."""
    loads = [i for i, line in enumerate(lines) if re.search(r"cp\.async\.bulk\.tensor\S*mbarrier::complete_tx", line)]
    changed = []
    for i, line in enumerate(lines):
        counts = re.search(r"mbarrier\.arrive\.expect_tx\S* +_, \[%r\d+\], (%r\d+);", line)
        if counts and any(abs(i - load) < 60 for load in loads):
            count = counts[1]
            lines[i] = f"{{ .reg .b32 more; add.s32 more, {count}, 16; {line.replace(count + ';', 'more;').strip()} }}"
            changed.append(i)
    return changed[0]


MISTAKES = [
    Mistake("a wait removed", "the MMA warp reads a stage that it has not waited for", without_wait),
    Mistake("a wrong phase", "the epilogue's wait passes one phase early", wrong_phase),
    Mistake("a count changed", "a barrier waits for one arrival more than it gets", another_count),
    Mistake("a fence dropped", "the tensor store may read what was there before", without_fence),
    Mistake("a byte total", "16 bytes are expected that no copy brings", more_bytes),
]


def broken(ptx_text, entry, mistake):
    """The text with one mistake in the entry, and the line of the change."""
    lines = ptx_text.split("\n")
    begin = first(lines, rf"\.entry \S*{re.escape(entry)}")
    end = next((i for i in range(begin + 1, len(lines)) if re.search(r"\.entry ", lines[i])), len(lines))
    body = lines[begin:end]
    at = mistake.edit(body)
    return "\n".join(lines[:begin] + body + lines[end:]), begin + at + 1
