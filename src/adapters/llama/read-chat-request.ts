import { splitContextPrompt } from '../../domain/prompts.ts';
import { readToolResponse } from '../../domain/retrieval-tool-response.ts';
import { firstText, isObject, type JsonObject, objectsOf, parseJson } from '../openai/wire/json-object.ts';
import type { OfferedTool, StepChoice } from './step-grammar.ts';

/** A conversation as the engine's templates take it. */
export type ChatItem =
  | { type: 'system'; text: string }
  | { type: 'user'; text: string }
  | { type: 'model'; response: string[] };

/** What a request in OpenAI's chat format asks of a model that knows neither tools nor refs by itself. */
export interface ChatRequest {
  model: string;
  history: ChatItem[];
  choice: StepChoice;
  maxTokens: number | undefined;
  temperature: number;
  seed: number;
  streamed: boolean;
}

/** One for everybody: the same question is answered in the same words. */
const SEED = 1;

export function readChatRequest(body: JsonObject): ChatRequest {
  const messages = objectsOf(body.messages);
  const choice = { ...toolsOffered(body), refs: refsIn(messages) };
  const { max_tokens: maxTokens, max_completion_tokens: most = maxTokens } = body;
  return {
    model: String(body.model ?? ''),
    history: historyOf(messages, choice.tools),
    choice,
    maxTokens: typeof most === 'number' ? most : undefined,
    temperature: typeof body.temperature === 'number' ? body.temperature : 0,
    seed: typeof body.seed === 'number' ? body.seed : SEED,
    streamed: body.stream === true,
  };
}

function toolsOffered({ tools, tool_choice: asked }: JsonObject): Pick<StepChoice, 'tools' | 'mayAnswer'> {
  const all = objectsOf(tools).flatMap((tool): OfferedTool[] => {
    const { name, description, parameters } = isObject(tool.function) ? tool.function : tool;
    return typeof name === 'string' ? [{ name, description: firstText(description) ?? '', parameters }] : [];
  });
  if (asked === 'none') return { tools: [], mayAnswer: true };
  const named = isObject(asked) && isObject(asked.function) ? asked.function.name : undefined;
  if (named === undefined) return { tools: all, mayAnswer: asked !== 'required' };
  return { tools: all.filter(({ name }) => name === named), mayAnswer: false };
}

/** What was retrieved so far, as far as this conversation shows: by searches, in front of a question, or cited before. */
function refsIn(messages: readonly JsonObject[]): string[] {
  const refs = messages.flatMap((message) => {
    const text = textOf(message);
    if (message.role === 'tool') return readToolResponse(text)?.results.map(({ ref }) => ref) ?? [];
    // Answers of before hold no marks but those of sources that there are.
    if (message.role === 'assistant') return Array.from(text.matchAll(/\[(\d+)\]/g), ([, ref = '']) => ref);
    const passages = message.role === 'user' ? (splitContextPrompt(text)?.passages ?? '') : '';
    return Array.from(passages.matchAll(/^<source ref="([^"]*)"/gm), ([, ref = '']) => ref);
  });
  return [...new Set(refs)].filter((ref) => /^\w+$/.test(ref));
}

function historyOf(messages: readonly JsonObject[], tools: readonly OfferedTool[]): ChatItem[] {
  const items = messages.flatMap((message): ChatItem[] => {
    const text = textOf(message);
    switch (message.role) {
      case 'system':
      case 'developer':
        return [{ type: 'system', text }];
      case 'assistant':
        return [{ type: 'model', response: [text, ...callsOf(message)].filter((part) => part !== '') }];
      case 'tool':
        return [{ type: 'user', text: resultText(text) }];
      default:
        return [{ type: 'user', text }];
    }
  });
  if (tools.length === 0) return items;
  const described = toolsText(tools);
  const [first, ...others] = items;
  return first?.type === 'system'
    ? [{ type: 'system', text: `${first.text}\n\n${described}` }, ...others]
    : [{ type: 'system', text: described }, ...items];
}

function callsOf({ tool_calls: calls }: JsonObject): string[] {
  return objectsOf(calls).map(({ function: called }) => {
    const { name, arguments: given } = isObject(called) ? called : {};
    return callText(String(name), parseJson(String(given)) ?? {});
  });
}

/** A call in the form that it is generated in. */
function callText(name: string, given: unknown): string {
  return spaced({ name, arguments: given });
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${spaced(each)}`);
  return `{${fields.join(', ')}}`;
}

/** In few words: small models have small windows. */
function toolsText(tools: readonly OfferedTool[]): string {
  const described = tools.map(({ name, description, parameters }) => {
    const properties = isObject(parameters) && isObject(parameters.properties) ? parameters.properties : {};
    const fields = Object.entries(properties).map(([field, schema]) => `${field}: ${kindOf(schema)}`);
    return `${name}(${fields.join(', ')}) - ${description}`;
  });
  const [example = ''] = tools.map(({ name }) => name);
  return [
    `To use a tool, reply with nothing but JSON such as {"name": ${JSON.stringify(example)}, "arguments": {...}}. The tools:`,
    ...described,
  ].join('\n');
}

function kindOf(schema: unknown): string {
  if (!isObject(schema)) return 'any';
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join('|');
  return [schema.type].flat().join('|') || 'any';
}

/** What a tool gave back, as blocks that no document can close or forge. Without scores and addresses, which take room. */
function resultText(text: string): string {
  const search = readToolResponse(text);
  if (search === null) return text;
  const blocks = search.results.map(({ ref, title, headings, text: passage }) => {
    const path = [title, ...headings].map((part) => part.replace(/[<>"\s]+/g, ' ').trim()).join(' > ');
    return `<source ref="${ref}" title="${path}">\n${passage.replace(/<(?=\/?source\b)/gi, '&lt;')}\n</source>`;
  });
  const [first] = search.results;
  const reminder =
    first && `Answer from these sources and cite them in square brackets, such as [${first.ref}].`;
  return [...blocks, search.message, reminder].filter((part) => part).join('\n\n');
}

function textOf({ content }: JsonObject): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}
