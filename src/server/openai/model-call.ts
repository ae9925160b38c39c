import * as z from 'zod';
import type { ConversationMessage } from '../../domain/conversation-message.ts';
import { RequestFault, toRequestFault } from '../http/request-fault.ts';
import { fromWire, type ReadOptions } from './wire-message.ts';

/** A function that the caller offers to the model. */
interface OfferedTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: boolean;
}

/** What a request of either API asks for. */
export interface ModelCall {
  model: string;
  stream: boolean;
  /** Whether a stream of chat chunks ends with one that tells the usage. */
  includeUsage: boolean;
  /** What the system and developer messages say; blank if there are none. */
  instructions: string;
  /** The conversation without them, oldest first; at least one message. */
  messages: ConversationMessage[];
  tools: OfferedTool[];
  /** `auto`, `none`, `required` or the name of one of the tools; when absent, the model's default. */
  toolChoice: string | undefined;
  temperature: number | undefined;
  maxTokens: number | undefined;
  /** The request as it came, for what it gives back of itself and for fields of our own. */
  body: Readonly<Record<string, unknown>>;
}

/** The messages of a request, without what is meant for the model as a rule. Throws a fault that names the field. */
export function readMessages(
  messages: readonly unknown[],
  options: ReadOptions,
  param: 'messages' | 'input',
): Pick<ModelCall, 'instructions' | 'messages'> {
  const read = readWire(messages, options, param);
  const rules = read.filter(({ role }) => role === 'system').map(({ content }) => content ?? '');
  return {
    instructions: rules.filter((rule) => rule.trim() !== '').join('\n\n'),
    messages: read.filter(({ role }) => role !== 'system'),
  };
}

function readWire(messages: readonly unknown[], options: ReadOptions, param: string): ConversationMessage[] {
  try {
    return fromWire(messages, options);
  } catch (error) {
    const { status, message } = toRequestFault(error);
    // Items of an input are more than the messages that were made of them, and numbered otherwise.
    const said = param === 'input' ? message.replace(/^Message \d+/, 'An item') : message;
    throw new RequestFault(status, said, { code: 'invalid_value', param });
  }
}

/** Fields that both APIs share. Whatever else a request holds is left alone. */
export const sharedFields = {
  model: z.string().min(1).max(256),
  stream: z.boolean().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  /** Whose question it is: nothing is kept of it, and a response says it again. */
  user: z.string().max(256).nullish(),
};

export const functionFields = {
  name: z.string().regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, hyphens and underscores'),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
};
type FunctionFields = z.infer<z.ZodObject<typeof functionFields>>;

export function toOfferedTool({ name, description, parameters, strict }: FunctionFields): OfferedTool {
  return {
    name,
    description: description ?? '',
    parameters: parameters ?? { type: 'object', properties: {} },
    strict: strict ?? false,
  };
}

/** Throws a fault unless the choice fits the tools. */
export function checkToolChoice(choice: string | undefined, tools: readonly OfferedTool[]): void {
  if (choice === undefined || choice === 'none' || choice === 'auto') return;
  if (tools.length === 0) {
    throw new RequestFault(400, 'tool_choice needs tools.', { code: 'invalid_value', param: 'tool_choice' });
  }
  if (choice !== 'required' && !tools.some(({ name }) => name === choice)) {
    throw new RequestFault(400, `tool_choice names ${choice}, which is not among the tools.`, {
      code: 'invalid_value',
      param: 'tool_choice',
    });
  }
}

/** Throws a fault for a field whose use would be misunderstood if it were left out. */
export function refuse(
  body: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, string>>,
): void {
  for (const [field, why] of Object.entries(fields)) {
    const value = body[field];
    if (value === undefined || value === null || value === false) continue;
    throw new RequestFault(400, `${field} is not supported: ${why}`, {
      code: 'unsupported_parameter',
      param: field,
    });
  }
}
