import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import * as z from 'zod';
import type { CollectionIdentity } from '../../domain/collection-identity.ts';
import { advice, command, setting } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { startRetries } from '../../faults/retry.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Connection } from './connection.ts';
import type { Condition } from './points.ts';

const FORMAT = 1;
const HEAD_ID = '00000000-0000-0000-0000-000000000000';
/** How long a writer is waited for that keeps coming back, before that is said. */
const PATIENCE_MS = 60_000;
/** More looks than fit into that, for a clock that stands still. */
const MOST_LOOKS = 2000;
const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 200;
const SHORTEST_LEASE_MS = 15_000;

const headSchema = z.object({
  format: z.number(),
  embedder: z.string(),
  dimensions: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
  /** What readers see: the points born up to it and not dead by then. One write raises it, once all is there. */
  epoch: z.number(),
  /** The number of the last write that began; the epoch that it makes if it succeeds. */
  attempt: z.number(),
  /** Who is writing. Setting a field to null removes it on the server. */
  writer: z
    .string()
    .nullish()
    .transform((writer) => writer ?? null),
  leaseUntil: z.number(),
  /** Whether something may be left of a write that did not end as it should. */
  dirty: z.boolean(),
  /** The epoch to which every point belonged when the last write ended. Version 0.2 did not say. */
  wholeAt: z.number().default(-1),
  documents: z.number(),
  chunks: z.number(),
  /** What payloads and vectors take, roughly. */
  bytes: z.number(),
  /** How many terms all chunks have together. */
  length: z.number(),
  /** The average length of a chunk when something was last added: what chunks are to be weighed by. */
  averageLength: z.number(),
  /** Whether there may be chunks without a vector. Said only where it matters: earlier versions do not know it. */
  partial: z.boolean().optional(),
});

/** The one point that says which version of everything is the current one. */
export type Head = z.infer<typeof headSchema>;

/** The right to write, for as long as it is renewed. */
export interface WriteLease {
  /** As it was before this write. */
  head: Head;
  /** What the head names the holder. */
  writer: string;
  /** The epoch that this write makes. */
  attempt: number;
  /** To be called before each step; throws if the right was lost. */
  renew(): Promise<void>;
  /** Makes what was written the current version. Throws, with nothing changed, if the right was lost. */
  commit(changes: Partial<Head>): Promise<void>;
  /** `dirty` if something may be left of it that does not belong to the current version. */
  release(dirty: boolean, changes?: Pick<Head, 'partial'>): Promise<void>;
}

export interface CollectionHead {
  /** Null if the collection has none. */
  read(): Promise<Head | null>;
  /** Puts one there, unless there is one already. */
  create(identity: CollectionIdentity): Promise<void>;
  /** Waits for other writers, and takes the place of one that died. */
  acquire(): Promise<WriteLease>;
}

/** Whose clock the lease goes by, and what the writer is called. */
export type WriterRuntime = Pick<Runtime, 'now' | 'newId' | 'processName' | 'sleep' | 'random'>;

const MACHINE: WriterRuntime = { now: () => new Date(), newId: randomUUID };

