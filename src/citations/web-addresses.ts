const WEB_ADDRESS = /(?:https?|ftps?|file):\/\/|www\./iy;
const BEGINS_ADDRESS = 'hfwHFW';
const ENDS_ADDRESS = /[\s<>"`[\]{}|\\【】。，、；：？！（）“”]/u;

/** The end of the web address that starts at a position, or -1. */
export function findAddressEnd(text: string, start: number, limit: number): number {
  // Called for every character of an answer; most cannot start an address.
  if (!BEGINS_ADDRESS.includes(text.charAt(start))) return -1;
  WEB_ADDRESS.lastIndex = start;
  const scheme = WEB_ADDRESS.exec(text)?.[0];
  if (scheme === undefined) return -1;
  if (scheme.toLowerCase() === 'www.' && start > 0 && /[\p{L}\p{N}_.]/u.test(text.charAt(start - 1)))
    return -1;
  const host = start + scheme.length;
  // An IPv6 address such as `[2001:db8::1]`.
  let end = host + (/^\[[\da-f:.]+\]/i.exec(text.slice(host, host + 50))?.[0].length ?? 0);
  let open = 0;
  while (end < limit && !ENDS_ADDRESS.test(text.charAt(end))) {
    if (text.charAt(end) === '(') open += 1;
    if (text.charAt(end) === ')') open -= 1;
    end += 1;
  }
  for (; end > host; end -= 1) {
    const last = text.charAt(end - 1);
    if (last === ')' && open < 0) open += 1;
    else if (!/[.,;:!?'*_~’]/.test(last)) break;
  }
  return end > host ? end : -1;
}

export function findAddresses(content: string): string[] {
  const addresses: string[] = [];
  for (let at = 0; at < content.length; at += 1) {
    const end = findAddressEnd(content, at, content.length);
    if (end < 0) continue;
    addresses.push(content.slice(at, end));
    at = end;
  }
  return addresses;
}

/** The address in the `(...)` of a Markdown link, or null if it is not a link. */
export function parseLinkTarget(content: string): string | null {
  const text = content.trim();
  if (text.startsWith('<')) {
    const end = text.indexOf('>');
    return end < 0 ? null : text.slice(1, end);
  }
  const space = text.search(/\s/);
  if (space < 0) return text;
  const title = text.slice(space).trim();
  return /^["'(]/.test(title) || looksLikeAddress(text) ? text.slice(0, space) : null;
}

export function looksLikeAddress(text: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]{1,30}:\/\/|www\.|\/|\.{1,2}\/|#|mailto:|javascript:|data:)/i.test(text.trim());
}

/** Addresses of the reader's machine are examples to open, not sources. */
export function isLoopbackAddress(url: string): boolean {
  return /^[a-z]+:\/\/(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\])(?::\d+)?(?:[/?#][^@]*)?$/i.test(
    url,
  );
}
