import { answerValue } from '../same-answer.ts';
import type { TapeExchange, TapeJson } from '../tape-format.ts';

/** What a model came to, however its service spells it. */
export interface ModelAnswer {
  text: string;
  calls: { name: string; arguments: string }[];
  /** Which file it was written by, where a service says so; ours does. */
  weights?: string;
}

type Fields = { [key: string]: TapeJson | undefined };

/** Null for what is no answer of a model: another service, or a failure. */
export function modelAnswer({ request, response }: TapeExchange): ModelAnswer | null {
  const { pathname } = new URL(request.url);
  const value = answerValue(response);
  if (response === undefined || response.status >= 400 || value === undefined) return null;
  const events = (Array.isArray(value) ? value : [value]).map(fieldsOf);
  if (pathname.endsWith('/chat/completions')) return chatAnswer(events);
  return pathname.endsWith('/responses') ? responsesAnswer(events) : null;
}

/** Of one completion, or of the pieces of one. */
function chatAnswer(events: readonly Fields[]): ModelAnswer {
  const answer: ModelAnswer = { text: '', calls: [] };
  for (const { choices, weights } of events) {
    if (typeof weights === 'string') answer.weights = weights;
    const choice = fieldsOf(listOf(choices)[0]);
    const piece = fieldsOf(choice.message ?? choice.delta);
    answer.text += stringOf(piece.content);
    for (const [place, each] of listOf(piece.tool_calls).entries()) {
      const { index, function: called } = fieldsOf(each);
      const { name, arguments: args } = fieldsOf(called);
      const at = typeof index === 'number' && index >= 0 && index < 1000 ? index : place;
      const call = answer.calls[at] ?? { name: '', arguments: '' };
      call.name += stringOf(name);
      call.arguments += stringOf(args);
      answer.calls[at] = call;
    }
  }
  return { ...answer, calls: answer.calls.filter((call) => call !== undefined) };
}

/** Of the whole response, which a stream tells at its end; or of its items, as far as they came. */
function responsesAnswer(events: readonly Fields[]): ModelAnswer {
  const whole = events.map((event) => (event.output === undefined ? fieldsOf(event.response) : event));
  const items = listOf(whole.findLast(({ output }) => listOf(output).length > 0)?.output);
  const done = events
    .filter(({ type }) => type === 'response.output_item.done')
    .map(({ item }) => item ?? null);
  const output = (items.length > 0 ? items : done).map(fieldsOf);
  return {
    text: output
      .flatMap(({ content }) => listOf(content).map((part) => stringOf(fieldsOf(part).text)))
      .join(''),
    calls: output
      .filter(({ type }) => type === 'function_call')
      .map(({ name, arguments: args }) => ({ name: stringOf(name), arguments: stringOf(args) })),
  };
}

function fieldsOf(value: TapeJson | undefined): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function listOf(value: TapeJson | undefined): TapeJson[] {
  return Array.isArray(value) ? value : [];
}

function stringOf(value: TapeJson | undefined): string {
  return typeof value === 'string' ? value : '';
}
