export const tableStyles = `
.scroll { position: relative; overflow-x: auto; margin: 1.5rem 0; border-radius: 4px; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: left; color: var(--muted); padding-bottom: .6rem; }
th, td { padding: .42rem .75rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: baseline; }
thead th { font-weight: 600; border-bottom-color: var(--muted); vertical-align: bottom; overflow-wrap: break-word; max-width: 14rem; min-width: 6rem; }
tbody th { font-weight: 450; }
tbody th small { color: var(--muted); white-space: nowrap; }
th:first-child, td:first-child { padding-left: 0; }
.number { text-align: right; white-space: nowrap; }
thead .number { white-space: normal; }
.strong { font-weight: 600; }
.group th { padding-top: 1.5rem; font-weight: 650; color: var(--ink); border-bottom-color: var(--muted); }
.group th span { position: sticky; left: 0; }
.range { display: block; color: var(--muted); font-size: .78rem; font-weight: 400; white-space: nowrap; }
.best .value { font-weight: 700; }
.star { margin-right: .3rem; font-size: .8rem; }
.change { margin-right: .3rem; font-size: .7rem; }
.change.better { color: var(--good); } .change.worse { color: var(--bad); }
.with-bar { display: inline-flex; align-items: center; gap: .6rem; }
.changed { font-weight: 600; }
table.metrics { min-width: min-content; }
.metrics td, .metrics thead .number { width: 9rem; }
.metrics td:last-child, .metrics thead th:last-child { width: 6rem; min-width: 4rem; padding-right: 0; }
.metrics.alone, .tags.alone { max-width: 44rem; }
.reason { display: block; max-width: min(58vw, 44rem); }
.pair { border-top: 1px solid var(--line); padding: 1rem 0; }
.pair > summary h3 { display: inline; }
.differences { margin-top: 1.75rem; }
.differences th, .differences td { padding-top: .3rem; padding-bottom: .3rem; vertical-align: middle; }
.differences { table-layout: fixed; }
.differences thead th { overflow-wrap: normal; white-space: nowrap; min-width: 0; width: 9.5rem; }
.differences thead th:first-child { width: 12.5rem; } .differences thead .drawn { width: 18rem; }
.differences .drawn { padding: 0; }
.differences thead th:nth-child(3), .differences thead th:nth-child(5) { width: 6.5rem; }
.differences .unproven .strong { font-weight: 450; }
.differences + .hint { margin-top: .8rem; }
.effect { white-space: nowrap; }
.jumps { white-space: nowrap; }
.jump { min-height: 0; padding: .1rem .45rem; font-size: .8rem; margin-right: .3rem; }
@media (max-width: 62rem) {
  .differences, .differences tbody { display: block; }
  .differences caption { display: block; }
  .differences thead { display: block; }
  .differences thead tr { display: block; }
  .differences thead th { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .differences thead th.drawn { position: static; display: block; width: auto; max-width: none; height: auto; clip-path: none; border: 0; }
  .differences tbody tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .1rem .75rem; padding: .7rem 0; border-bottom: 1px solid var(--line); }
  .differences tbody th, .differences tbody td { border: 0; padding: 0; }
  .differences tbody th { font-weight: 600; white-space: normal; overflow-wrap: anywhere; }
  .differences .drawn { grid-column: 1 / -1; width: auto; }
  .differences tbody th { grid-area: 1 / 1; } .differences td.strong { grid-area: 1 / 2; }
  .differences td.drawn { grid-area: 2 / 1 / 3 / 3; }
  .differences td:nth-child(4) { text-align: left; }
  .differences td:nth-child(5)::before { content: "p "; color: var(--muted); }
  .jumps { text-align: right; }
}
@media (max-width: 40rem) {
  .metrics th:first-child:not([colspan]), .tags th:first-child { position: sticky; left: 0; background: var(--paper); max-width: 8.5rem; z-index: 1; }
  th, td { padding-left: .5rem; padding-right: .5rem; }
  tbody th small { white-space: normal; display: block; }
  .with-bar svg { display: none; }
  .metrics td, .metrics thead .number { width: auto; } thead th { min-width: 0; }
  .scroll caption { position: sticky; left: 0; max-width: calc(100vw - 2rem); } caption .key { white-space: normal; }
}
`;
