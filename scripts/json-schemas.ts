// Writes the JSON Schemas of all outputs of --json into schemas/: npm run schemas
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { addedEncoderSchema } from '../src/cli/commands/encoders.ts';
import { agentResponseSchema } from '../src/domain/agent-response.ts';
import { conversationSessionSchema } from '../src/domain/conversation-session.ts';
import { conversationTurnSchema } from '../src/domain/conversation-turn.ts';
import { locationSchema } from '../src/domain/location.ts';
import { retrievalContextSchema } from '../src/domain/retrieval-context.ts';
import { runEventSchema } from '../src/domain/run-event.ts';
import { ANSWER_CHANGE_KINDS } from '../src/domain/setting-choices.ts';
import { reportDataSchema } from '../src/evaluation/report/report-data.ts';
import { errorResponseSchema } from '../src/faults/error-response.ts';
import { runOutputsSchema } from '../src/tape/run-outputs.ts';
import { tapeHeaderSchema } from '../src/tape/tape-format.ts';

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

const trustedFile = z.object({
  path: z.string(),
  sha256: z.string(),
  sets: z.array(z.object({ name: z.string(), value: z.unknown().optional() })),
});

/** A missing side means that the field is missing. */
const difference = z.object({
  path: z.string(),
  before: z.json().optional(),
  after: z.json().optional(),
});

const runSide = z.object({ run: z.string(), arm: z.string(), date: z.string() });
const settingValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const caseAnswer = z.object({
  state: z.enum(['right', 'wrong', 'error', 'not gradable']),
  answer: z.string(),
});

/** The schemas by file name; the description names the commands. */
export const outputSchemas: Readonly<Record<string, z.ZodType>> = {
  'run-event': runEventSchema.describe('A line of ask --json --stream, and an event of the library'),
  ask: agentResponseSchema.describe('ask --json, and a line for each answer of a piped chat --json'),
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
  'collections-copy': z
    .object({
      from: z.string(),
      to: z.string(),
      copied: count,
      unchanged: count,
      removed: count,
      kept: count,
      chunks: count,
    })
    .describe('collections copy --json'),
  'collections-remove': z
    .object({ collection: z.string(), removed: z.union([z.string(), z.array(z.string())]) })
    .describe('collections remove --json'),
  deleted: z
    .object({ deleted: z.string() })
    .describe('collections delete --json, sessions delete --json, encoders remove --json'),
  sessions: z.object({ sessions: z.array(sessionSummary) }).describe('sessions --json'),
  'sessions-show': exportedSession.describe('sessions show --json'),
  'sessions-export': exportedSession.describe('sessions export --format json'),
  'sessions-exported': z
    .object({ exported: z.string(), format: z.enum(['json', 'md', 'openai']), output: z.string() })
    .describe('sessions export --output <file> --json'),
  open: z
    .object({ url: z.string(), uri: z.string().optional(), location: locationSchema.nullish() })
    .describe('open --json'),
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
  trusted: z.object({ trusted: z.array(trustedFile) }).describe('trust --json'),
  revoked: z.object({ revoked: z.array(z.string()) }).describe('trust --revoke --json'),
  replay: z
    .object({
      tapes: z.array(
        z.object({
          tape: z.string(),
          command: z.string().nullable(),
          changed: z.record(z.string(), z.json()),
          ok: z.boolean(),
          turns: count,
          firstDifferentTurn: z.int().min(1).nullable(),
          reason: z.string().nullable(),
          differences: z.array(difference),
          collectionChanged: z.boolean().nullable(),
          exchanges: z.object({ recorded: count, used: count, repeated: count, missed: count }),
          missing: z.array(z.object({ message: z.string(), hint: z.string() })),
          live: z.boolean(),
          renewed: z.boolean(),
          outputs: runOutputsSchema,
        }),
      ),
    })
    .describe('replay --json'),
  'tape-show': z
    .object({
      path: z.string(),
      header: tapeHeaderSchema,
      complete: z.boolean(),
      edited: z.boolean(),
      outputs: runOutputsSchema.nullable(),
      calls: z.array(
        z.object({
          id: z.int(),
          startedAtMs: z.number(),
          durationMs: z.number(),
          request: z.string(),
          outcome: z.string(),
          chunks: count.nullable(),
        }),
      ),
    })
    .describe('tape show --json'),
  'tape-check': z
    .object({ tapes: z.array(z.object({ tape: z.string(), problems: z.array(z.string()) })) })
    .describe('tape check --json'),
  'tape-import': z
    .object({ tape: z.string(), exchanges: count, left: z.array(z.string()) })
    .describe('tape import --json'),
  'tape-export': z.object({ har: z.string(), exchanges: count }).describe('tape export --json'),
  'tape-diff': z
    .object({
      before: z.string(),
      after: z.string(),
      same: z.boolean(),
      run: z.array(difference),
      exchanges: z.array(
        z.object({
          kind: z.enum(['changed', 'added', 'removed']),
          before: z.int().nullable(),
          after: z.int().nullable(),
          request: z.string(),
          differences: z.array(difference),
        }),
      ),
      outputs: z.array(difference),
      counts: z.object({ before: count, after: count }),
    })
    .describe('tape diff --json'),
  'tape-renew': z
    .object({
      ok: z.boolean(),
      allow: z.array(z.string()),
      asked: z.array(
        z.object({
          tape: z.string(),
          exchange: z.int(),
          request: z.string(),
          changes: z.array(z.object({ kind: z.enum(ANSWER_CHANGE_KINDS), detail: z.string() })),
        }),
      ),
      left: z.array(z.object({ reason: z.string(), calls: count })),
    })
    .describe('tape renew --json'),
  'eval-init': z
    .object({
      file: z.string(),
      cases: count,
      passages: z.object({ read: count, unused: count, repeated: count }),
    })
    .describe('eval init --json'),
  'eval-import': z
    .object({
      file: z.string(),
      cases: count,
      skipped: z.array(z.string()),
      changed: z.array(z.string()),
      collection: z.string().optional(),
      documents: count.optional(),
    })
    .describe('eval import --json'),
  'eval-diff': z
    .object({
      before: runSide,
      after: runSide,
      settings: z.array(z.object({ setting: z.string(), before: settingValue, after: settingValue })),
      shared: count,
      gone: z.array(z.string()),
      added: z.array(z.string()),
      metrics: reportDataSchema.shape.comparisons.element.shape.metrics,
      flipped: z.array(
        z.object({ id: z.string(), question: z.string(), before: caseAnswer, after: caseAnswer }),
      ),
      reworded: count,
    })
    .describe('eval diff --json'),
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
