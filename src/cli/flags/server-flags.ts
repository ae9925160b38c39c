import { availableParallelism } from 'node:os';
import type { AgentFlags } from './agent-flags.ts';
import type { FlagValues } from './common-flags.ts';

/** Flags of the commands that run a server. Callers choose filters, sessions and formats themselves. */
export interface ServerFlags
  extends Omit<AgentFlags, 'module' | 'filter' | 'stream' | 'format' | 'session' | 'continue' | 'user'>,
    FlagValues<'host' | 'token' | 'tokenFile', string> {
  port?: number | undefined;
  allowHost?: string[] | undefined;
}

export const SERVE_DEFAULTS = {
  host: '127.0.0.1',
  port: 8088,
  concurrency: 32,
  /** The offline model is bound by the processor, so more turns than cores finish no sooner. */
  offlineConcurrency: availableParallelism(),
  queue: 512,
  turnTimeout: 300,
  grace: 10,
} as const;

export const MCP_DEFAULTS = { host: '127.0.0.1', port: 8090 } as const;
