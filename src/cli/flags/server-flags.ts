import { availableParallelism } from 'node:os';
import type { Options } from 'yargs';
import type { AgentFlags } from './agent-flags.ts';

/** Flags of the commands that listen for callers, who say for themselves what each question is about. */
export interface ServerFlags
  extends Omit<AgentFlags, 'module' | 'filter' | 'stream' | 'format' | 'session' | 'continue' | 'user'> {
  host?: string | undefined;
  port?: number | undefined;
  token?: string | undefined;
  tokenFile?: string | undefined;
  allowHost?: string[] | undefined;
}

export const SERVE_DEFAULTS = {
  host: '127.0.0.1',
  port: 8088,
  concurrency: 32,
  /**
   * The offline model computes on this machine: more at a time than there are cores end no sooner, and push what others
   * have read out of the judge's memory.
   */
  offlineConcurrency: availableParallelism(),
  queue: 512,
  turnTimeout: 300,
  grace: 10,
} as const;

export const MCP_DEFAULTS = { host: '127.0.0.1', port: 8090 } as const;

/** Where it listens, and who may call. */
export function serverOptions(defaults: { host: string; port: number }, callers: 'callers' | 'clients') {
  return {
    host: {
      type: 'string',
      describe: `The address to listen on; others than this machine's own need a token (${defaults.host})`,
      requiresArg: true,
    },
    port: {
      type: 'number',
      describe: `The port; 0 takes a free one (${defaults.port})`,
      requiresArg: true,
    },
    token: {
      type: 'string',
      describe: `What ${callers} must send as Authorization: Bearer`,
      requiresArg: true,
    },
    'token-file': {
      type: 'string',
      describe: 'A file that holds the token, which then no list of processes shows',
      requiresArg: true,
      conflicts: 'token',
    },
    'allow-host': {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'A further name that this server is reached by',
    },
  } as const satisfies Record<string, Options>;
}
