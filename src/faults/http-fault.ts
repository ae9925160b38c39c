import type { ErrorKind } from './app-error.ts';

/** What a status of 400 or above says, whoever sends it. */
interface HttpFault {
  /** As a service that was set up by the person means it. */
  kind: ErrorKind;
  /** Behind the name of a service: "did not accept the key". */
  predicate: string;
  /** By itself: "access denied"; blank where the number says as much. */
  reason: string;
  /** Whether the same request may succeed a while later. */
  transient: boolean;
}

const FAULTS: ReadonlyArray<[RegExp, HttpFault]> = [
  // 498 is Cohere's word for a key that is no longer valid.
  [/^(401|498)$/, lasting('auth_error', 'did not accept the key', 'access denied')],
  [/^403$/, lasting('auth_error', 'denied access', 'access denied')],
  [/^402$/, lasting('rate_limit', 'wants to be paid', 'payment required')],
  [/^(404|410)$/, lasting('configuration_error', 'has nothing at this address', 'not found')],
  [/^405$/, lasting('configuration_error', 'has nothing at this address', '')],
  [/^413$/, lasting('context_overflow', 'did not accept so long a request', '')],
  [/^429$/, transient('rate_limit', 'is receiving too many requests', 'too many requests')],
  [/^(503|529)$/, transient('api_error', 'is overloaded', 'a fault of the server')],
  [/^5/, transient('api_error', 'failed', 'a fault of the server')],
  [/^(408|409|425)$/, transient('api_error', 'failed', '')],
];

export function httpFault(status: number): HttpFault {
  const found = FAULTS.find(([statuses]) => statuses.test(String(status)));
  return found?.[1] ?? lasting('api_error', 'did not accept the request', '');
}

function lasting(kind: ErrorKind, predicate: string, reason: string): HttpFault {
  return { kind, predicate, reason, transient: false };
}

function transient(kind: ErrorKind, predicate: string, reason: string): HttpFault {
  return { kind, predicate, reason, transient: true };
}
