import type { Argv, CommandModule } from 'yargs';
import { type AgentFlags, answeringOptions } from './chat/agent-flags.ts';
import { withServiceFlags } from './service-flags.ts';
import type { CommonFlags } from './with-app.ts';

export interface McpFlags
  extends Omit<AgentFlags, 'module' | 'filter' | 'stream' | 'session' | 'continue' | 'user'> {
  http?: boolean | undefined;
  host?: string | undefined;
  port?: number | undefined;
  token?: string | undefined;
  tokenFile?: string | undefined;
  allowHost?: string[] | undefined;
}

export const DEFAULT_MCP_HOST = '127.0.0.1';
export const DEFAULT_MCP_PORT = 8090;

const HTTP_HEADING = 'With --http:';

export const mcpCommand: CommandModule<CommonFlags, McpFlags> = {
  command: 'mcp',
  describe: 'Lend the documents to editors and assistants that speak MCP',
  builder: (yargs) =>
    withServiceFlags(yargs as Argv<McpFlags>, 'provider', 'store', 'rerank')
      .options({
        http: { type: 'boolean', describe: 'Streamable HTTP instead of stdin and stdout' },
        host: {
          type: 'string',
          describe: `The address to listen on; others than this machine's own need a token (${DEFAULT_MCP_HOST})`,
          requiresArg: true,
          implies: 'http',
          group: HTTP_HEADING,
        },
        port: {
          type: 'number',
          describe: `The port; 0 takes a free one (${DEFAULT_MCP_PORT})`,
          requiresArg: true,
          implies: 'http',
          group: HTTP_HEADING,
        },
        token: {
          type: 'string',
          describe: 'What clients must send as Authorization: Bearer',
          requiresArg: true,
          implies: 'http',
          group: HTTP_HEADING,
        },
        'token-file': {
          type: 'string',
          describe: 'A file that holds the token, which then no list of processes shows',
          requiresArg: true,
          implies: 'http',
          conflicts: 'token',
          group: HTTP_HEADING,
        },
        'allow-host': {
          type: 'string',
          array: true,
          nargs: 1,
          describe: 'A further name that this server is reached by',
          implies: 'http',
          group: HTTP_HEADING,
        },
      })
      .options(answeringOptions)
      .example('$0 mcp', 'What an editor starts; docs/mcp.md has the settings of common ones')
      .example('$0 mcp --collection handbook --model gpt-5-mini', 'Another collection, a generative model')
      .example('$0 mcp --http', `At http://${DEFAULT_MCP_HOST}:${DEFAULT_MCP_PORT}/mcp`)
      .example('$0 mcp --http --host 0.0.0.0 --token-file token.txt', 'For others on the network'),
  handler: async (flags) => {
    const { runMcp } = await import('./run-mcp.ts');
    await runMcp(flags);
  },
};
