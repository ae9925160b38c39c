import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { listenForTest } from './listen-for-test.ts';
import { modelLocation } from './model-weights.ts';

export const HUB_COMMIT = 'a'.repeat(40);

export interface HubRequest {
  path: string;
  authorization: string | undefined;
  range: string | undefined;
}

interface HubOptions {
  /** By path. */
  files: Record<string, Uint8Array>;
  /** Needs this token. */
  gatedBy?: string;
  /** Replaces the answer to a file request; returns false to answer as usual. */
  intercept?: (path: string, response: ServerResponse, request: IncomingMessage) => boolean;
}

/** The files of the built-in model by their paths in its repository. */
export function builtInModelFiles(): Record<string, Uint8Array> {
  const paths = ['tokenizer.json', 'tokenizer_config.json', 'config.json', 'onnx/model_quantized.onnx'];
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(modelLocation().directory, path))]));
}

/** Starts a server for the running test that plays the Hugging Face hub with the repository `org/tiny`. */
export async function startModelHub({ files, gatedBy, intercept = () => false }: HubOptions) {
  const requests: HubRequest[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://hub').pathname);
    const { authorization, range } = request.headers;
    requests.push({ path, authorization, range });
    const fail = (status: number, code: string) => response.writeHead(status, { 'x-error-code': code }).end();
    const [, revision] = /^\/api\/models\/org\/tiny\/revision\/(.+)$/.exec(path) ?? [];
    const [, file = ''] = /^\/org\/tiny\/resolve\/a{40}\/(.+)$/.exec(path) ?? [];
    const bytes = files[file];
    if (revision !== undefined) {
      if (!['main', HUB_COMMIT].includes(revision)) return fail(404, 'RevisionNotFound');
      return response.end(JSON.stringify(describe(files)));
    }
    if (bytes === undefined) return fail(401, 'RepoNotFound');
    if (gatedBy !== undefined && authorization !== `Bearer ${gatedBy}`) return fail(401, 'GatedRepo');
    if (intercept(file, response, request)) return;
    const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': bytes.length - start });
    return response.end(bytes.subarray(start));
  });
  return { ...(await listenForTest(server)), requests };
}

function describe(files: Record<string, Uint8Array>) {
  const siblings = Object.entries(files).map(([rfilename, bytes]) => {
    const lfs = { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
    const blob = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    const isLarge = rfilename.endsWith('.onnx');
    return {
      rfilename,
      size: bytes.length,
      blobId: isLarge ? '0'.repeat(40) : blob,
      ...(isLarge && { lfs }),
    };
  });
  return { sha: HUB_COMMIT, siblings, cardData: { license: 'apache-2.0' } };
}
