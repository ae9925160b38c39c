import { Worker } from 'node:worker_threads';
import { createPending } from '../async/pending.ts';
import { type FaultMessage, fromFaultMessage, toFaultMessage } from '../faults/fault-message.ts';
import type { FoundPassage, Judge, Support } from '../judge/create-judge.ts';
import type { JudgedPassage, Unit } from '../judge/unit.ts';
import type { EncodedText, TokenEncoder } from '../ports/token-encoder.ts';

/** What the thread is started with: the encoder itself stays where it is. */
export type ThreadEncoder = Pick<TokenEncoder, 'id' | 'dimensions'>;

/** What is asked of the judge: each of its questions with what it is about. */
export type Asked =
  | { of: 'read'; passages: readonly JudgedPassage[] }
  | { of: 'support'; claim: string; passages: readonly JudgedPassage[] }
  | { of: 'answers'; question: string; units: readonly Unit[] }
  | { of: 'passages'; question: string; found: readonly FoundPassage[] };

/** A copy of a passage is no answer to which one it was: its number is. */
export interface ToldSupport extends Omit<Support, 'evidence'> {
  evidence: { start: number; end: number; at: number } | null;
}

export type ToThread =
  | { id: number; asked: Asked }
  | { encodedId: number; encoded: EncodedText }
  | { encodedId: number; fault: FaultMessage };
export type FromThread =
  | { id: number; answer: unknown }
  | { id: number; fault: FaultMessage }
  | { encodeId: number; text: string };

/** Texts that were read are large and soon forgotten: where the young have much room, as many again lie about dead. */
const YOUNG_MB = 12;

export interface ApartJudge extends Judge {
  /** What was not answered yet fails. */
  close(): Promise<void>;
}

/**
 * The judge in a thread of its own, for who answers many at a time: nobody waits for a turn of another to be judged. The
 * thread reads with the encoder that is here. If it ends early, what it was asked fails, and the next who asks has another.
 */
export function startJudgeThread(encoder: TokenEncoder): ApartJudge {
  const pending = createPending<unknown>();
  let worker: Worker | undefined = start();

  function start(): Worker {
    const { id, dimensions } = encoder;
    const started = new Worker(workerFile(), {
      workerData: { id, dimensions },
      // What the program was started with need not suit a file: `--input-type`, say.
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    started.unref();
    started.on('message', (message: FromThread) => {
      if ('encodeId' in message) void encode(message, started);
      else if ('fault' in message) pending.reject(message.id, fromFaultMessage(message.fault));
      else pending.resolve(message.id, message.answer);
    });
    started.on('error', pending.rejectAll);
    started.on('exit', () => {
      worker = undefined;
      pending.rejectAll(new Error('the thread of the judge ended early'));
    });
    return started;
  }

  async function encode(
    { encodeId: encodedId, text }: { encodeId: number; text: string },
    asking: Worker,
  ): Promise<void> {
    try {
      const [encoded] = await encoder.encodeTokens([text]);
      if (encoded === undefined) throw new Error('the encoder gave nothing back');
      // The vectors of the tokens are large: they are handed over, not copied.
      const handedOver = [encoded.states.buffer as ArrayBuffer];
      asking.postMessage({ encodedId, encoded } satisfies ToThread, handedOver);
    } catch (error) {
      asking.postMessage({ encodedId, fault: toFaultMessage(error) } satisfies ToThread);
    }
  }

  /** A judgement takes little: who has gone does not wait for the end of one, and it is not broken off. */
  async function ask(asked: Asked, signal: AbortSignal | undefined): Promise<unknown> {
    signal?.throwIfAborted();
    worker ??= start();
    const { id, answer } = pending.add();
    worker.postMessage({ id, asked } satisfies ToThread);
    const told = await answer;
    signal?.throwIfAborted();
    return told;
  }

  return {
    async read(passages, signal) {
      await ask({ of: 'read', passages }, signal);
    },
    async support(claim, passages, signal) {
      const told = (await ask({ of: 'support', claim, passages }, signal)) as ToldSupport;
      const passage = passages[told.evidence?.at ?? -1];
      const { evidence } = told;
      return {
        ...told,
        evidence: evidence && passage ? { passage, start: evidence.start, end: evidence.end } : null,
      };
    },
    async answers(question, units, signal) {
      return (await ask({ of: 'answers', question, units }, signal)) as number[];
    },
    async passages(question, found, signal) {
      return (await ask({ of: 'passages', question, found }, signal)) as number[];
    },
    async close() {
      await worker?.terminate();
    },
  };
}

/** Beside this file, as a source or as a part of the bundle. */
function workerFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? './judge-worker.ts' : './judge-worker.js',
    import.meta.url,
  );
}
