# SPDX-License-Identifier: Apache-2.0
"""The cells of examples/python/pipeline.ipynb run, one after the other."""

import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples/python/pipeline.ipynb"


def test_the_notebook_runs(monkeypatch, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 6 and not any(cell["outputs"] for cell in cells)
    names = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), str(NOTEBOOK), "exec"), names)
    printed = capsys.readouterr().out
    assert "PASS, clean  dense_small" in printed
    assert "<sm100sim.Result hang, findings: " in printed
    runs = names["runs"]
    assert runs[0]["cycles"] > 2 * runs[-1]["cycles"]
