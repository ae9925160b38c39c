/**
 * `moment`: the same request may succeed at once. `slow`: it may, but has cost its time already. `lasting`: it will
 * not before somebody changes something.
 */
type Duration = 'moment' | 'slow' | 'lasting';

/** What kept a request from arriving, or its answer from coming back. */
interface NetworkFault {
  /** Behind the name of a service: "refused the connection". */
  predicate: string;
  /** By itself: "the connection was refused". */
  reason: string;
  duration: Duration;
}

const FAULTS: ReadonlyArray<[codes: RegExp, predicate: string, reason: string, duration: Duration]> = [
  [/^ECONNREFUSED$/, 'refused the connection', 'the connection was refused', 'moment'],
  [
    /^(ENOTFOUND|EAI_NONAME)$/,
    'cannot be found: there is no host of that name',
    'there is no host of that name',
    'lasting',
  ],
  [
    /^EAI_AGAIN$/,
    'cannot be found: the name server did not answer',
    'the name server did not answer',
    'moment',
  ],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|UND_ERR_ABORTED)$/,
    'closed the connection too early',
    'the connection was closed too early',
    'moment',
  ],
  [/^EHOSTUNREACH$/, 'cannot be reached', 'the host cannot be reached', 'moment'],
  [/^(ENETUNREACH|ENETDOWN)$/, 'cannot be reached', 'the network cannot be reached', 'moment'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'took too long to answer', 'connecting took too long', 'moment'],
  [/^UND_ERR_HEADERS_TIMEOUT$/, 'took too long to answer', 'the server took too long to answer', 'slow'],
  [
    /^UND_ERR_BODY_TIMEOUT$/,
    'took too long to answer',
    'the server stopped in the middle of its answer',
    'slow',
  ],
  [/TIMEOUT/, 'took too long to answer', 'the answer took too long', 'slow'],
  [
    /CERT|SIGNATURE|TLS|SSL|EPROTO/,
    'could not be trusted: its TLS certificate or protocol fails',
    'its TLS certificate or protocol fails',
    'lasting',
  ],
  [
    /^UND_ERR_HEADERS_OVERFLOW$/,
    'sent headers that are too large',
    'the headers of the answer are too large',
    'lasting',
  ],
  [/^HPE_/, 'does not speak HTTP', 'the answer is not HTTP', 'lasting'],
  [
    /^Z_|^ERR__ERROR_FORMAT|BROTLI/,
    'sent compressed content that is damaged',
    'its compressed content is damaged',
    'lasting',
  ],
];

/** Where the network or the server is well and only its certificate is not believed. */
export function certificateHint(code: string | undefined): string | undefined {
  if (code === undefined || !/CERT|SIGNATURE/.test(code)) return undefined;
  return /EXPIRED|NOT_YET_VALID|ALTNAME/.test(code)
    ? 'Have the certificate of the server renewed or made out to the name by which it is called. Of one of your own, set NODE_EXTRA_CA_CERTS to the file of the authority.'
    : 'If the certificate is one of your own, set NODE_EXTRA_CA_CERTS to the file of the authority that signed it.';
}

const NETWORK_CODE = /^(E[A-Z_]+|UND_ERR_\w+|ERR_\w+|HPE_\w+|Z_\w+|\w*(CERT|SIGNATURE|TLS|SSL)\w*)$/;

/** What the code of a fault means; undefined if nothing is known of it. */
export function networkFault(code: string | undefined): NetworkFault | undefined {
  const found = code === undefined ? undefined : FAULTS.find(([codes]) => codes.test(code));
  return found && { predicate: found[1], reason: found[2], duration: found[3] };
}

/** The code by which the network, TLS or the HTTP client names a fault, wherever in its causes it stands. */
export function networkCodeOf(error: unknown): string | undefined {
  return causesOf(error)
    .map((each) => fieldOf(each, 'code'))
    .find((code) => typeof code === 'string' && NETWORK_CODE.test(code)) as string | undefined;
}

/** The error and what caused it, outermost first; bounded, since causes may form a circle. */
export function causesOf(error: unknown): unknown[] {
  const chain = [error];
  for (let each = error; chain.length < 8; chain.push(each)) {
    each = each instanceof AggregateError ? (each.errors[0] as unknown) : fieldOf(each, 'cause');
    if (each === undefined || each === null) break;
  }
  return chain;
}

/** A field of anything that was thrown. */
export function fieldOf(value: unknown, key: string): unknown {
  const holdsFields = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return holdsFields ? (value as Record<string, unknown>)[key] : undefined;
}
