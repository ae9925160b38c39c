import { expect } from 'vitest';
import * as z from 'zod';
import { openTape } from '../../src/tape/open-tape.ts';
import { replayResponse } from '../../src/tape/tape-exchange.ts';
import type { TapeExchange } from '../../src/tape/tape-format.ts';

const requestSchema = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.string().nullish() })),
  tools: z
    .array(
      z.object({ function: z.object({ name: z.string(), parameters: z.record(z.string(), z.unknown()) }) }),
    )
    .default([]),
});
const deltaSchema = z.object({
  choices: z.array(
    z.object({
      delta: z.object({
        content: z.string().nullish(),
        tool_calls: z
          .array(z.object({ function: z.object({ name: z.string(), arguments: z.string() }) }))
          .default([]),
      }),
    }),
  ),
});

interface HeldCounts {
  steps: number;
  calls: number;
  citations: number;
}

/**
 * Holds every step of a recorded run against what its grammar promises: calls of tools that were offered, with arguments
 * that their schemas allow, and nothing in square brackets but refs that the model was shown. Counts what there was.
 */
export async function expectHeldToGrammar(path: string): Promise<HeldCounts> {
  const counts = { steps: 0, calls: 0, citations: 0 };
  const tape = openTape(path);
  try {
    for (const exchange of tape.exchanges()) {
      const { body } = exchange.request;
      const { messages, tools } = requestSchema.parse(body && 'json' in body ? body.json : null);
      const deltas = await deltasOf(exchange);
      counts.steps += 1;
      for (const { function: called } of deltas.flatMap(({ tool_calls }) => tool_calls)) {
        const tool = tools.find((offered) => offered.function.name === called.name);
        expect(tool, `${called.name} was offered`).toBeDefined();
        const schema = z.fromJSONSchema(tool?.function.parameters ?? {});
        expect(schema.safeParse(JSON.parse(called.arguments)).success, called.arguments).toBe(true);
        counts.calls += 1;
      }
      const shown = refsIn(messages.map(({ content }) => content ?? ''));
      for (const cited of refsCited(deltas.map(({ content }) => content ?? '').join(''))) {
        expect(shown).toContain(cited);
        counts.citations += 1;
      }
    }
  } finally {
    tape.close();
  }
  return counts;
}

async function deltasOf(exchange: TapeExchange) {
  const events = await (await replayResponse(exchange, 'none', null)).text();
  return Array.from(events.matchAll(/^data: (\{.*)$/gm), ([, data = '']) =>
    deltaSchema.parse(JSON.parse(data)),
  )
    .flatMap(({ choices }) => choices)
    .map(({ delta }) => delta);
}

function refsIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) =>
    Array.from(text.matchAll(/"ref":\s*"(\w+)"|<source ref="(\w+)"|\[(\d+)\]/g), (match) =>
      String(match.slice(1).find((ref) => ref !== undefined)),
    ),
  );
}

/** In code brackets are no citations. */
function refsCited(answer: string): string[] {
  const prose = answer.replace(/```[\s\S]*?(?:```|$)|`[^`]*`/g, '');
  return Array.from(prose.matchAll(/\[([^\]]*)\]/g), ([, inside = '']) => inside.split(', ')).flat();
}
