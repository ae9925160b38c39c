import { type Html, html } from './html.ts';

/** A landmark with a heading that links can reach. */
export function section(id: string, title: string, ...content: readonly (Html | null | false)[]): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title" tabindex="-1">${title}</h2>${content}</section>
`;
}

/** A wide table scrolls by itself, by keyboard too, and never the page. */
export function scrollable(label: string, table: Html): Html {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${table}</div>`;
}

/** A plot drawn for wide and for narrow screens, so that its letters never shrink. */
export function inBothWidths(draw: (width: 'wide' | 'narrow') => Html): Html {
  return html`<div class="wide-only">${draw('wide')}</div><div class="narrow-only">${draw('narrow')}</div>`;
}
