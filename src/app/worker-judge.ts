import type { Worker } from 'node:worker_threads';
import { connectToWorker, startWorker, type WorkerChannel } from '../async/worker-channel.ts';
import type { AnswerJudge, ClaimSupport, PassageCandidate } from '../judge/answer-judge.ts';
import type { JudgedPassage } from '../judge/facts/evidence.ts';
import type { EncodedText, TokenEncoder } from '../ports/token-encoder.ts';

/** The data that the worker starts with. The encoder itself stays in the main thread. */
export type JudgeWorkerData = Pick<TokenEncoder, 'id' | 'dimensions'>;

/** A call of one method of the judge. */
export type JudgeRequest =
  | { method: 'encode'; passages: readonly JudgedPassage[] }
  | { method: 'checkSupport'; claim: string; passages: readonly JudgedPassage[] }
  | { method: 'ratePassages'; question: string; candidates: readonly PassageCandidate[] };

/** A support whose evidence names its passage by index, since a passage is copied between threads. */
export interface SerializedSupport extends Omit<ClaimSupport, 'evidence'> {
  evidence: { start: number; end: number; passageIndex: number } | null;
}

/** A small young generation frees the short-lived vectors of texts sooner. */
const YOUNG_GENERATION_MB = 12;

export interface WorkerJudge extends AnswerJudge {
  /** Fails the calls that are not finished. */
  close(): Promise<void>;
}

/**
 * A judge in a worker thread, so that judging one turn does not delay others. The worker sends texts back to be encoded
 * here. If it ends early, its calls fail and the next call starts another worker.
 */
export function startWorkerJudge(encoder: TokenEncoder): WorkerJudge {
  let running: { worker: Worker; channel: WorkerChannel<JudgeRequest, unknown> } | undefined = start();

  function start() {
    const { id, dimensions } = encoder;
    const worker = startWorker(import.meta.url, 'judge-worker', {
      workerData: { id, dimensions } satisfies JudgeWorkerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    worker.unref();
    worker.on('exit', () => {
      running = undefined;
    });
    const channel = connectToWorker<JudgeRequest, unknown, string>(worker, {
      handle: encodeText,
      transfer: ({ states }: EncodedText) => [states.buffer as ArrayBuffer],
    });
    return { worker, channel };
  }

  async function encodeText(text: string): Promise<EncodedText> {
    const [encoded] = await encoder.encodeTokens([text]);
    if (encoded === undefined) throw new Error('the encoder returned no result');
    return encoded;
  }

  /** A call takes little time, so it is not interrupted; an aborted one throws when it ends. */
  async function call<T>(request: JudgeRequest, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    running ??= start();
    const response = await running.channel.request(request);
    signal?.throwIfAborted();
    return response as T;
  }

  return {
    async encode(passages, signal) {
      await call({ method: 'encode', passages }, signal);
    },
    async checkSupport(claim, passages, signal) {
      const support = await call<SerializedSupport>({ method: 'checkSupport', claim, passages }, signal);
      const { evidence } = support;
      const passage = passages[evidence?.passageIndex ?? -1];
      if (evidence === null || passage === undefined) return { ...support, evidence: null };
      return { ...support, evidence: { passage, start: evidence.start, end: evidence.end } };
    },
    ratePassages: (question, candidates, signal) =>
      call({ method: 'ratePassages', question, candidates }, signal),
    async close() {
      await running?.worker.terminate();
    },
  };
}
