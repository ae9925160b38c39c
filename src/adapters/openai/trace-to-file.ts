import { appendFileSync } from 'node:fs';
import { AppError, messageOf } from '../../domain/app-error.ts';

/**
 * Sends the SDK's traces to a file, a line of JSON for each trace that begins and each span that ends, and nowhere
 * else. The SDK keeps its processors for the whole process, so this is for programs of our own, not for the library.
 */
export async function traceToFile(path: string): Promise<void> {
  const write = (line: object) => appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  try {
    appendFileSync(path, '', { mode: 0o600 });
  } catch (error) {
    throw new AppError('configuration_error', `Traces cannot be written to ${path} (${messageOf(error)}).`, {
      hint: 'Name another file with --trace-file.',
    });
  }
  const { setTraceProcessors } = await import('@openai/agents-core');
  setTraceProcessors([
    {
      onTraceStart: async (trace) => write({ kind: 'trace', ...trace.toJSON() }),
      onTraceEnd: async () => {},
      onSpanStart: async () => {},
      onSpanEnd: async (span) => write({ kind: 'span', ...span.toJSON() }),
      shutdown: async () => {},
      forceFlush: async () => {},
    },
  ]);
}
