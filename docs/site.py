#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/site.py DIR: the documents as a static site, from the same Markdown.  Needs Python's `markdown` (Debian: python3-markdown); no
network, and the pages load nothing from elsewhere.  A link that leads nowhere ends it: one line, exit code 1."""

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STYLE = """
:root { color-scheme: light dark; --line: #8884; --link: #3d6fb4; }
@media (prefers-color-scheme: dark) { :root { --link: #8ab4f8; } }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { border-right: 1px solid var(--line); padding: 1rem; font-size: 14px; height: 100vh; overflow: auto; position: sticky; top: 0; box-sizing: border-box; }
nav a { display: block; padding: 2px 0; text-decoration: none; } nav b { display: block; margin: 1rem 0 .3rem; }
nav a[aria-current] { font-weight: 600; }
main { max-width: 60rem; padding: 1rem 2.5rem 4rem; box-sizing: border-box; min-width: 0; }
a { color: var(--link); } img { max-width: 100%; height: auto; }
pre { overflow-x: auto; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 6px; font-size: 13px; line-height: 1.4; }
code { font-family: ui-monospace, monospace; font-size: .92em; }
table { border-collapse: collapse; display: block; overflow-x: auto; } th, td { border: 1px solid var(--line); padding: .3rem .6rem; vertical-align: top; text-align: left; }
h1, h2, h3 { line-height: 1.25; scroll-margin-top: 1rem; } h2 { margin-top: 2.2rem; }
@media (max-width: 800px) { body { display: block; } nav { height: auto; position: static; border: 0; border-bottom: 1px solid var(--line); } main { padding: 1rem; } }
"""


def slug(text: str, _separator: str = "-") -> str:
    """A heading's anchor as the documents link to it: GitHub's."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def title_of(text: str) -> str:
    return next(line[2:].strip() for line in text.splitlines() if line.startswith("# "))


def sources() -> dict[Path, str]:
    """Documents by their place below the root."""
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return {file.relative_to(ROOT): file.read_text() for file in files}


def target_of(page: Path) -> Path:
    return Path("index.html") if page == Path("README.md") else page.with_suffix(".html")


def for_markdown(text: str) -> str:
    """GitHub's Markdown as Python's package takes it: a fence with one word, an empty line before a list."""
    lines: list[str] = []
    fence = False
    for line in text.splitlines():
        opening = re.match(r"^```(\w+) +(.+)$", line)
        if opening and not fence:
            if opening.group(2) != "dated":
                lines += [f"`{opening.group(2)}`", ""]
            line = "```" + opening.group(1)
        if line.startswith("```"):
            fence = not fence
        elif not fence and re.match(r"([-*]|1\.) ", line) and lines and re.match(r"[^\s|]", lines[-1]) and not re.match(r"([-*]|\d+\.) ", lines[-1]):
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: docs/site.py DIR", file=sys.stderr)
        return 2
    try:
        import markdown
    except ImportError:
        print("docs/site.py: Python's markdown is missing (Debian: python3-markdown)", file=sys.stderr)
        return 2
    out = Path(sys.argv[1])
    pages = sources()
    assets: set[Path] = set()
    problems: list[str] = []
    bodies: dict[Path, str] = {}
    anchors: dict[Path, set[str]] = {}
    links: list[tuple[Path, str, Path, str]] = []

    for page, text in pages.items():
        text = for_markdown(text)
        body = markdown.markdown(
            text, extensions=["tables", "fenced_code", "toc", "sane_lists"], extension_configs={"toc": {"slugify": slug}}
        )
        anchors[page] = set(re.findall(r'id="([^"]+)"', body))

        def link(match: re.Match[str], page: Path = page) -> str:
            attribute, where = match.group(1), html.unescape(match.group(2))
            if re.match(r"[a-z]+:", where):
                return match.group(0)
            path, _, anchor = where.partition("#")
            there = (ROOT / page).parent.joinpath(path).resolve() if path else ROOT / page
            if not there.exists() or not there.is_relative_to(ROOT):
                problems.append(f"{page}: {where}: no such file")
                return match.group(0)
            there = there.relative_to(ROOT)
            up = "../" * (len(target_of(page).parts) - 1)
            if there in pages:
                links.append((page, where, there, anchor))
                return f'{attribute}="{up}{target_of(there)}{"#" + anchor if anchor else ""}"'
            if (ROOT / there).is_file() and there.parts[0] == "docs":
                assets.add(there)
                return f'{attribute}="{up}{there}"'
            # Sources are not part of the site.
            return f'{attribute}="{up}{there}"' if attribute == "src" else 'data-source="' + html.escape(str(there)) + '"'

        bodies[page] = re.sub(r'(href|src)="([^"]*)"', link, body)

    for page, where, there, anchor in links:
        if anchor and anchor not in anchors[there]:
            problems.append(f"{page}: {where}: no such heading")
    if problems:
        print("\n".join(sorted(set(problems))), file=sys.stderr)
        return 1

    def navigation(current: Path) -> str:
        up = "../" * (len(target_of(current).parts) - 1)

        def entry(page: Path) -> str:
            here = ' aria-current="page"' if page == current else ""
            return f'<a href="{up}{target_of(page)}"{here}>{html.escape(title_of(pages[page]))}</a>'

        guide = Path("docs/user-guide.md")
        named = [Path("docs") / name for name in re.findall(r"^\| [^|]+\| \[[^\]]+\]\(([\w/.-]+\.md)\)", pages[guide], flags=re.M)]
        named = [page for page in dict.fromkeys(named) if page in pages]
        lessons = [page for page in pages if page.parts[:2] == ("docs", "lessons")]
        rest = [page for page in pages if page not in named and page not in lessons and page not in (Path("README.md"), guide)]
        parts = [entry(Path("README.md")), entry(guide)]
        for name, group in (("Tasks", [p for p in named if p not in lessons]), ("Lessons", lessons), ("More", rest)):
            parts += [f"<b>{name}</b>"] + [entry(page) for page in group]
        return "\n".join(parts)

    version = subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%h, %cs"], capture_output=True, text=True, check=False).stdout.strip()
    for page, body in bodies.items():
        target = out / target_of(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(title_of(pages[page]))} - sm100sim</title><style>{STYLE}</style>"
            f"<nav>{navigation(page)}</nav><main>{body}<p><small>{html.escape(version)}</small></p></main></html>\n"
        )
    for asset in assets:
        (out / asset).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / asset, out / asset)
    print(f"{out}/index.html: {len(pages)} pages, {len(assets)} other files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
