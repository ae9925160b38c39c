import { createHash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { mkdir, open, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { advice, settingName } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { findNetworkCode } from '../../faults/network-errors.ts';
import { type RetryOptions, retryOnError } from '../../faults/retry.ts';
import { createServiceError, describeHttpError, describeNetworkError } from '../../faults/service-errors.ts';
import { writeFileAtomic } from '../../files/write-file-atomic.ts';
import { parseJson } from '../../text/parse-json.ts';
import type { DownloadProgress } from './fetch-package.ts';
import { ONNX_SETTINGS_FILE, readOnnxDirectory } from './onnx-directory.ts';

/** Only the tokenizer is required. */
const DESCRIPTION_FILE =
  /^(tokenizer|tokenizer_config|config|modules|sentence_bert_config|config_sentence_transformers|1_Pooling\/config)\.json$/;
const EXTERNAL_DATA = /\.onnx[._]data(_\d+)?$/;
/** In order of preference: int8 weights are a quarter of the size and faster on a CPU. */
const PREFERRED_WEIGHTS = [
  'model_quantized.onnx',
  'model_int8.onnx',
  process.arch === 'arm64' ? 'model_qint8_arm64.onnx' : 'model_quint8_avx2.onnx',
  'model.onnx',
].flatMap((file) => [`onnx/${file}`, file]);
/** What models of these names need and their files mostly lack. */
const KNOWN_SETTINGS: [names: RegExp, settings: object][] = [
  [/\be5-(small|base|large)(-v2)?$/, { queryPrefix: 'query: ', passagePrefix: 'passage: ' }],
  [/\bnomic-embed-text-v1/, { queryPrefix: 'search_query: ', passagePrefix: 'search_document: ' }],
  [/\/bge-(small|base|large|m3)\b/, { pooling: 'cls' }],
];
/** Without `..`, absolute paths, and characters that are special on any system. */
const SAFE_PATH = /^(?:[\w+-][\w.+-]*\/)*[\w+-][\w.+-]*$/;

const MAX_FILE_BYTES = 8e9;
const MAX_REDIRECTS = 5;

const gitHashSchema = z.string().regex(/^[0-9a-f]{40}$/);
const repositorySchema = z.object({
  sha: gitHashSchema,
  siblings: z.array(
    z.object({
      rfilename: z.string(),
      size: z.int().min(0).max(MAX_FILE_BYTES),
      blobId: gitHashSchema,
      lfs: z.object({ sha256: z.string() }).nullish(),
    }),
  ),
  cardData: z.object({ license: z.string().optional().catch(undefined) }).nullish(),
});
type HubFile = z.infer<typeof repositorySchema>['siblings'][number];

type FetchOptions = Pick<RetryOptions, 'signal' | 'onRetry'> & { onProgress: DownloadProgress };

export interface EncoderSource {
  /** `org/name`, or the path of a directory. */
  source: string;
  /** The commit of a repository. */
  revision: string | null;
  license: string | null;
  weights: string;
  bytes: number;
  /** Downloads a repository, or the rest of it, and checks the hash of each file. Links to a directory. */
  fetchInto(directory: string, options: FetchOptions): Promise<void>;
}

interface SourceOptions {
  /** The Hugging Face hub or a mirror; the token is sent only to its origin. */
  hub: { endpoint: string; token: { reveal(): string } | undefined };
  /** The path of the weights in a repository, if not the preferred ones. */
  file: string | undefined;
  signal: AbortSignal;
}

/** `org/name`, `org/name@revision` or a directory. Throws `invalid_input` for anything else. */
export async function openEncoderSource(source: string, options: SourceOptions): Promise<EncoderSource> {
  const path = resolve(source);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    const { weights } = await readOnnxDirectory(path);
    const fetchInto = (link: string) => rm(link, { force: true }).then(() => symlink(path, link, 'junction'));
    const bytes = statSync(weights).size;
    return { source: path, revision: null, license: null, weights: basename(weights), bytes, fetchInto };
  }
  const parts = /^([\w-][\w.-]*\/[\w-][\w.-]*)(?:@([\w./-]+))?$/.exec(source);
  if (parts?.[1] !== undefined) return openRepository(parts[1], parts[2] ?? 'main', options);
  throw new AppError('invalid_input', `"${source}" is neither a directory nor a repository of the hub.`, {
    hint: 'Examples: ./models/gte-small, Xenova/multilingual-e5-small, Xenova/multilingual-e5-small@main.',
  });
}

async function openRepository(
  source: string,
  revision: string,
  { hub, file, signal }: SourceOptions,
): Promise<EncoderSource> {
  const client = createHubClient(hub, source, revision);
  const { sha, siblings, cardData } = await client.describe(signal);
  const files = siblings.filter(({ rfilename }) => SAFE_PATH.test(rfilename));
  const models = files.flatMap(({ rfilename: path }) => (path.endsWith('.onnx') ? [path] : []));
  const preferred = models.length === 1 ? models : PREFERRED_WEIGHTS;
  const weights = file ?? preferred.find((path) => models.includes(path)) ?? 'model.onnx';
  const missing = [weights, 'tokenizer.json'].find((path) => files.every((each) => each.rfilename !== path));
  if (missing !== undefined) {
    const choices = advice`Choose one with ${settingName('file')}: ${models.slice(0, 8).join(', ')}.`;
    const conversions = `${hub.endpoint}/models?library=onnx&search=${basename(source)}`;
    const hint = `Use a conversion by onnx-community or Xenova: ${conversions}`;
    throw new AppError('invalid_input', `${source} has no ${models.length === 0 ? 'ONNX file' : missing}.`, {
      hint: models.length > 0 && missing === weights ? choices : hint,
    });
  }
  const isData = (path: string) => path.startsWith(weights) && EXTERNAL_DATA.test(path);
  // Small files first: they show early whether access is allowed.
  const chosen = files
    .filter(({ rfilename: path }) => path === weights || DESCRIPTION_FILE.test(path) || isData(path))
    .toSorted((a, b) => a.size - b.size);
  const bytes = chosen.reduce((sum, { size }) => sum + size, 0);
  return {
    ...{ source, revision: sha, license: cardData?.license ?? null, weights, bytes },
    async fetchInto(directory, options) {
      const settings = KNOWN_SETTINGS.find(([names]) => names.test(source))?.[1] ?? {};
      await writeFileAtomic(join(directory, ONNX_SETTINGS_FILE), JSON.stringify(settings));
      let finished = 0;
      for (const each of chosen) {
        const { rfilename: path, size } = each;
        const target = path.endsWith('.json') ? path : `onnx/${basename(path)}`;
        const onProgress = (received: number) => options.onProgress(finished + received, bytes);
        await client.download(each, sha, join(directory, target), { ...options, onProgress });
        finished += size;
      }
    },
  };
}

function createHubClient({ endpoint, ...hub }: SourceOptions['hub'], repository: string, revision: string) {
  const { origin, hostname, host } = new URL(endpoint);
  const token = hub.token?.reveal();
  const isLoopback = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  const names = { service: `The hub ${host}`, keyVariable: 'HF_TOKEN' };
  const parts = { serviceMessage: '', secrets: [token], retryAfter: undefined };

  /** Follows redirects itself: the token goes only to the hub, and no redirect leaves https. */
  async function request(path: string, signal: AbortSignal | undefined, offset = 0): Promise<Response> {
    let url = new URL(`${endpoint}/${path}`);
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      const isHub = url.origin === origin;
      if (url.protocol !== 'https:' && !isHub && !isLoopback) break;
      const headers = new Headers({ 'accept-encoding': 'identity' });
      if (token !== undefined && isHub) headers.set('authorization', `Bearer ${token}`);
      if (offset > 0) headers.set('range', `bytes=${offset}-`);
      const response = await fetch(url, { headers, redirect: 'manual', ...(signal && { signal }) });
      if (response.ok) return response;
      await response.body?.cancel();
      const location = response.status < 400 ? response.headers.get('location') : null;
      if (location === null) throw toStatusError(response);
      url = new URL(location, url);
    }
    throw new AppError('api_error', `${names.service} redirects too often or to an address without https.`);
  }

  function toStatusError({ status, headers }: Response): AppError {
    const code = headers.get('x-error-code');
    if (code === 'GatedRepo' || status === 403) {
      const hint = `Accept its terms at ${endpoint}/${repository}, then set HF_TOKEN to a token of your account.`;
      return new AppError('auth_error', `${repository} is gated: its terms must be accepted first.`, {
        hint,
      });
    }
    if (status === 404 || (status === 401 && (token === undefined || code === 'RepoNotFound'))) {
      const wanted = code === 'RevisionNotFound' ? `revision ${revision} of` : 'repository';
      return new AppError('invalid_input', `${host} has no ${wanted} ${repository}, or it is private.`, {
        hint: 'Check the spelling. For a private repository, set HF_TOKEN.',
      });
    }
    const description = { ...describeHttpError(status, names), hint: 'Check HF_TOKEN, or try again later.' };
    return createServiceError(description, { ...parts, cause: new Error(`HTTP ${status}`) });
  }

  /** Retries network errors, which `fetch` throws as TypeErrors. */
  function attempt<T>(work: () => Promise<T>, options: Pick<FetchOptions, 'signal' | 'onRetry'>): Promise<T> {
    const hint = 'Check the network, then run the same command again. HF_ENDPOINT can name a mirror.';
    const explain = (error: unknown) => {
      if (!(error instanceof TypeError)) throw error;
      const description = describeNetworkError(findNetworkCode(error), names);
      throw createServiceError({ ...description, hint }, { ...parts, cause: error });
    };
    return retryOnError(() => work().catch(explain), options);
  }

  async function readDescription(signal: AbortSignal) {
    const path = `api/models/${repository}/revision/${encodeURIComponent(revision)}?blobs=true`;
    const result = repositorySchema.safeParse(parseJson(await (await request(path, signal)).text()));
    if (result.success) return result.data;
    throw new AppError('api_error', `${names.service} did not describe ${repository} as expected.`, {
      hint: 'Check that HF_ENDPOINT names the Hugging Face hub or a mirror of its API.',
    });
  }

  /** Appends to `<path>.part`, which gets its name after its hash is checked. */
  async function download(file: HubFile, commit: string, path: string, options: FetchOptions): Promise<void> {
    const part = `${path}.part`;
    let size = statSync(part, { throwIfNoEntry: false })?.size ?? 0;
    if (existsSync(path)) return;
    if (size < file.size) {
      const url = `${repository}/resolve/${commit}/${file.rfilename}`;
      const response = await request(url, options.signal, size);
      if (response.status !== 206) size = 0;
      await mkdir(dirname(path), { recursive: true });
      const handle = await open(part, size === 0 ? 'w' : 'a');
      try {
        for await (const chunk of response.body ?? []) {
          size += chunk.length;
          if (size > file.size) break;
          await handle.writeFile(chunk);
          options.onProgress(size, file.size);
        }
      } finally {
        await handle.close();
      }
    }
    if (size < file.size) throw new TypeError('The body is too short', { cause: { code: 'ECONNRESET' } });
    if (size > file.size || !(await hasHubHash(part, file))) {
      await rm(part, { force: true });
      throw new AppError('api_error', `The hash of ${file.rfilename} is not the one that the hub gives.`, {
        hint: 'Run the same command to download it again. If this repeats, a proxy may change it.',
      });
    }
    await rename(part, path);
  }

  return {
    describe: (signal: AbortSignal) => attempt(() => readDescription(signal), { signal }),
    download: (file: HubFile, commit: string, path: string, options: FetchOptions) =>
      attempt(() => download(file, commit, path, options), options),
  };
}

/** Large files have a SHA-256, others the SHA-1 of their Git blob. */
async function hasHubHash(path: string, { lfs, blobId, size }: HubFile): Promise<boolean> {
  const hash = lfs ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`);
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex') === (lfs?.sha256 ?? blobId);
}
