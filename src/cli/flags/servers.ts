import type { McpFlags } from '../commands/mcp.ts';
import type { ServeFlags } from '../commands/serve.ts';
import { answeringOptions } from './agent-flags.ts';
import type { CommandDefinition, OptionDefinition } from './command-definition.ts';
import { serviceOptions } from './common-flags.ts';
import { MCP_DEFAULTS, SERVE_DEFAULTS } from './server-flags.ts';

function listenOptions({ host, port }: { host: string; port: number }) {
  return {
    host: { value: 'address', describe: `Address to listen on; others need a token (default ${host})` },
    port: { type: 'number', describe: `Port; 0 picks a free one (default ${port})` },
    token: { value: 'token', describe: 'Bearer token that clients must send' },
    'token-file': { value: 'path', describe: 'File that contains the token', conflicts: 'token' },
    'allow-host': { value: 'name', array: true, describe: 'Additional host name of this server' },
  } as const satisfies Record<string, OptionDefinition>;
}

export const serveCommand: CommandDefinition<ServeFlags> = {
  command: 'serve',
  describe: 'Run an OpenAI-compatible server and a web chat',
  options: {
    ...listenOptions(SERVE_DEFAULTS),
    tokens: {
      value: 'path',
      describe: 'File of named tokens, one per user (docs/serve.md)',
      conflicts: ['token', 'token-file'],
    },
    concurrency: {
      type: 'number',
      describe: `Questions at a time (default ${SERVE_DEFAULTS.concurrency}; offline: one per core)`,
    },
    queue: {
      type: 'number',
      describe: `Waiting questions before 429 is returned (default ${SERVE_DEFAULTS.queue})`,
    },
    'turn-timeout': {
      type: 'number',
      describe: `Seconds per answer (default ${SERVE_DEFAULTS.turnTimeout})`,
    },
    grace: {
      type: 'number',
      describe: `Seconds to finish answers on shutdown (default ${SERVE_DEFAULTS.grace})`,
    },
    ...answeringOptions,
    ...serviceOptions('store', 'rerank'),
  },
  examples: [
    ['citeloop serve', `Then open http://${SERVE_DEFAULTS.host}:${SERVE_DEFAULTS.port}`],
    ['citeloop serve --collection handbook --model gpt-5-mini', 'Use another collection and a model'],
    ['citeloop serve --host 0.0.0.0 --token-file token.txt', 'Serve the network'],
    ['citeloop serve --host 0.0.0.0 --tokens team.json', 'Serve a team, with sessions per user'],
  ],
  handler: async (flags) => (await import('../commands/serve.ts')).runServe(flags),
};

const httpOptions = Object.fromEntries(
  Object.entries<OptionDefinition>(listenOptions(MCP_DEFAULTS)).map(([name, option]) => [
    name,
    { ...option, implies: 'http', group: 'With --http' },
  ]),
);

export const mcpCommand: CommandDefinition<McpFlags> = {
  command: 'mcp',
  describe: 'Run an MCP server over your documents',
  options: {
    http: { type: 'boolean', describe: 'Use streamable HTTP instead of stdio' },
    ...httpOptions,
    ...answeringOptions,
    ...serviceOptions('store', 'rerank'),
  },
  examples: [
    ['citeloop mcp', 'Serve an editor over stdio (docs/mcp.md)'],
    ['citeloop mcp --collection handbook --model gpt-5-mini', 'Use another collection and a model'],
    ['citeloop mcp --http', `Serve http://${MCP_DEFAULTS.host}:${MCP_DEFAULTS.port}/mcp`],
    ['citeloop mcp --http --host 0.0.0.0 --token-file token.txt', 'Serve the network'],
  ],
  handler: async (flags) => (await import('../commands/mcp.ts')).runMcp(flags),
};
