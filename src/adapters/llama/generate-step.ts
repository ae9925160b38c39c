import { parseJson } from '../openai/wire/json-object.ts';
import type { Sequence, Token } from './engine.ts';
import { createTextUntil } from './person-marker.ts';
import type { ChatRequest } from './read-chat-request.ts';
import type { RunningModel } from './shared-models.ts';
import { stepGrammar } from './step-grammar.ts';

/** Read at once; in between it is looked whether anybody still waits. */
const TOKENS_READ_AT_ONCE = 128;
/** Less than this is the form of every conversation, not what is said in it. */
const LEAST_IN_COMMON = 32;
/** What was written lately counts a little less, as in the engine's own chats: small models repeat themselves for ever. */
const REPEATING = { tokens: 64, penalty: 1.1 };
/** What the text of a token may depend on. */
const TOKENS_LOOKED_BACK = 8;
/** A character has no more bytes than this, and a token may be one of them. */
const MOST_BYTES = 4;

/** What a step came to: what was read and written, and why it ended. */
export interface StepEnd {
  promptTokens: number;
  /** Of these, what was still there from a request before. */
  keptTokens: number;
  writtenTokens: number;
  reason: 'stop' | 'length';
  /** Whole and valid by its schema, or not there. */
  call: { name: string; arguments: string } | null;
}

interface StepWatch {
  signal: AbortSignal | undefined;
  /** Told how many tokens of a prompt are read: before each piece of it, and at its end. */
  onRead(tokens: number, of: number): void;
}

/** A request that is longer than what the model can hold. */
export class WindowOverflow extends Error {
  constructor(window: number, tokens: number) {
    super(`The maximum context length is ${window} tokens, and the request has ${tokens}.`);
    this.name = 'WindowOverflow';
  }
}

/**
 * Has a model write one step: an answer, piece by piece as it comes, or a call, which is handed over at the end. Throws
 * `WindowOverflow`, and the reason of the signal.
 */
export async function* generateStep(
  running: RunningModel,
  request: ChatRequest,
  { signal, onRead }: StepWatch,
): AsyncGenerator<string, StepEnd, void> {
  const { engine, model, contextSize } = running;
  const tokens = promptTokens(running, request);
  const room = contextSize - tokens.length;
  if (room < 1) throw new WindowOverflow(contextSize, tokens.length);
  const grammar = await engine.llama.createGrammar({ grammar: stepGrammar(request.choice) });
  const state = new engine.package.LlamaGrammarEvaluationState({ model, grammar });
  const most = Math.min(request.maxTokens ?? room, room);
  const leave = await running.gate.enter(signal);
  try {
    const sequence = takeSequence(running.sequences, tokens);
    const kept = await readPrompt(sequence, tokens, { signal, onRead });
    const text = createTokenText(model.detokenize.bind(model), tokens);
    const lately: Token[] = [];
    const options = {
      temperature: request.temperature,
      seed: request.seed,
      grammarEvaluationState: state,
      yieldEogToken: true,
      repeatPenalty: {
        punishTokens: () => lately.slice(-REPEATING.tokens),
        penalty: REPEATING.penalty,
      },
    };
    const end = { promptTokens: tokens.length, keptTokens: kept, writtenTokens: 0 };
    const answer = createTextUntil(running.personMarker);
    let written = '';
    let reason: StepEnd['reason'] = 'length';
    for await (const token of sequence.evaluate(tokens.slice(-1), options)) {
      signal?.throwIfAborted();
      end.writtenTokens += 1;
      // Whatever a template puts between messages ends one.
      if (model.isEogToken(token) || model.isSpecialToken(token)) {
        reason = 'stop';
        break;
      }
      lately.push(token);
      const piece = text.push(token);
      const added = written === '' ? piece.trimStart() : piece;
      written += added;
      const call = added.endsWith('}') ? callIn(written) : null;
      if (call !== null) return { ...end, reason: 'stop', call };
      if (!isCall(written)) {
        const { shown, ended } = answer.push(added);
        if (shown !== '') yield shown;
        if (ended) return { ...end, reason: 'stop', call: null };
      }
      if (end.writtenTokens >= most) break;
    }
    const rest = answer.rest();
    if (rest !== '') yield rest;
    return { ...end, reason, call: callIn(written) };
  } finally {
    leave();
  }
}

function promptTokens({ wrapper, model }: RunningModel, { history }: ChatRequest): Token[] {
  const chatHistory = [...history, { type: 'model' as const, response: [] }];
  return wrapper.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer);
}

/**
 * The sequence that has read most of this already; if none has, the one that was used least lately, so that a question
 * of its own in between does not cost a conversation what was read of it.
 */
function takeSequence(sequences: Sequence[], tokens: readonly Token[]): Sequence {
  const shared = sequences.map((sequence) => commonLength(sequence.contextTokens, tokens));
  const most = Math.max(...shared);
  const [taken] = sequences.splice(most < LEAST_IN_COMMON ? 0 : shared.indexOf(most), 1);
  sequences.push(taken as Sequence);
  return taken as Sequence;
}

function commonLength(read: readonly Token[], wanted: readonly Token[]): number {
  const end = read.findIndex((token, index) => token !== wanted[index]);
  return end < 0 ? Math.min(read.length, wanted.length) : end;
}

/** Reads all of a prompt but its last token, which writing begins with. Returns how much of it was read before. */
async function readPrompt(
  sequence: Sequence,
  tokens: readonly Token[],
  { signal, onRead }: StepWatch,
): Promise<number> {
  const prompt = tokens.slice(0, -1);
  await sequence.adaptStateToTokens(prompt, false);
  const kept = sequence.nextTokenIndex;
  for (let at = kept; at < prompt.length; at += TOKENS_READ_AT_ONCE) {
    signal?.throwIfAborted();
    onRead(at, prompt.length);
    await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(at, at + TOKENS_READ_AT_ONCE));
  }
  onRead(prompt.length, prompt.length);
  return kept;
}

/** The text of tokens as they come; characters that are written in several tokens come whole. */
function createTokenText(
  detokenize: (tokens: readonly Token[], special: boolean, before: readonly Token[]) => string,
  prompt: readonly Token[],
) {
  let before = prompt.slice(-TOKENS_LOOKED_BACK);
  let waiting: Token[] = [];
  return {
    push(token: Token): string {
      waiting.push(token);
      const text = detokenize(waiting, false, before);
      if (text.endsWith('\uFFFD') && waiting.length < MOST_BYTES) return '';
      before = [...before, ...waiting].slice(-TOKENS_LOOKED_BACK);
      waiting = [];
      return text;
    },
  };
}

/** No answer begins like this: the grammar sees to it. */
function isCall(written: string): boolean {
  return written.startsWith('{');
}

function callIn(written: string): StepEnd['call'] {
  const call = isCall(written) ? parseJson(written) : undefined;
  if (call === undefined) return null;
  const { name, arguments: given } = call as { name: string; arguments: object };
  return { name, arguments: JSON.stringify(given) };
}
