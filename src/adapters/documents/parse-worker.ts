import { parentPort, workerData } from 'node:worker_threads';
import type { RawDocument } from '../../domain/document.ts';
import { toFaultMessage } from '../../faults/fault-message.ts';
import type { ParseAnswer } from './parse-apart.ts';
import { createDocumentParser } from './parse-document.ts';

/** A thread that reads one document, and can be ended meanwhile. */
const answer = await createDocumentParser()(workerData as RawDocument).then(
  (parsed): ParseAnswer => ({ parsed }),
  (error: unknown): ParseAnswer => ({ fault: toFaultMessage(error) }),
);
parentPort?.postMessage(answer);
