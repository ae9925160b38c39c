// Writes the JSON Schemas of all outputs of --json into schemas/: npm run schemas
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { addedEncoderSchema } from '../src/cli/commands/encoders.ts';
import { agentResponseSchema } from '../src/domain/agent-response.ts';
import { conversationSessionSchema } from '../src/domain/conversation-session.ts';
import { conversationTurnSchema } from '../src/domain/conversation-turn.ts';
import { retrievalContextSchema } from '../src/domain/retrieval-context.ts';
import { runEventSchema } from '../src/domain/run-event.ts';
import { reportDataSchema } from '../src/evaluation/report/report-data.ts';
import { errorResponseSchema } from '../src/faults/error-response.ts';

const count = z.int().min(0);
const rank = z.int().min(1).nullable();
const score = z.number().nullable();

const collectionInfo = z.object({
  name: z.string(),
  embedder: z.string(),
  dimensions: z.int().min(1),
  documents: count,
  chunks: count,
  withoutVector: count,
  bytes: count,
  createdAt: z.string(),
  updatedAt: z.string(),
  description: z.string().nullish(),
  modules: z.array(z.object({ name: z.string(), chunks: count })),
});

const sessionSummary = z.object({
  ...conversationSessionSchema.pick({
    sessionId: true,
    status: true,
    model: true,
    policy: true,
    collection: true,
    createdAt: true,
  }).shape,
  user: z.string().nullable(),
  title: z.string().nullable(),
  isInteractive: z.boolean(),
  updatedAt: z.string(),
  turnCount: count,
  retrievalCount: count,
  totalTokensUsed: count,
});

const exportedSession = z.object({
  session: conversationSessionSchema,
  user: z.string().nullable(),
  turns: z.array(z.object({ turn: conversationTurnSchema })),
});

const setting = z.object({ name: z.string(), value: z.json(), origin: z.string() });

/** The schemas by file name; the description names the commands. */
export const outputSchemas: Readonly<Record<string, z.ZodType>> = {
  'run-event': runEventSchema.describe('A line of ask --json --stream, and an event of the library'),
  ask: agentResponseSchema.describe('ask --json'),
  error: z.object({ error: errorResponseSchema }).describe('Any command with --json that fails'),
  search: retrievalContextSchema
    .extend({
      collection: z.string(),
      mode: z.enum(['hybrid', 'dense', 'lexical']),
      explain: z
        .array(
          z.object({
            chunkId: z.string(),
            lexicalRank: rank,
            lexicalScore: score,
            denseRank: rank,
            denseScore: score,
            fusedRank: z.int().min(1),
            fusedScore: z.number(),
            rerankScore: score,
          }),
        )
        .optional(),
    })
    .describe('search --json'),
  ingest: z
    .object({
      collection: z.string(),
      added: count,
      changed: count,
      renamed: count,
      unchanged: count,
      removed: count,
      gone: z.array(z.string()),
      empty: z.array(z.string()),
      failed: z.array(z.object({ uri: z.string(), message: z.string(), hint: z.string().nullable() })),
      chunks: count,
      embeddedChunks: count,
      seconds: z.number(),
    })
    .describe('ingest --json'),
  collections: z.object({ collections: z.array(collectionInfo) }).describe('collections --json'),
  'collections-show': collectionInfo
    .extend({
      documentList: z.array(
        z.object({
          url: z.string(),
          title: z.string(),
          module: z.string().nullable(),
          chapter: z.string().nullable(),
        }),
      ),
    })
    .describe('collections show --json'),
  'collections-describe': z
    .object({ collection: z.string(), description: z.string().nullable() })
    .describe('collections describe --json'),
  deleted: z
    .object({ deleted: z.string() })
    .describe('collections delete --json, sessions delete --json, encoders remove --json'),
  sessions: z.object({ sessions: z.array(sessionSummary) }).describe('sessions --json'),
  'sessions-show': exportedSession.describe('sessions show --json'),
  'sessions-export': exportedSession.describe('sessions export --format json'),
  encoders: z.object({ encoders: z.array(addedEncoderSchema) }).describe('encoders --json'),
  'encoders-add': addedEncoderSchema.describe('encoders add --json'),
  doctor: z
    .object({
      ok: z.boolean(),
      checks: z.array(
        z.object({ name: z.string(), ok: z.boolean(), detail: z.string(), fix: z.string().nullable() }),
      ),
    })
    .describe('doctor --json'),
  'config-list': z
    .object({ settings: z.array(setting), untrusted: z.array(setting), file: z.string() })
    .describe('config --json'),
  'config-get': setting.describe('config get --json'),
  'config-set': z
    .object({ name: z.string(), value: z.json(), file: z.string() })
    .describe('config set --json, config unset --json'),
  'trust-list': z
    .object({
      files: z.array(
        z.object({ path: z.string(), sha256: z.string(), state: z.enum(['trusted', 'changed', 'gone']) }),
      ),
    })
    .describe('trust --list --json'),
  listening: z.object({ url: z.url(), port: z.int() }).describe('serve --json, mcp --http --json'),
  report: reportDataSchema.describe('eval --json, compare --json'),
};

/** The schema files by path. */
export function renderJsonSchemas(): Map<string, string> {
  return new Map(
    Object.entries(outputSchemas).map(([name, schema]) => {
      const json = z.toJSONSchema(schema, {
        io: 'output',
        unrepresentable: 'any',
        cycles: 'ref',
        reused: 'ref',
      });
      return [`schemas/${name}.schema.json`, `${JSON.stringify({ title: name, ...json }, null, 1)}\n`];
    }),
  );
}

if (import.meta.main) {
  mkdirSync('schemas', { recursive: true });
  for (const [path, text] of renderJsonSchemas()) writeFileSync(join('.', path), text);
}
