# SPDX-License-Identifier: Apache-2.0
"""What becomes of each opcode form: modelled, approximated, or rejected (`ptx --check` names it)."""
import json
import re
import subprocess

# What the models do otherwise than hardware, beside its time, which is the profile's for every form.
APPROXIMATED = [
    (r"\.(approx|full)(\.|$)", "the correctly rounded result; hardware may differ in the last places"),
    (r"^(ex2|lg2|sin|cos|tanh|rsqrt)\.", "the correctly rounded result; hardware may differ in the last places"),
    (r"^createpolicy|\.L2::cache_hint|\.L1::|\.L2::\d+B|^prefetch", "hints change nothing"),
    (r"^cp\.async\.(ca|cg)\.", "bytes move at once and count as landed an L2 hit later"),
    (r"^(fence\.(acq_rel|sc|acquire|release)|membar|fence\.proxy\.alias)", "costs its cycles; order follows from barriers and words"),
    (r"^nanosleep", "sleeps as long as it says, at least"),
    (r"^(atom|red)\.", "lane by lane at one cycle; scopes are not looked at"),
    (r"^(ld|st)\.\S*(acquire|release|relaxed)", "scopes are not looked at"),
]


def check(simulator, ptx):
    """The entries of a file as `ptx --check` has them."""
    done = subprocess.run([simulator, "ptx", ptx, "--check", "--json", "-"], capture_output=True, text=True)
    return json.loads(done.stdout)["entries"]


def state_of(form, why_rejected):
    if why_rejected:
        return "rejected", why_rejected
    for pattern, why in APPROXIMATED:
        if re.search(pattern, form):
            return "approximated", why
    return "modelled", ""


def corpus(simulator, files):
    """@param files  name -> PTX.  @return entries of each file and how many are complete; all forms with what becomes of them."""
    listed, forms = [], {}
    for name, ptx in files.items():
        entries = check(simulator, ptx)
        missing = {m["opcode"]: m["why"] for e in entries for m in e["missing"]}
        listed.append({"file": name, "entries": len(entries), "complete": sum(e["complete"] for e in entries),
                       "instructions": sum(e["instructions"] for e in entries), "missing": sorted(missing)})
        for entry in entries:
            for form, count in entry["opcodes"].items():
                state, why = state_of(form, missing.get(form))
                known = forms.setdefault(form, {"state": state, "why": why, "count": 0})
                known["count"] += count
    return listed, dict(sorted(forms.items()))
