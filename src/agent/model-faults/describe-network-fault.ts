import type { Description, Names } from './describe-fault.ts';

const REASONS: ReadonlyArray<[RegExp, string, boolean]> = [
  [/^ECONNREFUSED$/, 'refused the connection', true],
  [/^(ENOTFOUND|EAI_NONAME)$/, 'cannot be found: there is no host of that name', false],
  [/^EAI_AGAIN$/, 'cannot be found: the name server did not answer', true],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|UND_ERR_ABORTED)$/,
    'closed the connection too early',
    true,
  ],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/, 'cannot be reached', true],
  [/TIMEOUT|^ETIMEDOUT$/, 'took too long to answer', true],
  [/CERT|SIGNATURE|TLS|SSL|EPROTO/, 'could not be trusted: its TLS certificate or protocol fails', false],
  [/^HPE_/, 'does not speak HTTP', false],
];

/** What kept the request from reaching the service, or its answer from reaching us. */
export function describeNetworkFault(code: string | undefined, { service }: Names): Description {
  const [, reason, recoverable] = REASONS.find(([pattern]) => pattern.test(code ?? '')) ?? [
    undefined,
    'could not be reached',
    true,
  ];
  return {
    kind: 'api_error',
    sentence: `${service} ${reason}${code === undefined ? '' : ` (${code})`}`,
    recoverable,
    hint: 'Check the base URL, that the service is running, and the network.',
  };
}
