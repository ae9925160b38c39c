/** Two accents, blue for good and orange for not: told apart by every kind of colour vision, and never alone. */
export const baseStyles = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#fbfbfa, #15171a);
  --raised: light-dark(#ffffff, #1c1f23);
  --ink: light-dark(#1b1e22, #e6e8ea);
  --muted: light-dark(#59616b, #a3abb5);
  --line: light-dark(#e0e3e7, #32373d);
  --good: light-dark(#0b5a99, #82bdf2);
  --good-soft: light-dark(#e7f0f8, #17293a);
  --bad: light-dark(#a34100, #f4a56c);
  --bad-soft: light-dark(#fbeee4, #38251a);
  --radius: 10px;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: break-word;
}
main { max-width: 72rem; margin: 0 auto; padding: 0 1.5rem; }
section { margin: 4.5rem 0; }
h1, h2, h3, h4, h5, p, ul, ol, dl, dd, figure, blockquote { margin: 0; }
h1 { font-size: clamp(1.9rem, 1.3rem + 2.4vw, 2.9rem); line-height: 1.12; letter-spacing: -.02em; font-weight: 680; overflow-wrap: anywhere; }
h2 { font-size: 1.45rem; line-height: 1.25; letter-spacing: -.01em; margin-bottom: 1rem; overflow-wrap: anywhere; }
h2:focus:not(:focus-visible) { outline: none; }
h3 { font-size: 1.05rem; line-height: 1.35; overflow-wrap: anywhere; }
h4 { font-size: .95rem; } h5 { font-size: .85rem; color: var(--muted); font-weight: 600; }
small { font-size: .8rem; }
code { font: .86em ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
a { color: var(--good); text-underline-offset: .15em; }
:focus-visible { outline: 3px solid var(--good); outline-offset: 2px; border-radius: 4px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -999rem; top: .5rem; background: var(--raised); padding: .5rem 1rem; z-index: 3; }
.skip:focus { left: 1rem; }
.top {
  position: sticky; top: 0; z-index: 2; display: flex; align-items: center; gap: 1.25rem;
  padding: .6rem 1.5rem; background: var(--paper); border-bottom: 1px solid var(--line);
}
.brand { font-weight: 700; letter-spacing: -.01em; }
.top nav { display: flex; gap: .25rem 1.1rem; flex: 1; overflow-x: auto; scrollbar-width: none; padding: 4px; }
.top nav a { color: var(--muted); text-decoration: none; white-space: nowrap; font-size: .9rem; padding: .2rem 0; }
.top nav a:hover { color: var(--ink); text-decoration: underline; }
button, select, input {
  font: inherit; font-size: .9rem; color: var(--ink); background: var(--raised);
  border: 1px solid light-dark(#9aa2ac, #626b76); border-radius: 7px; padding: .42rem .7rem; min-height: 2.4rem;
}
button { cursor: pointer; } button:hover { border-color: var(--good); color: var(--good); }
.kicker { color: var(--muted); margin-bottom: .6rem; overflow-wrap: anywhere; }
.verdict { margin-top: 3.5rem; max-width: 52rem; }
.verdict h1 { margin-bottom: 1.2rem; }
.lead { font-size: clamp(1.15rem, 1.05rem + .5vw, 1.4rem); line-height: 1.45; text-wrap: pretty; overflow-wrap: anywhere; }
.findings { margin-top: 1.1rem; padding-left: 1.2rem; max-width: 52rem; overflow-wrap: anywhere; }
.findings li + li { margin-top: .45rem; }
.callout { margin-top: 1.5rem; padding: .9rem 1.1rem; border-left: 4px solid var(--bad); background: var(--bad-soft); border-radius: 0 var(--radius) var(--radius) 0; overflow-wrap: anywhere; }
.callout ul { padding-left: 1.2rem; margin-top: .3rem; }
.hint { color: var(--muted); font-size: .92rem; max-width: 52rem; margin-bottom: 1rem; }
.key { white-space: nowrap; margin-right: .6rem; }
.muted { color: var(--muted); }
.none { color: var(--muted); font-style: italic; }
.badge { display: inline-block; font-size: .8rem; line-height: 1.35; padding: .1rem .5rem; border-radius: 99px; border: 1px solid transparent; white-space: nowrap; }
.outcomes .badge { white-space: normal; overflow-wrap: anywhere; }
.badge.good { background: var(--good-soft); color: var(--good); }
.badge.bad { background: var(--bad-soft); color: var(--bad); border-color: currentColor; }
.badge.plain { border-color: var(--line); color: var(--muted); }
details.aside { margin-top: 1.25rem; }
summary { cursor: pointer; }
.aside > summary { color: var(--good); font-size: .92rem; width: fit-content; }
.meanings, .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: .9rem 2rem; margin-top: 1rem; font-size: .92rem; }
.meanings dt { font-weight: 600; } .meanings dd { color: var(--muted); }
.meanings code { font-weight: 400; color: var(--muted); }
.facts { margin-bottom: 2rem; } .facts dt { color: var(--muted); font-size: .85rem; } .facts dd { overflow-wrap: anywhere; }
.cards { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: 1rem; margin-bottom: 2.5rem; }
.card { background: var(--raised); border: 1px solid var(--line); border-radius: var(--radius); padding: 1.1rem 1.2rem; max-width: 24rem; min-width: 0; }
.big { font-size: 2.3rem; line-height: 1.15; font-weight: 650; letter-spacing: -.02em; margin-top: .5rem; }
.big .unit { font-size: 1.1rem; font-weight: 500; color: var(--muted); }
.under { color: var(--muted); font-size: .85rem; }
.under.range { white-space: normal; }
.card dl { margin-top: .8rem; padding-top: .7rem; border-top: 1px solid var(--line); font-size: .9rem; }
.card dl div { display: flex; justify-content: space-between; gap: 1rem; } .card dt { color: var(--muted); min-width: 0; overflow-wrap: anywhere; } .card dd { white-space: nowrap; }
footer { max-width: 72rem; margin: 5rem auto 0; padding: 1.5rem; color: var(--muted); font-size: .85rem; border-top: 1px solid var(--line); }
@media (max-width: 40rem) {
  main { padding: 0 1rem; } .top { padding: .5rem 1rem; gap: .8rem; } section { margin: 3.2rem 0; } .verdict { margin-top: 2rem; }
  footer { padding: 1.2rem 1rem; }
  .cards { grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .7rem; } .card { padding: .8rem .9rem; } .big { font-size: 1.8rem; }
}
`;