/** The head lives beside the document records, in `documents`; `name` is what messages speak of. */
export function createCollectionHead(
  connection: Connection,
  documents: string,
  name: string,
  runtime: WriterRuntime = MACHINE,
): CollectionHead {
  const clock = () => runtime.now().getTime();
  const leaseMs = Math.max(SHORTEST_LEASE_MS, 2 * connection.timeoutMs);

  async function read(): Promise<Head | null> {
    const [point] = await connection.call(name, (client) =>
      client.retrieve(documents, { ids: [HEAD_ID], with_payload: true }),
    );
    if (point === undefined) return null;
    const head = headSchema.safeParse(point.payload);
    if (head.data?.format === FORMAT) return head.data;
    throw otherFormat(name, (point.payload as { format?: number } | null)?.format);
  }

  async function mustRead(): Promise<Head> {
    const head = await read();
    if (head === null) throw gone(name);
    return head;
  }

  /** Changes the head if it is still as expected; whether it was, only reading it tells. */
  async function change(payload: Partial<Head>, expected: Partial<Head>): Promise<void> {
    const must: Condition[] = [{ has_id: [HEAD_ID] }];
    for (const [key, value] of Object.entries(expected)) {
      if (value !== null) must.push({ key, match: { value: value as string | number } });
    }
    await connection.call(name, (client) =>
      client.setPayload(documents, { payload, filter: { must }, wait: true, ordering: 'medium' }),
    );
  }

  function createLease(head: Head, writer: string, attempt: number, until: number): WriteLease {
    let leaseUntil = until;
    let { epoch } = head;
    const mine = { writer, attempt };
    return {
      head,
      writer,
      attempt,
      async renew() {
        const left = leaseUntil - clock();
        if (left <= 0) throw lost(name);
        if (left > leaseMs / 2) return;
        const renewed = clock() + leaseMs;
        await change({ leaseUntil: renewed }, mine);
        leaseUntil = renewed;
      },
      async commit(changes) {
        if (leaseUntil <= clock()) throw lost(name);
        await change({ ...changes, updatedAt: runtime.now().toISOString(), epoch: attempt }, mine);
        const now = await mustRead();
        if (now.writer !== writer || now.epoch !== attempt) throw lost(name);
        epoch = attempt;
      },
      release: (dirty, changes) =>
        change({ ...changes, writer: null, dirty, ...(!dirty && { wholeAt: epoch }) }, mine),
    };
  }

  return {
    read,

    async create({ embedder, dimensions }) {
      const now = runtime.now().toISOString();
      const head: Head = {
        format: FORMAT,
        embedder,
        dimensions,
        createdAt: now,
        updatedAt: now,
        epoch: 0,
        attempt: 0,
        writer: null,
        leaseUntil: 0,
        dirty: false,
        wholeAt: 0,
        documents: 0,
        chunks: 0,
        bytes: 0,
        length: 0,
        averageLength: 1,
      };
      await connection.call(name, (client) =>
        client.upsert(documents, {
          points: [{ id: HEAD_ID, vector: {}, payload: head }],
          // Nothing matches it: one that another process has put there meanwhile is left alone.
          update_filter: { must: [{ key: 'format', match: { value: -1 } }] },
          wait: true,
          ordering: 'medium',
        }),
      );
    },

    async acquire() {
      const started = clock();
      let seen = { lease: '', since: started };
      const looks = startRetries({
        maxRetries: MOST_LOOKS,
        firstWaitMs: FIRST_WAIT_MS,
        longestBackoffMs: LONGEST_WAIT_MS,
        sleep: runtime.sleep,
        random: runtime.random,
      });
      for (;;) {
        const head = await mustRead();
        const lease = `${head.attempt} ${head.leaseUntil}`;
        if (lease !== seen.lease) seen = { lease, since: clock() };
        // By our own clock no lease lasts longer than one: that of a writer whose clock is ahead would end much too late.
        const until = Math.min(head.leaseUntil, seen.since + leaseMs);
        if (head.writer === null || until < clock() || isDead(head.writer)) {
          const writer = `${runtime.processName?.() ?? `${hostname()} ${process.pid}`} ${runtime.newId()}`;
          const attempt = head.attempt + 1;
          const leaseUntil = clock() + leaseMs;
          await change(
            { writer, attempt, leaseUntil },
            { attempt: head.attempt, leaseUntil: head.leaseUntil },
          );
          if ((await mustRead()).writer === writer) return createLease(head, writer, attempt, leaseUntil);
        }
        const fault = busy(name);
        if (clock() - started > PATIENCE_MS || !(await looks.waitAfter(fault))) throw fault;
      }
    },
  };
}

/** Whether a writer was a process of this machine that is no more; of other machines only time tells. */
function isDead(writer: string): boolean {
  const [host, pid] = writer.split(' ');
  if (host !== hostname() || Number(pid) === process.pid) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function otherFormat(name: string, format: number | undefined): AppError {
  const newer = (format ?? 0) > FORMAT;
  return new AppError(
    'configuration_error',
    `Collection "${name}" was written by ${newer ? 'a newer' : 'another'} citeloop.`,
    {
      hint: newer
        ? advice`Update citeloop, or choose another ${setting('collection')}.`
        : advice`Remove it${command(`collections delete ${name}`)} and ingest again.`,
    },
  );
}

export function gone(name: string): AppError {
  return new AppError('retrieval_error', `Collection "${name}" is not there any more.`, {
    hint: advice`See what there is${command('collections list')}`,
  });
}

function busy(name: string): AppError {
  return new AppError('retrieval_error', `Another process has kept writing to "${name}" for too long.`, {
    hint: 'Wait until it is done, then run the same command again.',
    recoverable: true,
  });
}

function lost(name: string): AppError {
  return new AppError('retrieval_error', `Writing to "${name}" took so long that another process went on.`, {
    hint: 'Run the same command again: it goes on where it stopped.',
    recoverable: true,
  });
}
