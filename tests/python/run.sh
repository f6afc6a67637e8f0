#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh DIR: tests of the Python package in DIR.  77: skipped.
set -euo pipefail
python3 -c 'import pytest, numpy' 2>/dev/null || { echo "test skipped: pytest or NumPy is missing (Debian: python3-pytest, python3-numpy)"; exit 77; }
PYTHONPATH=$1 exec python3 -m pytest -q -p no:cacheprovider "$(dirname "${BASH_SOURCE[0]}")"
