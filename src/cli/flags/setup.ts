import type { CompletionFlags } from '../commands/completion.ts';
import type { SettingFlags } from '../commands/config.ts';
import type { EncoderFlags } from '../commands/encoders.ts';
import type { TrustFlags } from '../commands/trust.ts';
import { agentOptions } from './agent-flags.ts';
import type { CommandDefinition } from './command-definition.ts';
import { type CommonFlags, serviceOptions } from './common-flags.ts';

const setting = { setting: { describe: 'A setting, such as model or topK' } };

const list: CommandDefinition<CommonFlags> = {
  command: ['list', '$0'],
  describe: 'List settings and where each value comes from',
  examples: [['citeloop config', 'List settings and their sources']],
  handler: async (flags) => (await import('../commands/config.ts')).listSettings(flags),
};

const get: CommandDefinition<SettingFlags> = {
  command: 'get <setting>',
  describe: 'Print the value of a setting',
  positionals: setting,
  examples: [['citeloop config get model', 'Print the configured model']],
  handler: async (flags) => (await import('../commands/config.ts')).getSetting(flags),
};

const set: CommandDefinition<SettingFlags> = {
  command: 'set <setting> <value>',
  describe: 'Save a setting',
  positionals: { ...setting, value: { describe: 'The value; objects as JSON' } },
  examples: [
    ['citeloop config set model gpt-5-mini', 'Set the default model'],
    ['citeloop config set collection handbook', 'Set the default collection'],
    [
      `citeloop config set prices '{"gpt-5-mini": {"input": 0.25, "output": 2}}'`,
      'Show the cost of each turn, from prices per million tokens',
    ],
  ],
  handler: async (flags) => (await import('../commands/config.ts')).saveOrRemoveSetting(flags),
};

const unset: CommandDefinition<SettingFlags> = {
  command: 'unset <setting>',
  describe: 'Remove a saved setting',
  positionals: setting,
  examples: [['citeloop config unset model', 'Go back to the default model']],
  handler: async (flags) =>
    (await import('../commands/config.ts')).saveOrRemoveSetting({ ...flags, value: undefined }),
};

export const configCommand: CommandDefinition<CommonFlags> = {
  command: 'config',
  describe: 'Manage saved settings',
  commands: [list, get, set, unset],
  epilogue:
    'Precedence: flag, environment, ./citeloop.config.json, saved setting, default. Keys are read only from the environment.',
};

const encoderCommands: CommandDefinition<EncoderFlags>[] = [
  {
    command: ['list', '$0'],
    describe: 'List added encoders and rerankers',
    examples: [['citeloop encoders', 'List encoders and rerankers']],
    handler: async (flags) => (await import('../commands/encoders.ts')).listEncoders(flags),
  },
  {
    command: 'add <source>',
    describe: 'Download an encoder, or name a directory with one',
    positionals: { source: { describe: 'Repository of Hugging Face (org/name[@revision]) or directory' } },
    options: {
      name: { describe: 'Its name here (default: that of the source)' },
      file: { value: 'path', describe: 'ONNX file in the repository (default: int8 if there)' },
    },
    examples: [['citeloop encoders add Xenova/multilingual-e5-small', 'Add a multilingual encoder']],
    handler: async (flags) => (await import('../commands/encoders.ts')).addEncoder(flags),
  },
  {
    command: 'remove <name>',
    describe: 'Remove an encoder and its download',
    positionals: { name: { describe: 'The name of an encoder' } },
    examples: [['citeloop encoders remove multilingual-e5-small', 'Delete its files']],
    handler: async (flags) => (await import('../commands/encoders.ts')).removeEncoder(flags),
  },
];

export const encodersCommand: CommandDefinition<CommonFlags> = {
  command: 'encoders',
  describe: 'Manage local encoders and rerankers',
  commands: encoderCommands,
  epilogue: 'Use one with --embedder, --rerank or --check onnx:<name>. Known good ones: docs/encoders.md',
};

export const trustCommand: CommandDefinition<TrustFlags> = {
  command: 'trust [paths..]',
  describe: "Trust a project's settings and code",
  positionals: { paths: { describe: 'Directories or files (default: this directory)' } },
  options: {
    list: { type: 'boolean', describe: 'List trusted files', conflicts: 'revoke' },
    revoke: { type: 'boolean', describe: 'Forget trusted files' },
  },
  examples: [
    ['citeloop trust', 'Trust citeloop.config.json and .env in this directory'],
    ['citeloop trust checks.mjs', 'Trust the code of custom checks'],
    ['citeloop trust --list', 'List trusted files and whether they have changed'],
    ['citeloop trust --revoke', 'Trust this directory no longer'],
  ],
  handler: async (flags) => (await import('../commands/trust.ts')).runTrust(flags),
};

export const doctorCommand: CommandDefinition<CommonFlags> = {
  command: 'doctor',
  describe: 'Check the installation, collections and services',
  options: {
    model: agentOptions.model,
    provider: agentOptions.provider,
    'base-url': agentOptions['base-url'],
    api: agentOptions.api,
    ...serviceOptions('store', 'rerank'),
  },
  examples: [
    ['citeloop doctor', 'Run every check, with a fix for each failure'],
    ['citeloop doctor --provider ollama --model qwen3', 'Check what a model supports'],
    ['citeloop doctor --json', 'Print the checks as JSON'],
  ],
  handler: async (flags) => (await import('../commands/doctor.ts')).runDoctor(flags),
};

export const completionCommand: CommandDefinition<CompletionFlags> = {
  command: 'completion <shell>',
  describe: 'Print a shell completion script',
  positionals: { shell: { describe: 'bash, zsh or fish', choices: ['bash', 'zsh', 'fish'] } },
  examples: [
    ['citeloop completion bash >> ~/.bashrc', 'Enable completion in new shells'],
    ['source <(citeloop completion zsh)', 'Enable completion in this shell'],
  ],
  handler: async (flags) => (await import('../commands/completion.ts')).printCompletion(flags),
};
