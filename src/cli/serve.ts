import type { Argv, CommandModule } from 'yargs';
import { type AgentFlags, answeringOptions } from './chat/agent-flags.ts';
import { withServiceFlags } from './service-flags.ts';
import type { CommonFlags } from './with-app.ts';

export interface ServeFlags
  extends Omit<AgentFlags, 'module' | 'filter' | 'stream' | 'session' | 'continue' | 'user'> {
  host?: string | undefined;
  port?: number | undefined;
  token?: string | undefined;
  tokenFile?: string | undefined;
  allowHost?: string[] | undefined;
  concurrency?: number | undefined;
  queue?: number | undefined;
  turnTimeout?: number | undefined;
  grace?: number | undefined;
}

export const SERVE_DEFAULTS = {
  host: '127.0.0.1',
  port: 8088,
  concurrency: 32,
  /** The offline model computes in this process: more at a time would only keep it from reading requests. */
  offlineConcurrency: 4,
  queue: 512,
  turnTimeout: 300,
  grace: 10,
} as const;

export const serveCommand: CommandModule<CommonFlags, ServeFlags> = {
  command: 'serve',
  describe: 'Answer over HTTP: the OpenAI API, and a page to chat on',
  builder: (yargs) =>
    withServiceFlags(yargs as Argv<ServeFlags>, 'provider', 'store', 'rerank')
      .options({
        host: {
          type: 'string',
          describe: `The address to listen on; others than this machine's own need a token (${SERVE_DEFAULTS.host})`,
          requiresArg: true,
        },
        port: {
          type: 'number',
          describe: `The port; 0 takes a free one (${SERVE_DEFAULTS.port})`,
          requiresArg: true,
        },
        token: {
          type: 'string',
          describe: 'What callers must send as Authorization: Bearer',
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
        concurrency: {
          type: 'number',
          describe: `Questions that are answered at the same time (${SERVE_DEFAULTS.concurrency}; offline: ${SERVE_DEFAULTS.offlineConcurrency})`,
          requiresArg: true,
        },
        queue: {
          type: 'number',
          describe: `Questions that may wait; more are refused with 429 (${SERVE_DEFAULTS.queue})`,
          requiresArg: true,
        },
        'turn-timeout': {
          type: 'number',
          describe: `Seconds that an answer may take (${SERVE_DEFAULTS.turnTimeout})`,
          requiresArg: true,
        },
        grace: {
          type: 'number',
          describe: `Seconds that running answers get when the server is stopped (${SERVE_DEFAULTS.grace})`,
          requiresArg: true,
        },
      })
      .options(answeringOptions)
      .example('$0 serve', `Then open http://${SERVE_DEFAULTS.host}:${SERVE_DEFAULTS.port}`)
      .example('$0 serve --collection handbook --model gpt-5-mini', 'Another collection, a generative model')
      .example('$0 serve --host 0.0.0.0 --token-file token.txt', 'For others on the network'),
  handler: async (flags) => {
    const { runServe } = await import('./run-serve.ts');
    await runServe(flags);
  },
};
