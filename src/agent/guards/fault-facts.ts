import { causesOf, fieldOf, networkCodeOf } from '../../faults/network-fault.ts';
import { retryAfterOf } from '../../faults/retry-after.ts';

/** What an error of the `openai` client, of the SDK or of the network says about itself, in one place. */
export interface FaultFacts {
  /** The class, as far as it can be told: the client's errors are all named "Error". */
  names: string[];
  /** HTTP status, also of an error that arrived inside a stream. */
  status: number | undefined;
  /** The service's own words for the fault: its code, type and parameter. */
  words: string;
  /** What the service said. */
  said: string;
  /** Of the network or of TLS, such as ECONNREFUSED. */
  networkCode: string | undefined;
  /** Seconds. */
  retryAfter: number | undefined;
}

export function factsOf(error: unknown): FaultFacts {
  const chain = causesOf(error);
  const body = fieldOf(error, 'error');
  const words = ['code', 'type', 'param'].map((key) => fieldOf(error, key) ?? fieldOf(body, key));
  const said =
    stringOf(fieldOf(body, 'message')) ??
    stringOf(body) ??
    stringOf(fieldOf(error, 'message')) ??
    stringOf(error);
  return {
    names: chain.flatMap(namesOf),
    status: numberOf(fieldOf(error, 'status')) ?? numberOf(fieldOf(body, 'status')),
    words: words.filter((word) => word !== undefined && word !== null).join(' '),
    said: (said ?? '').replace(/^\d{3} (?=\S)/, ''),
    networkCode: networkCodeOf(error),
    retryAfter: retryAfterOf(fieldOf(error, 'headers'), fieldOf(body, 'retryAfter'), said ?? ''),
  };
}

/** A bundler that meets two classes of one name adds a number to one of them. */
function namesOf(value: unknown): string[] {
  return [fieldOf(value, 'name'), fieldOf(fieldOf(value, 'constructor'), 'name')]
    .filter((name) => typeof name === 'string')
    .map((name) => name.replace(/\$\d+$/, ''));
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
