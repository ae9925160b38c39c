/** A title for comparing: its words in lower case, without accents and punctuation, one space apart. */
export function titleKey(title: string): string {
  return title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The parts of "Title > Heading > Heading", however they are separated. */
export function titleParts(reference: string): string[] {
  return reference
    .split(/\s[-–—]\s|[>›»|→]/u)
    .map(titleKey)
    .filter((part) => part !== '');
}

/** An address for comparing: decoded, without a trailing slash or the punctuation of the sentence around it. */
export function urlKey(url: string): string {
  return withoutTrailingSlashes(lowerCaseHost(decoded(trimmedUrl(url))));
}

/** The same page, whatever the place on it. */
export function pageKey(url: string): string {
  const key = urlKey(url);
  const fragment = key.indexOf('#');
  return fragment <= 0 ? key : withoutTrailingSlashes(key.slice(0, fragment));
}

function trimmedUrl(url: string): string {
  let start = 0;
  let end = url.length;
  while (start < end && /[\s<"'“”]/.test(url.charAt(start))) start += 1;
  while (end > start && /[\s>"'“”.,;:!?*]/.test(url.charAt(end - 1))) end -= 1;
  return url.slice(start, end);
}

/** A citation is printed with its parentheses and brackets encoded. */
function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

function lowerCaseHost(url: string): string {
  const scheme = url.indexOf('://');
  if (scheme < 0) return url;
  const path = url.slice(scheme + 3).search(/[/?#]/);
  const end = path < 0 ? url.length : scheme + 3 + path;
  return url.slice(0, end).toLowerCase() + url.slice(end);
}

function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (end > 1 && url.charAt(end - 1) === '/') end -= 1;
  return url.slice(0, end);
}
