/**
 * How long an error lasts. `moment`: a retry may succeed. `slow`: it may, after a long wait. `lasting`: it fails until
 * something is changed.
 */
type Duration = 'moment' | 'slow' | 'lasting';

/** A predicate follows the name of a service. */
const NETWORK_ERRORS: ReadonlyArray<[codes: RegExp, predicate: string, duration: Duration]> = [
  [/^ECONNREFUSED$/, 'refused the connection', 'moment'],
  [/^(ENOTFOUND|EAI_NONAME)$/, 'cannot be found: there is no host of that name', 'lasting'],
  [/^EAI_AGAIN$/, 'cannot be found: the name server did not answer', 'moment'],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|UND_ERR_ABORTED)$/,
    'closed the connection too early',
    'moment',
  ],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/, 'cannot be reached', 'moment'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'took too long to answer', 'moment'],
  [/TIMEOUT/, 'took too long to answer', 'slow'],
  [/CERT|SIGNATURE|TLS|SSL|EPROTO/, 'could not be trusted: its TLS certificate or protocol fails', 'lasting'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'sent headers that are too large', 'lasting'],
  [/^HPE_/, 'does not speak HTTP', 'lasting'],
  [/^Z_|^ERR__ERROR_FORMAT|BROTLI/, 'sent compressed content that is damaged', 'lasting'],
];

/** The hint for a TLS certificate that is not trusted; undefined for other codes. */
export function certificateHint(code: string | undefined): string | undefined {
  if (code === undefined || !/CERT|SIGNATURE/.test(code)) return undefined;
  return /EXPIRED|NOT_YET_VALID|ALTNAME/.test(code)
    ? 'Renew the certificate of the server, or call the server by the name in it. For a private authority, set NODE_EXTRA_CA_CERTS to its certificate file.'
    : 'For a private certificate authority, set NODE_EXTRA_CA_CERTS to its certificate file.';
}

const NETWORK_CODE = /^(E[A-Z_]+|UND_ERR_\w+|ERR_\w+|HPE_\w+|Z_\w+|\w*(CERT|SIGNATURE|TLS|SSL)\w*)$/;

/** What a network error code means; undefined if it is unknown. */
export function classifyNetworkCode(code: string | undefined) {
  const found = code === undefined ? undefined : NETWORK_ERRORS.find(([codes]) => codes.test(code));
  return found && { predicate: found[1], duration: found[2] };
}

/** The code of the network, TLS or the HTTP client, anywhere in the chain of causes. */
export function findNetworkCode(error: unknown): string | undefined {
  return errorCauses(error)
    .map((each) => getField(each, 'code'))
    .find((code) => typeof code === 'string' && NETWORK_CODE.test(code)) as string | undefined;
}

/** The error and its causes, outermost first; bounded, because causes may form a cycle. */
export function errorCauses(error: unknown): unknown[] {
  const chain = [error];
  for (let each = error; chain.length < 8; chain.push(each)) {
    each = each instanceof AggregateError ? (each.errors[0] as unknown) : getField(each, 'cause');
    if (each === undefined || each === null) break;
  }
  return chain;
}

/** A field of an unknown value; undefined unless it is an object or a function. */
export function getField(value: unknown, key: string): unknown {
  const hasFields = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return hasFields ? (value as Record<string, unknown>)[key] : undefined;
}
