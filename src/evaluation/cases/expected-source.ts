/**
 * Whether an expected source names the document of this address. An expectation with `://` is a whole address:
 * equal but for a fragment, and for a slash at the end. Any other is the end of a path, by whole segments:
 * `ros2/nodes.md` names `book/ros2/nodes.md`, `nodes.md` does too, `odes.md` does not. Case counts.
 */
export function matchesSource(expected: string, url: string): boolean {
  if (expected.includes('://')) return wholeAddress(expected) === wholeAddress(url);
  const wanted = segmentsOf(expected);
  const path = segmentsOf(pathOf(url));
  return (
    wanted.length > 0 &&
    wanted.length <= path.length &&
    wanted.every((part, index) => part === path.at(index - wanted.length))
  );
}

/**
 * Looks documents up by what cases expect, without asking every document about every case. A file may be named by
 * directories above what was ingested, too.
 */
export function createSourceFinder<Document extends { url: string; uri: string }>(
  documents: readonly Document[],
): (expected: string) => readonly Document[] {
  const nameOf = (path: string) => segmentsOf(path).at(-1) ?? '';
  const byName = new Map<string, Set<Document>>();
  for (const document of documents) {
    for (const address of [document.url, document.uri]) {
      const name = nameOf(pathOf(address));
      byName.set(name, (byName.get(name) ?? new Set()).add(document));
    }
  }
  const known = new Map<string, readonly Document[]>();
  return (expected) => {
    const before = known.get(expected);
    if (before !== undefined) return before;
    const alike = byName.get(nameOf(expected.includes('://') ? pathOf(expected) : expected)) ?? [];
    const found = [...alike].filter(
      ({ url, uri }) => matchesSource(expected, url) || matchesSource(expected, uri),
    );
    known.set(expected, found);
    return found;
  };
}

function wholeAddress(url: string): string {
  return decoded(url.replace(/#.*$/s, '')).replace(/\/+$/, '');
}

function pathOf(url: string): string {
  return decoded(url.replace(/[?#].*$/s, '').replace(/^[a-z][\w+.-]*:\/\/[^/]*/i, ''));
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

export function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const SEGMENTS = 2;

/** How a case names a document: a file by the end of its path, the same on every machine; a page by its address. */
export function sourceSuffix(url: string): string {
  if (/^https?:/i.test(url)) return url;
  const segments = url
    .replace(/[?#].*$/s, '')
    .split('/')
    .slice(-SEGMENTS);
  try {
    const suffix = segments.map(decodeURIComponent).join('/');
    return matchesSource(suffix, url) ? suffix : url;
  } catch {
    return url;
  }
}
