export const plotStyles = `
svg { display: block; }
.arm-name { display: inline-flex; gap: .35em; align-items: baseline; max-width: 100%; }
.arm-name span { min-width: 0; }
.inline-mark { flex: none; align-self: center; }
.plot { max-width: 100%; height: auto; overflow: hidden; }
.plot text { font-size: 12.5px; fill: var(--muted); font-variant-numeric: tabular-nums; }
.plot text.end { text-anchor: end; } .plot text.middle { text-anchor: middle; }
.plot text.title { fill: var(--ink); font-weight: 500; }
.plot text.name { fill: var(--ink); font-weight: 600; paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }
.plot path, .bar path { fill: none; }
.grid { stroke: var(--line); } .axis { stroke: var(--muted); } .zero { stroke: var(--muted); stroke-width: 1.5; }
.whisker { stroke: var(--good); stroke-width: 1.6; opacity: .75; }
.plot .mark, .inline-mark .mark { fill: var(--good); stroke: var(--paper); stroke-width: 1; }
.plot .mark.hollow, .inline-mark .mark.hollow { fill: var(--paper); stroke: var(--good); stroke-width: 2; }
.row-plot { width: 100%; }
.row-plot .whisker { opacity: 1; }
.row-plot.unproven .whisker { stroke: var(--muted); }
.row-plot.worse .whisker { stroke: var(--bad); }
.row-plot.better .point { fill: var(--good); } .row-plot.worse .point { fill: var(--bad); }
.row-plot.unproven .point { fill: var(--paper); stroke: var(--muted); stroke-width: 1.8; }
.row-plot text { font-size: 11.5px; }
.bar { width: 100%; height: auto; margin-top: .5rem; overflow: visible; }
.bar .track { stroke: var(--line); stroke-width: 4; stroke-linecap: round; }
.bar .span { stroke: var(--good); stroke-width: 4; opacity: .45; stroke-linecap: round; }
.bar .dot { fill: var(--good); }
rect.track { fill: var(--line); } rect.fill { fill: var(--good); }
.narrow-only { display: none; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 2.5rem; }
.calibration figcaption { margin-bottom: .75rem; } .calibration figcaption p { color: var(--muted); font-size: .92rem; }
.calibration .hint { margin: .5rem 0 0; }
.plot .line { stroke-width: 2; stroke-linejoin: round; }
.line.precision { stroke: var(--ink); stroke-dasharray: 6 4; }
.line.recall { stroke: var(--bad); stroke-dasharray: 2 3; }
.plot .line.f1 { stroke: var(--good); stroke-width: 3; }
.in-force { stroke: var(--ink); stroke-width: 1.5; } .at-best { stroke: var(--muted); stroke-width: 1.5; stroke-dasharray: 4 3; }
@media (max-width: 40rem) { .wide-only { display: none; } .narrow-only { display: block; } }
`;
