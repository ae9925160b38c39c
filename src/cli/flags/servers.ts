import type { Options } from 'yargs';
import type { McpFlags } from '../commands/mcp.ts';
import type { ServeFlags } from '../commands/serve.ts';
import { answeringOptions } from './agent-flags.ts';
import { withServiceFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { MCP_DEFAULTS, SERVE_DEFAULTS, serverOptions } from './server-flags.ts';

export const serveCommand = defineCommand<ServeFlags>({
  command: 'serve',
  describe: 'Answer over HTTP: the OpenAI API, and a page to chat on',
  builder: (yargs) =>
    withServiceFlags(yargs, 'provider', 'store', 'rerank')
      .options({
        ...serverOptions(SERVE_DEFAULTS, 'callers'),
        tokens: {
          type: 'string',
          describe: 'A file of named tokens, each with sessions and a limit of its own (docs/serve.md)',
          requiresArg: true,
          conflicts: ['token', 'token-file'],
        },
        concurrency: {
          type: 'number',
          describe: `Questions that are answered at the same time (${SERVE_DEFAULTS.concurrency}; offline: one a core)`,
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
      .example('$0 serve --host 0.0.0.0 --token-file token.txt', 'For others on the network')
      .example('$0 serve --host 0.0.0.0 --tokens team.json', 'For a team, each with their own sessions'),
  handler: async (flags) => (await import('../commands/serve.ts')).runServe(flags),
});

/** What only makes sense with `--http`, under a heading of its own. */
const httpOptions: Record<string, Options> = Object.fromEntries(
  Object.entries<Options>(serverOptions(MCP_DEFAULTS, 'clients')).map(([name, option]) => [
    name,
    { ...option, implies: 'http', group: 'With --http:' },
  ]),
);

export const mcpCommand = defineCommand<McpFlags>({
  command: 'mcp',
  describe: 'Lend the documents to editors and assistants that speak MCP',
  builder: (yargs) =>
    withServiceFlags(yargs, 'provider', 'store', 'rerank')
      .options({
        http: { type: 'boolean', describe: 'Streamable HTTP instead of stdin and stdout' },
        ...httpOptions,
      })
      .options(answeringOptions)
      .example('$0 mcp', 'What an editor starts; docs/mcp.md has the settings of common ones')
      .example('$0 mcp --collection handbook --model gpt-5-mini', 'Another collection, a generative model')
      .example('$0 mcp --http', `At http://${MCP_DEFAULTS.host}:${MCP_DEFAULTS.port}/mcp`)
      .example('$0 mcp --http --host 0.0.0.0 --token-file token.txt', 'For others on the network'),
  handler: async (flags) => (await import('../commands/mcp.ts')).runMcp(flags),
});
