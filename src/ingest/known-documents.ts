import { advice, setting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { ChunkStore, DocumentRecord } from '../ports/chunk-store.ts';

type KnownDocument = Pick<DocumentRecord, 'uri' | 'url' | 'root' | 'contentHash' | 'fingerprint'>;

/** The documents of a collection, including those of the current run. */
interface KnownDocuments {
  at(uri: string): KnownDocument | undefined;
  all(): Iterable<KnownDocument>;
  /**
   * The URI of the document that this one replaces: it had the same address or content and no longer exists. Throws
   * `invalid_input` if another existing document has the address.
   */
  findPredecessor(document: KnownDocument): Promise<string | undefined>;
  remember(document: KnownDocument, replaces?: string): void;
}

export async function loadKnownDocuments(
  store: Pick<ChunkStore, 'documents'>,
  stillExists: (uri: string) => Promise<boolean>,
): Promise<KnownDocuments> {
  const byUri = new Map<string, KnownDocument>();
  const byUrl = new Map<string, string>();
  const byContent = new Map<string, string>();

  function remember({ uri, url, root, contentHash, fingerprint }: KnownDocument, replaces?: string): void {
    if (replaces !== undefined) byUri.delete(replaces);
    byUri.set(uri, { uri, url, root, contentHash, fingerprint });
    byUrl.set(url, uri);
    byContent.set(contentHash, uri);
  }

  for await (const document of store.documents()) remember(document);
  const fromEarlierRuns = new Set(byUri.keys());

  async function isGone(uri: string): Promise<boolean> {
    return fromEarlierRuns.has(uri) && !(await stillExists(uri));
  }

  return {
    at: (uri) => byUri.get(uri),
    all: () => byUri.values(),
    remember,
    async findPredecessor({ uri, url, contentHash }) {
      const sameAddress = byUrl.get(url);
      if (sameAddress !== undefined && sameAddress !== uri) {
        if (await isGone(sameAddress)) return sameAddress;
        throw new AppError('invalid_input', `It has the same address as ${sameAddress}: ${url}.`, {
          hint: advice`Give one of them another slug, or ingest them with different ${setting('baseUrl', 'base URLs')}.`,
        });
      }
      const sameContent = byContent.get(contentHash);
      if (byUri.has(uri) || sameContent === undefined) return undefined;
      return (await isGone(sameContent)) ? sameContent : undefined;
    },
  };
}
