/** On paper: dark on light, no controls, no half rows, nothing opened that was closed. */
export const printStyles = `
@media print {
  :root, :root[data-theme] { color-scheme: light; --paper: #fff; --raised: #fff; }
  body { font-size: 10.5pt; }
  .top, .skip, .filters, .more, .jumps, #theme, .aside:not([open]), .differences th:last-child { display: none; }
  main, footer { max-width: none; padding: 0; }
  section { margin: 1.6rem 0; }
  .scroll { overflow: visible; }
  tr, .card, figure, .cases > li, .callout { break-inside: avoid; }
  .case[open] { break-inside: auto; }
  h2, h3, h4, caption { break-after: avoid; }
  thead { display: table-header-group; }
  .badge, .callout, .bar, rect, .mark, .point { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  a { color: inherit; }
}
`;
