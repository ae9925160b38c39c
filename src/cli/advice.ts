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

interface AdviceOptions {
  /** Names slash commands instead of flags. */
  inChat?: boolean;
}

/** Settings with a slash command of the same name. */
const SLASH_SETTINGS = new Set(['model', 'policy', 'collection', 'filter']);

/** Advice with the flags and commands of the command line in its gaps. */
export function onCommandLine(advice: Advice, options: AdviceOptions = {}): string {
  return advice
    .map((part, index) =>
      typeof part === 'string' ? part : fillGap(part, index === advice.length - 1, options),
    )
    .join('');
}

export function commandLineHint(error: AppError, options: AdviceOptions = {}): string {
  return onCommandLine(adviceOf(error), options);
}

/** An error as JSON, with flags and commands in its hint. */
export function toCommandLineError(error: AppError): ErrorResponse {
  return toErrorResponse(
    new AppError(error.kind, error.message, { ...error, hint: commandLineHint(error), cause: error }),
  );
}

/** A response with flags and commands in the hint of its error. */
export function toCommandLineResponse(response: AgentResponse): AgentResponse {
  return response.error === null ? response : { ...response, error: rewordError(response.error) };
}

/** An event with flags and commands in the hints of its errors. */
export function toCommandLineEvent(event: RunEvent): RunEvent {
  switch (event.type) {
    case 'error':
      return { ...event, error: rewordError(event.error) };
    case 'retrieval_finished':
      return event.error === null ? event : { ...event, error: rewordError(event.error) };
    case 'turn_completed':
      return { ...event, turn: { ...event.turn, response: toCommandLineResponse(event.turn.response) } };
    default:
      return event;
  }
}

function rewordError(error: ErrorResponse): ErrorResponse {
  return toCommandLineError(fromErrorResponse(error));
}

function fillGap(gap: Gap, isLast: boolean, { inChat = false }: AdviceOptions): string {
  switch (gap.type) {
    case 'setting': {
      const given =
        inChat && SLASH_SETTINGS.has(gap.name)
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
      return '; see --help';
  }
}

/** `maxSteps` is `--max-steps`. */
function flag(name: string, value: string | null): string {
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return value === null ? `--${kebab}` : `--${kebab} ${value}`;
}
