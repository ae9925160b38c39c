import { advice, setting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { ChunkStore, DocumentRecord } from '../ports/chunk-store.ts';

type Known = Pick<DocumentRecord, 'uri' | 'url' | 'root' | 'contentHash' | 'fingerprint'>;

/** What the collection holds, looked up by place, address and content. */
interface KnownDocuments {
  at(uri: string): Known | undefined;
  all(): Iterable<Known>;
  /**
   * The document that this one takes the place of: it had the same content or the same address, and is gone.
   * Throws `invalid_input` if the address belongs to another document that is still there.
   */
  predecessor(document: Known): Promise<string | undefined>;
  /** Takes note of a document, and of the one that it takes the place of. */
  remember(document: Known, replaces?: string): void;
}

export async function createKnownDocuments(
  store: Pick<ChunkStore, 'documents'>,
  stillExists: (uri: string) => Promise<boolean>,
): Promise<KnownDocuments> {
  const byUri = new Map<string, Known>();
  const byUrl = new Map<string, string>();
  const byContent = new Map<string, string>();

  function remember({ uri, url, root, contentHash, fingerprint }: Known, replaces?: string): void {
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
    async predecessor({ uri, url, contentHash }) {
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
