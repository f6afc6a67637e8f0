#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# site.sh DIR: makes the site, then again with a link that leads nowhere.  77: skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python3 -c 'import markdown' 2>/dev/null || { echo "test skipped: Python's markdown is missing (Debian: python3-markdown)"; exit 77; }
rm -rf "$1"
python3 docs/site.py "$1"
grep -q '<h1 id="user-guide">User guide</h1>' "$1/docs/user-guide.html"
if grep -rhoE '(href|src)="https?://[^"]*"' "$1" | grep -E '^src='; then echo "a page loads something from elsewhere" >&2; exit 1; fi

broken=$(mktemp -d)
trap 'rm -rf "$broken"' EXIT
git ls-files -z -- docs '*.md' ':!docs/pictures' | xargs -0 cp --parents -t "$broken"
cp -r docs/site.py "$broken/docs/"
printf '# A page\n\n[x](nowhere.md) [y](run.md#no-such-heading)\n' >"$broken/docs/broken.md"
if python3 "$broken/docs/site.py" "$broken/out" 2>"$broken/err"; then echo "a broken link was taken" >&2; exit 1; fi
grep -q 'docs/broken.md: nowhere.md: no such file' "$broken/err"
grep -q 'docs/broken.md: run.md#no-such-heading: no such heading' "$broken/err"
