/** Closes the empty elements of XML, which HTML would leave open. */
export function closeEmptyElements(source: string): string {
  const voidElement = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;
  return source.replace(/<([a-z][\w:-]*)((?:\s[^<>]*)?)\/>/gi, (whole, tag: string, rest: string) =>
    voidElement.test(tag) ? whole : `<${tag}${rest}></${tag}>`,
  );
}

const TAG = /<(\/?)([a-z]\w*:[\w-]+)((?:"[^"]*"|'[^']*'|[^<>"'])*?)(\/?)>/gi;

/** Renames the elements of XML to those of HTML, given by name with prefix. Other tags are dropped, their content stays. */
export function xmlToHtml(
  xml: string,
  rename: (name: string, attributes: string) => string | undefined,
): string {
  const open: (string | undefined)[] = [];
  return xml.replace(TAG, (_, slash: string, name: string, attributes: string, isEmpty: string) => {
    if (slash !== '') return closing(open.pop());
    const opened = rename(name, attributes);
    if (isEmpty !== '') return `${opening(opened)}${closing(opened)}`;
    open.push(opened);
    return opening(opened);
  });
}

function opening(element: string | undefined): string {
  return element === undefined ? '' : `<${element}>`;
}

/** An element may have attributes: `a href="x"`. */
function closing(element: string | undefined): string {
  return element === undefined || element === 'br' ? '' : `</${element.split(' ', 1)[0]}>`;
}
