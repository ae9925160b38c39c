export const caseStyles = `
.filters { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 11.5rem), 1fr)); gap: .8rem; align-items: end; padding: 1rem; background: var(--raised); border: 1px solid var(--line); border-radius: var(--radius); }
.filters div { min-width: 0; }
.filters label { display: block; font-size: .82rem; color: var(--muted); }
.filters .search { grid-column: span 2; }
.filters input, .filters select { display: block; width: 100%; margin-top: .2rem; }
.filters input::placeholder { color: var(--muted); opacity: 1; }
.count { margin: 1rem 0 .5rem; color: var(--muted); }
.cases { list-style: none; padding: 0; border-top: 1px solid var(--line); }
.cases > li { border-bottom: 1px solid var(--line); }
.case > summary { display: grid; grid-template-columns: 1.2rem minmax(0, 1fr) auto; gap: .15rem .5rem; padding: .7rem .25rem; list-style: none; align-items: baseline; }
.case > summary::-webkit-details-marker { display: none; }
.case > summary::before { content: "▸"; color: var(--muted); }
.case[open] > summary::before { content: "▾"; }
.case > summary:hover { background: var(--raised); }
.asks { grid-column: 2; overflow-wrap: anywhere; }
.case[open] .asks { font-weight: 600; }
.outcomes { grid-column: 3; display: flex; flex-wrap: wrap; gap: .3rem; justify-content: flex-end; }
.labels { grid-column: 2 / -1; display: flex; align-items: baseline; flex-wrap: wrap; gap: .2rem .8rem; font-size: .8rem; color: var(--muted); }
.inside { padding: .5rem 0 2rem 1.7rem; }
.inside h4 { margin: 1.2rem 0 .4rem; overflow-wrap: anywhere; } .inside h5 { margin: 1rem 0 .35rem; }
.history { list-style: none; padding: 0; display: grid; gap: .5rem; max-width: 52rem; }
.history li { padding: .5rem .8rem; border-radius: var(--radius); border: 1px solid var(--line); white-space: pre-wrap; overflow-wrap: anywhere; font-size: .92rem; }
.history .told { background: var(--raised); margin-left: 1.5rem; }
.history b { display: block; font-size: .78rem; color: var(--muted); font-weight: 600; }
.expected { display: flex; flex-wrap: wrap; gap: .5rem 2rem; font-size: .9rem; }
.expected dt, .run-facts dt { color: var(--muted); font-size: .8rem; } .expected dd { overflow-wrap: anywhere; }
.arms-of-case { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem; margin-top: 1.2rem; align-items: start; }
.arm { margin: 0; padding: .3rem 1.1rem 1.1rem; background: var(--raised); border: 1px solid var(--line); border-radius: var(--radius); min-width: 0; }
.arm h4 .badge { margin-left: .3rem; font-weight: 500; }
.answer, .run > p { margin-bottom: .4rem; }
.answer { white-space: pre-wrap; overflow-wrap: anywhere; }
.answer.failed { color: var(--bad); }
.uncited { text-decoration: underline dotted var(--muted); text-underline-offset: .2em; }
.doubted { text-decoration: underline wavy var(--bad) 1px; text-underline-offset: .2em; }
.note, .apart em { font-size: .78rem; color: var(--bad); font-style: italic; }
.uncited + .note { color: var(--muted); }
.apart { font-size: .88rem; padding-left: 1.1rem; margin-top: .4rem; }
.run-facts { display: flex; flex-wrap: wrap; gap: .4rem 1.3rem; margin-top: .9rem; font-size: .88rem; }
.citations, .retrievals, .hits { list-style: none; padding: 0; font-size: .88rem; display: grid; gap: .7rem; }
.citations > li, .hits > li { min-width: 0; overflow-wrap: anywhere; }
.hits { margin: .6rem 0 .2rem .2rem; padding-left: .8rem; border-left: 2px solid var(--line); }
.marker { font-weight: 600; } .source { font-weight: 550; } .headings { color: var(--muted); }
.score { color: var(--muted); margin: 0 .4rem 0 0; }
.citations .score { margin: 0 0 0 .4rem; }
.url { display: block; font-size: .78rem; color: var(--muted); overflow-wrap: anywhere; }
blockquote { margin-top: .2rem; color: var(--muted); font-size: .84rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.query { font-weight: 550; overflow-wrap: anywhere; }
.repeat { margin-top: 1rem; padding-top: .7rem; border-top: 1px solid var(--line); }
.more { margin-top: 1rem; }
@media (max-width: 40rem) {
  .filters { grid-template-columns: 1fr 1fr; padding: .8rem; } .filters button { grid-column: 1 / -1; }
  .outcomes { grid-column: 2 / -1; justify-content: flex-start; }
  .inside { padding-left: 0; } .arm { padding: .2rem .8rem .9rem; }
}
`;
