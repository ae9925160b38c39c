import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from './free-port.ts';
import { createStorageDirectory, type QdrantProcess, startQdrant } from './qdrant-server.ts';

const TIMEOUT_MS = 120_000;

export interface ClusterNode {
  readonly url: string;
  /** Kills the node. */
  kill(): Promise<void>;
  /** Starts the node with its previous data. */
  restart(): Promise<void>;
}

export interface QdrantCluster {
  nodes: ClusterNode[];
  /** Waits until all shard replicas of a collection are active on all nodes. */
  waitUntilReplicated(collection: string): Promise<void>;
  stop(): Promise<void>;
}

interface Answer {
  result: {
    peers?: Record<string, unknown>;
    local_shards?: { state: string }[];
    remote_shards?: { state: string }[];
    shard_transfers?: unknown[];
  };
}

/** Starts a local cluster whose nodes can be killed and restarted. */
export async function startQdrantCluster(size: number): Promise<QdrantCluster> {
  const directory = await createStorageDirectory();
  const running: QdrantProcess[] = [];
  const plans = await Promise.all(
    Array.from({ length: size }, async () => ({
      http: await findFreePort(),
      grpc: await findFreePort(),
      p2p: await findFreePort(),
    })),
  );
  const peer = (index: number) => `http://127.0.0.1:${plans[index]?.p2p}`;

  async function start(index: number): Promise<void> {
    const { http = 0, grpc = 0, p2p = 0 } = plans[index] ?? {};
    // The first node creates the cluster; a restarted node joins through another one.
    const known = running[index] === undefined ? 0 : index === 0 ? 1 : 0;
    const bootstrap = index === 0 && running[0] === undefined ? [] : ['--bootstrap', peer(known)];
    running[index] = await startQdrant({
      args: ['--uri', peer(index), ...bootstrap],
      directory: join(directory, `node-${index}`),
      ports: { http, grpc },
      env: {
        QDRANT__CLUSTER__ENABLED: 'true',
        QDRANT__CLUSTER__P2P__PORT: String(p2p),
        QDRANT__CLUSTER__CONSENSUS__TICK_PERIOD_MS: '50',
      },
    });
  }

  const urlOf = (index: number) => `http://127.0.0.1:${plans[index]?.http}`;

  const cluster: QdrantCluster = {
    nodes: plans.map((_, index) => ({
      url: urlOf(index),
      kill: async () => running[index]?.kill(),
      restart: () => start(index),
    })),

    async waitUntilReplicated(collection) {
      await until(`every copy of ${collection} to be up to date`, async () => {
        for (let index = 0; index < size; index += 1) {
          const answer = await ask(`${urlOf(index)}/collections/${collection}/cluster`);
          const { local_shards = [], remote_shards = [], shard_transfers = [] } = answer?.result ?? {};
          const shards = [...local_shards, ...remote_shards];
          if (shards.length === 0 || shard_transfers.length > 0) return false;
          if (shards.some(({ state }) => state !== 'Active')) return false;
        }
        return true;
      });
    },

    async stop() {
      await Promise.all(running.map((node) => node.kill()));
      await rm(directory, { recursive: true, force: true });
    },
  };
  try {
    for (let index = 0; index < size; index += 1) await start(index);
    await until('the nodes to know each other', async () => {
      const answers = await Promise.all(plans.map((_, index) => ask(`${urlOf(index)}/cluster`)));
      return answers.every((answer) => Object.keys(answer?.result.peers ?? {}).length === size);
    });
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

async function ask(url: string): Promise<Answer | null> {
  const response = await fetch(url).catch(() => null);
  return response?.ok ? ((await response.json()) as Answer) : null;
}

async function until(what: string, isDone: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  while (!(await isDone())) {
    if (Date.now() > deadline) throw new Error(`waited ${TIMEOUT_MS / 1000} seconds for ${what}`);
    await delay(100);
  }
}
