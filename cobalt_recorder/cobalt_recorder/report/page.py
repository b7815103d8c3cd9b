"""The page around a report: one HTML file, for a desk and for a phone, light and dark."""

import re
from collections.abc import Sequence
from html import escape

from cobalt_recorder.plain_text import plain_text

_NUMBER = re.compile(r'-|-?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?( .{0,8})?')
_LONG = 30
_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #656d76; --line: #d8dee4; --card: #f6f8fa;
  --s0: #0969da; --s1: #d4670b; --s2: #1a7f37; --good: #1a7f37; --look: #9a6700; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #9198a1; --line: #30363d;
  --card: #161b22; --s0: #58a6ff; --s1: #f0883e; --s2: #3fb950; --good: #3fb950; --look: #d29922; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 90rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.soft, .none { color: var(--soft); } .facts { overflow-wrap: anywhere; }
.badge { display: inline-block; padding: .1rem .7rem; border-radius: 1rem; color: var(--paper); font-weight: 600; }
.badge.ACCEPT { background: var(--good); } .badge.REVIEW { background: var(--look); }
.badge.REJECT { background: var(--bad); } .badge.UNKNOWN { background: var(--soft); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; }
figure { margin: 0; padding: .75rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
figcaption { font-weight: 600; } svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--soft); font-size: 13px; } .grid { stroke: var(--line); }
path { fill: none; stroke-width: 2; } path.s0 { stroke: var(--s0); } path.s1 { stroke: var(--s1); }
path.s2 { stroke: var(--s2); }
circle.s0 { fill: var(--s0); } circle.s1 { fill: var(--s1); } circle.s2 { fill: var(--s2); }
circle.ACCEPT { fill: var(--good); } circle.REVIEW { fill: var(--look); } circle.REJECT { fill: var(--bad); }
circle.UNKNOWN { fill: var(--soft); }
.key { margin-right: 1rem; font-size: .85rem; } .key::before { content: ''; display: inline-block; width: 1rem;
  height: .2rem; margin-right: .4rem; vertical-align: middle; background: currentColor; }
.key.s0 { color: var(--s0); } .key.s1 { color: var(--s1); } .key.s2 { color: var(--s2); }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: .5rem; }
.pictures img { width: 100%; border-radius: .3rem; display: block; } .pictures div { font-size: .8rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; } .number { text-align: right; white-space: nowrap; }
tr.failed td { color: var(--bad); } tr.title td { font-weight: 600; padding-top: 1rem; }
td.long { min-width: 14rem; }
@media (max-width: 40rem) { svg text { font-size: 20px; } th, td { padding: .25rem .4rem; } }
"""


def text(content: object) -> str:
    """Returns any text as HTML that shows it, on one line."""
    return escape(plain_text(str(content)))


def badge(verdict: str) -> str:
    """Returns a verdict as a coloured mark."""
    return f'<span class="badge {text(verdict)}">{text(verdict)}</span>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, classes: Sequence[str] = ()) -> str:
    """Returns a table.

    Args:
        head: Titles of the columns.
        rows: Cells as HTML; numbers, with a unit or without, stand to the right, and their titles do.
        classes: Of the rows; empty for none.
    """
    kinds = [_kind(rows[0][place]) if rows else '' for place in range(len(head))]
    titles = ''.join(f'<th{kind}>{text(title)}</th>' for title, kind in zip(head, kinds, strict=True))
    body = ''.join(
        f'<tr class="{kind}">' + ''.join(f'<td{_kind(cell)}>{cell}</td>' for cell in row) + '</tr>'
        for row, kind in zip(rows, classes or [''] * len(rows), strict=True)
    )
    return f'<div class="wide"><table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>'


def _kind(cell: str) -> str:
    if _NUMBER.fullmatch(cell):
        return ' class="number"'
    return ' class="long"' if len(cell) > _LONG else ''


def page(title: str, *parts: str) -> str:
    """Returns the whole file."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{text(title)}</title><style>{_STYLE}</style></head><body>{"".join(parts)}</body></html>\n'
    )
