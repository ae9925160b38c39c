import type { ConversationMessage } from '../../domain/conversation-message.ts';

/** A function that the caller offers to the model. */
export interface OfferedTool {
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

/** Splits off what is meant for the model as a rule rather than as a part of the conversation. */
export function splitInstructions(
  messages: readonly ConversationMessage[],
): Pick<ModelCall, 'instructions' | 'messages'> {
  const rules = messages.filter(({ role }) => role === 'system').map(({ content }) => content ?? '');
  return {
    instructions: rules.filter((rule) => rule.trim() !== '').join('\n\n'),
    messages: messages.filter(({ role }) => role !== 'system'),
  };
}
