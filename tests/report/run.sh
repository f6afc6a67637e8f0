#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a test of the HTML report's page where its tools are; elsewhere says what is missing and is skipped (77).
#
#   run.sh page                        the committed pages are what their sources build
#   run.sh actors                      who acts is learned from the trace
#   run.sh browser SM100SIM FOLDER     the page in headless Chromium
#   run.sh play SM100SIM FOLDER        sm100sim play in it
set -eu
here=$(cd "$(dirname "$0")" && pwd)
report=$here/../../report

skip() { echo "SKIPPED: $1; ./dev doctor --browser installs it on Debian"; exit 77; }
command -v node >/dev/null || skip "node is missing"
[ -d "$report/node_modules" ] || skip "the page's packages are missing (npm ci in report/)"

case "$1" in
  page)
    built=$(mktemp -d)
    trap 'rm -rf "$built"' EXIT
    (cd "$report" && node_modules/.bin/tsc --noEmit)
    node "$report/build.mjs" "$built"
    for page in page.html play.html; do
      cmp "$built/$page" "$report/$page" || { echo "report/$page is not what report/src builds: npm run build in report/"; exit 1; }
    done
    echo "report/page.html and report/play.html are what their sources build" ;;
  actors) exec node "$here/actors_test.mjs" ;;
  browser|play)
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || skip "chromium is missing"
    exec node "$here/$1_test.mjs" "$2" "$3" ;;
esac
