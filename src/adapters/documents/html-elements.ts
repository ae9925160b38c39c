/** Elements whose content is no reading text: scripts, drawings, controls. */
export const DROPPED_ELEMENTS: ReadonlySet<string> = new Set(
  'script style noscript template svg iframe object embed canvas button input select textarea option'.split(
    ' ',
  ),
);

/** Elements that stand on lines of their own, so their text never runs into that of their neighbours. */
export const BLOCK_ELEMENTS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote br center dd details div dl dt fieldset figcaption figure footer ' +
    'h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul'
  ).split(' '),
);

/** Inline elements that only mark up text. */
const INLINE_ELEMENTS: ReadonlySet<string> = new Set(
  (
    'a abbr acronym audio b bdi bdo big cite code data del dfn em font i img ins kbd label map mark nobr ' +
    'output picture q rp rt ruby s samp small source span strike strong sub sup time track tt u var video wbr'
  ).split(' '),
);

export function isKnownElement(name: string): boolean {
  return DROPPED_ELEMENTS.has(name) || BLOCK_ELEMENTS.has(name) || INLINE_ELEMENTS.has(name);
}
