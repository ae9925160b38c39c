import { advice, settingName } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { ChunkStore, DocumentRecord } from '../ports/chunk-store.ts';

type KnownDocument = Pick<DocumentRecord, 'uri' | 'url' | 'root' | 'contentHash' | 'fingerprint'>;

/** The documents of a collection, including those of the current run. */
export async function loadKnownDocuments(
  store: Pick<ChunkStore, 'documents'>,
  stillExists: (uri: string) => Promise<boolean>,
) {
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
    at: (uri: string) => byUri.get(uri),
    all: (): Iterable<KnownDocument> => byUri.values(),
    remember,
    /**
     * The URI of the document that this one replaces: it had the same address or content and no longer exists. Throws
     * `invalid_input` if another existing document has the address.
     */
    async findPredecessor({ uri, url, contentHash }: KnownDocument): Promise<string | undefined> {
      const sameAddress = byUrl.get(url);
      if (sameAddress !== undefined && sameAddress !== uri) {
        if (await isGone(sameAddress)) return sameAddress;
        throw new AppError('invalid_input', `It has the same address as ${sameAddress}: ${url}.`, {
          hint: advice`Give one of them another slug, or ingest them with different ${settingName('baseUrl', 'base URLs')}.`,
        });
      }
      const sameContent = byContent.get(contentHash);
      if (byUri.has(uri) || sameContent === undefined) return undefined;
      return (await isGone(sameContent)) ? sameContent : undefined;
    },
  };
}
