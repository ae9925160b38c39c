import { pathOf } from '../../tape/match-key.ts';
import type { Tape } from '../../tape/open-tape.ts';
import type { Redactor } from '../../tape/redact/create-redactor.ts';
import { redactExchange } from '../../tape/redact/redact-exchange.ts';

/** What should keep a tape from being shared, a sentence each. What a secret is called is said, never the secret. */
export function findTapeProblems(tape: Tape, redactor: Redactor): string[] {
  const problems: string[] = [];
  if (!tape.complete) problems.push('It is incomplete: its recording was interrupted.');
  if (tape.edited) problems.push('It says that it was recorded, but it was changed since.');
  const { header, tail } = tape;
  for (const [place, value] of Object.entries({
    'its inputs': header.inputs,
    'its outputs': tail?.outputs ?? null,
  })) {
    if (JSON.stringify(redactor.value(value)) !== JSON.stringify(value)) {
      problems.push(`There is what looks like a key in ${place}: citeloop tape scrub removes it.`);
    }
  }
  for (const exchange of tape.exchanges()) {
    const { id, request } = exchange;
    if (sorted(redactExchange(exchange, redactor)) === sorted(exchange)) continue;
    problems.push(
      `There is what looks like a key in exchange ${id} (${request.method} ${redactor.text(pathOf(request.url))}): citeloop tape scrub removes it.`,
    );
  }
  return problems;
}

/** Redaction puts the fields in an order of its own. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
