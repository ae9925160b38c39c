import { connectToParent } from '../../async/worker-channel.ts';
import type { RawDocument } from '../../domain/document.ts';
import { createDocumentParser } from './parse-document.ts';

const parse = createDocumentParser();
connectToParent({ handle: (document: RawDocument) => parse(document) });
