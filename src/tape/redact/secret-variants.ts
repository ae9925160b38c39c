/** Shorter values stand in too many texts by chance; local servers take keys such as "none". */
export const SHORTEST_SECRET = 8;

const JSON_LEVELS = 4;

/** Every way in which a secret may be spelled inside a text: as it is, escaped in JSON, in URLs, in base64, in hex. */
export function secretVariants(secret: string): string[] {
  if (secret.length < SHORTEST_SECRET) return [];
  const bytes = Buffer.from(secret);
  const inUrl = encodeURIComponent(secret);
  const plain = [secret, inUrl, lowerHex(inUrl), encodeURIComponent(inUrl), inUrl.replaceAll('%20', '+')];
  // Characters that encodeURIComponent leaves alone and others escape.
  plain.push(inUrl.replace(/[!'()*~._-]/g, percent), lowerHex(inUrl.replace(/[!'()*]/g, percent)));
  plain.push(encodeURI(secret));
  const encoded = [bytes.toString('hex'), bytes.toString('hex').toUpperCase()];
  for (let shift = 0; shift < 3; shift += 1) {
    const base64 = base64Inside(bytes, shift);
    encoded.push(base64, base64.replaceAll('+', '-').replaceAll('/', '_'));
  }
  const variants = new Set([...plain.flatMap(escapedInJson), ...encoded.flatMap(escapedInJson)]);
  return [...variants].filter(({ length }) => length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length);
}

function escapedInJson(text: string): string[] {
  const levels = [text];
  for (let level = 0; level < JSON_LEVELS; level += 1) {
    levels.push(JSON.stringify(levels.at(-1)).slice(1, -1));
  }
  return [
    ...levels,
    text.replaceAll('/', '\\/'),
    asciiOnly(text),
    asciiOnly(JSON.stringify(text).slice(1, -1)),
  ];
}

/** What is the same in base64 whatever stands before and after: `shift` is where in a group of three it begins. */
function base64Inside(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const foreignAtStart = [0, 2, 3][shift] ?? 0;
  const foreignAtEnd = (bytes.length + shift) % 3 === 0 ? 0 : 1;
  return text.slice(foreignAtStart, text.length - foreignAtEnd);
}

function lowerHex(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function asciiOnly(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
