import type { AgentResponse } from '../domain/agent-response.ts';
import type { RunEvent } from '../domain/run-event.ts';
import type { Advice, Gap } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import {
  adviceOf,
  type ErrorResponse,
  fromErrorResponse,
  toErrorResponse,
} from '../faults/error-response.ts';

/** Where advice is read: what a chat has a command for is not to be done by leaving it. */
interface AdviceReader {
  inChat?: boolean;
}

/** Settings that a command of the same name changes in a chat. */
const CHANGED_IN_CHAT = new Set(['model', 'policy', 'collection', 'filter']);

/** Advice as the command line gives it: with its own flags and commands in the gaps. */
export function onCommandLine(advice: Advice, reader: AdviceReader = {}): string {
  return advice
    .map((part, index) =>
      typeof part === 'string' ? part : filled(part, index === advice.length - 1, reader),
    )
    .join('');
}

/** What to do next. */
export function commandLineHint(error: AppError, reader: AdviceReader = {}): string {
  return onCommandLine(adviceOf(error), reader);
}

/** A failure as JSON for whoever runs the program. */
export function commandLineError(error: AppError): ErrorResponse {
  return toErrorResponse(
    new AppError(error.kind, error.message, { ...error, hint: commandLineHint(error), cause: error }),
  );
}

/** A response as it is printed. */
export function commandLineResponse(response: AgentResponse): AgentResponse {
  return response.error === null ? response : { ...response, error: reworded(response.error) };
}

/** An event as it is printed. */
export function commandLineEvent(event: RunEvent): RunEvent {
  switch (event.type) {
    case 'error':
      return { ...event, error: reworded(event.error) };
    case 'retrieval_finished':
      return event.error === null ? event : { ...event, error: reworded(event.error) };
    case 'turn_completed':
      return { ...event, turn: { ...event.turn, response: commandLineResponse(event.turn.response) } };
    default:
      return event;
  }
}

function reworded(error: ErrorResponse): ErrorResponse {
  return commandLineError(fromErrorResponse(error));
}

function filled(gap: Gap, isLast: boolean, { inChat = false }: AdviceReader): string {
  switch (gap.type) {
    case 'setting': {
      const given =
        inChat && CHANGED_IN_CHAT.has(gap.name)
          ? [`/${gap.name}`, ...(gap.value === null ? [] : [gap.value])].join(' ')
          : flag(gap.name, gap.value);
      return `${gap.plain === '' ? ' with ' : ''}${given}`;
    }
    case 'command': {
      const flags = Object.entries(gap.settings).map(([name, value]) => ` ${flag(name, value)}`);
      const line = `citeloop ${gap.words}${flags.join('')}`;
      return isLast ? ` with: ${line}` : ` with \`${line}\``;
    }
    case 'chat':
      return ` with /${gap.word}`;
    case 'help':
      return '; --help shows what is accepted';
  }
}

/** `maxSteps` is `--max-steps`. */
function flag(name: string, value: string | null): string {
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return value === null ? `--${kebab}` : `--${kebab} ${value}`;
}
