import { workerData } from 'node:worker_threads';
import { connectToParent } from '../async/worker-channel.ts';
import { createJudge } from '../judge/answer-judge.ts';
import type { EncodedText } from '../ports/token-encoder.ts';
import type { JudgeRequest, JudgeWorkerData, SerializedSupport } from './worker-judge.ts';

// Runs as a worker: judges, and sends texts to the main thread to be encoded.
const parent = connectToParent<JudgeRequest, string, EncodedText>({ handle: callJudge });
const judge = createJudge({
  ...(workerData as JudgeWorkerData),
  encodeTokens: (texts) => Promise.all(texts.map((text) => parent.request(text))),
});

function callJudge(request: JudgeRequest): Promise<unknown> {
  switch (request.method) {
    case 'encode':
      return judge.encode(request.passages);
    case 'checkSupport':
      return serializeSupport(request);
    case 'ratePassages':
      return judge.ratePassages(request.question, request.candidates);
  }
}

async function serializeSupport({
  claim,
  passages,
}: Extract<JudgeRequest, { method: 'checkSupport' }>): Promise<SerializedSupport> {
  const { evidence, ...support } = await judge.checkSupport(claim, passages);
  if (evidence === null) return { ...support, evidence };
  const { passage, start, end } = evidence;
  return { ...support, evidence: { start, end, passageIndex: passages.indexOf(passage) } };
}
