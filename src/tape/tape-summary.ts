import type { Redactor } from '../faults/redactor.ts';
import { diffJson } from './diff-json.ts';
import { canonicalPath } from './match-key.ts';
import type { Tape } from './read-tape.ts';
import { redactExchange } from './redact/redact-exchange.ts';
import { runOutputsSchema } from './run-outputs.ts';
import type { TapeJson } from './tape-format.ts';

/** The `outputs` are null if they cannot be read. */
export function summarizeTape(tape: Tape) {
  const { path, header, complete, edited } = tape;
  return {
    path,
    header,
    complete,
    edited,
    outputs: runOutputsSchema.safeParse(tape.outputs ?? {}).data ?? null,
    calls: tape.exchanges.map((exchange) => {
      const { id, startedAtMs, durationMs, request, response, failure } = exchange;
      return {
        id,
        startedAtMs,
        durationMs,
        request: `${request.method} ${new URL(request.url).host}${canonicalPath(request.url)}`,
        outcome: [response?.status, failure?.code ?? failure?.name]
          .filter((part) => part !== undefined)
          .join(' '),
        chunks: response?.chunks?.length ?? null,
      };
    }),
  };
}

/** Reasons not to share a tape, a sentence each. They name where a secret is, never the secret. */
export function findTapeProblems(tape: Tape, redactor: Redactor): string[] {
  const problems: string[] = [];
  if (!tape.complete) problems.push('Incomplete: the recording was interrupted.');
  if (tape.edited) problems.push('Edited after it was recorded.');
  const noteSecret = (place: string) =>
    problems.push(`Possible secret in ${place}. Record the tape again with --redact.`);
  const { header, outputs = null } = tape;
  const isRedacted = (value: object | TapeJson, redacted: object | TapeJson) =>
    diffJson(value as TapeJson, redacted as TapeJson).length > 0;
  if (isRedacted(header.inputs, redactor.value(header.inputs))) noteSecret('the inputs');
  if (isRedacted(outputs, redactor.value(outputs))) noteSecret('the outputs');
  for (const exchange of tape.exchanges) {
    const { id, request } = exchange;
    if (isRedacted(exchange, redactExchange(exchange, redactor)))
      noteSecret(`exchange ${id} (${request.method} ${redactor.text(canonicalPath(request.url))})`);
  }
  return problems;
}
