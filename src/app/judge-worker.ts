import { parentPort, workerData } from 'node:worker_threads';
import { createPending } from '../async/pending.ts';
import { fromFaultMessage, toFaultMessage } from '../faults/fault-message.ts';
import { createJudge } from '../judge/create-judge.ts';
import type { JudgedPassage } from '../judge/unit.ts';
import type { EncodedText } from '../ports/token-encoder.ts';
import type { Asked, FromThread, ThreadEncoder, ToldSupport, ToThread } from './judge-thread.ts';

/** A thread that judges, and has texts encoded by who started it. */
const port = parentPort;
if (port === null) throw new Error('this file is run as a worker');
const tell = (message: FromThread) => port.postMessage(message);
const encodings = createPending<EncodedText>();
const judge = createJudge({
  ...(workerData as ThreadEncoder),
  encodeTokens: (texts) => Promise.all(texts.map(encode)),
});

port.on('message', (message: ToThread) => {
  if ('asked' in message) void answer(message);
  else if ('fault' in message) encodings.reject(message.encodedId, fromFaultMessage(message.fault));
  else encodings.resolve(message.encodedId, message.encoded);
});

function encode(text: string): Promise<EncodedText> {
  const { id, answer: encoded } = encodings.add();
  tell({ encodeId: id, text });
  return encoded;
}

async function answer({ id, asked }: { id: number; asked: Asked }): Promise<void> {
  try {
    tell({ id, answer: await judged(asked) });
  } catch (error) {
    tell({ id, fault: toFaultMessage(error) });
  }
}

function judged(asked: Asked): Promise<unknown> {
  switch (asked.of) {
    case 'read':
      return judge.read(asked.passages);
    case 'support':
      return support(asked.claim, asked.passages);
    case 'answers':
      return judge.answers(asked.question, asked.units);
    case 'passages':
      return judge.passages(asked.question, asked.found);
  }
}

async function support(claim: string, passages: readonly JudgedPassage[]): Promise<ToldSupport> {
  const { evidence, ...found } = await judge.support(claim, passages);
  const at = evidence === null ? -1 : passages.indexOf(evidence.passage);
  return { ...found, evidence: evidence && { start: evidence.start, end: evidence.end, at } };
}
