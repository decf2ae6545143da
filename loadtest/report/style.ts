/** The report's style sheet: light and dark by the reader's system, one column on a phone. */
export const STYLE = `
:root { color-scheme: light dark; --bg: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de;
  --panel: #f6f8fa; --good: #116329; --bad: #b3141d; --c1: #0550ae; --c2: #b5480f; --c3: #1a7f37;
  --c4: #8250df; --c5: #9a6700; --c6: #bf3989; --c7: #57606a; }
@media (prefers-color-scheme: dark) { :root { --bg: #0d1117; --ink: #e6edf3; --soft: #9da7b1;
  --line: #30363d; --panel: #161b22; --good: #56d364; --bad: #ff7b72; --c1: #79c0ff; --c2: #ffa657;
  --c3: #7ee787; --c4: #d2a8ff; --c5: #e3b341; --c6: #ff9bce; --c7: #9da7b1; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1040px; padding: 16px; background: var(--bg); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 36px 0 8px; }
p { margin: 8px 0; }
.soft, figcaption, caption { color: var(--soft); }
.verdict { display: inline-block; padding: 2px 12px; border-radius: 999px; border: 2px solid;
  font-weight: 600; font-size: 1rem; vertical-align: middle; }
.good { color: var(--good); }
.bad { color: var(--bad); }
.problems { border: 2px solid var(--bad); border-radius: 8px; padding: 8px 16px; margin: 16px 0; }
.problems h2 { margin: 0; color: var(--bad); }
.problems li { overflow-wrap: anywhere; }
.facts { display: flex; flex-wrap: wrap; gap: 12px; margin: 16px 0; padding: 0; list-style: none; }
.facts li { flex: 1 1 130px; background: var(--panel); border: 1px solid var(--line);
  border-radius: 8px; padding: 8px 12px; color: var(--soft); font-size: .9rem; }
.facts b { display: block; font-size: 1.35rem; color: var(--ink); font-variant-numeric: tabular-nums; }
figure { margin: 8px 0 20px; }
figcaption { margin-bottom: 2px; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font: 14px system-ui, sans-serif; fill: var(--ink); }
svg .tick, svg .axis, svg .event { fill: var(--soft); font-size: 13px; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .line { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
svg .bar { fill: var(--c1); }
svg .mark { stroke: var(--c2); stroke-width: 1.5; }
svg text.mark { stroke: none; fill: var(--c2); font-weight: 600; }
svg .box { fill: var(--panel); stroke: var(--line); stroke-width: 1.5; }
svg .stage { font-weight: 600; }
svg .arrow { fill: none; stroke: var(--soft); stroke-width: 1.5; }
.c1 { stroke: var(--c1); } .c2 { stroke: var(--c2); } .c3 { stroke: var(--c3); }
.c4 { stroke: var(--c4); }
.key { white-space: nowrap; margin-left: 12px; font-size: .9rem; }
.key i { display: inline-block; width: 18px; height: 3px; margin-right: 5px; vertical-align: middle; }
.key .c1 { background: var(--c1); } .key .c2 { background: var(--c2); }
.key .c3 { background: var(--c3); } .key .c4 { background: var(--c4); }
.f1 { fill: var(--c1); } .f2 { fill: var(--c2); } .f3 { fill: var(--c3); } .f4 { fill: var(--c4); }
.f5 { fill: var(--c5); } .f6 { fill: var(--c6); } .f7 { fill: var(--c7); }
.key .f1 { background: var(--c1); } .key .f2 { background: var(--c2); } .key .f3 { background: var(--c3); }
.key .f4 { background: var(--c4); } .key .f5 { background: var(--c5); } .key .f6 { background: var(--c6); }
.key .f7 { background: var(--c7); }
svg .area { opacity: .25; }
svg .band { fill: var(--bad); opacity: .14; }
h3 { font-size: 1.05rem; margin: 24px 0 4px; }
.panels figure { margin: 0 0 2px; }
pre { margin: 4px 0 12px; white-space: pre-wrap; }
.charts { display: grid; gap: 4px 28px; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); }
.down { display: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: 4px 0; }
th, td { text-align: left; padding: 4px 14px 4px 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; }
td.n, th.n { text-align: right; white-space: nowrap; }
code, .path { font-family: ui-monospace, SFMono-Regular, Menlo, monospace; font-size: .85rem;
  overflow-wrap: anywhere; }
a { color: var(--c1); }
summary { cursor: pointer; padding: 6px 0; }
.ledgers { display: flex; flex-wrap: wrap; gap: 8px 40px; }
@media (max-width: 640px) {
  body { padding: 12px; }
  .across { display: none; }
  .down { display: block; max-width: 280px; margin: 0 auto; }
}
`;
