import fc from 'fast-check';
import type { Citation } from '../../src/domain/citation.ts';
import type { ConversationMessage } from '../../src/domain/conversation-message.ts';
import type { RetrievedChunk } from '../../src/domain/retrieved-chunk.ts';

export const NOW = '2026-11-16T07:00:00.000Z';
export const SESSION_ID = '3f2b8c1e-9d4a-4c6b-8e7f-0a1b2c3d4e5f';

export function chunk(fields: Partial<RetrievedChunk> = {}): RetrievedChunk {
  return {
    chunkId: 'chunk-1',
    text: 'A node publishes messages on a topic.',
    score: 0.8,
    rank: 1,
    url: 'https://docs.test/topics',
    title: 'Topics',
    chunkIndex: 0,
    module: 'basics',
    chapter: 'nodes',
    headings: ['Topics', 'Publishing'],
    tokenCount: 10,
    contentHash: 'hash-1',
    ...fields,
  };
}

export function citation(fields: Partial<Citation> = {}): Citation {
  return {
    marker: '1',
    title: 'Topics',
    url: 'https://docs.test/topics',
    score: 0.8,
    excerpt: 'A node publishes messages on a topic.',
    module: 'basics',
    chunkId: 'chunk-1',
    verdict: 'supported',
    ...fields,
  };
}

export const chunks: fc.Arbitrary<RetrievedChunk[]> = fc
  .array(
    fc.record({ score: fc.integer({ min: 0, max: 20 }), tokenCount: fc.integer({ min: 1, max: 300 }) }),
    { maxLength: 20 },
  )
  .map((parts) =>
    parts.map(({ score, tokenCount }, index) =>
      chunk({ chunkId: `c${index}`, score: score / 20, tokenCount }),
    ),
  );

const common = { citations: [], timestamp: NOW, metadata: {} };

/** A text that is not blank. */
const spoken = fc.string().map((text) => `${text}.`);

/** A conversation in which every tool call has its result; ids are distinct. */
export const conversations: fc.Arbitrary<ConversationMessage[]> = fc
  .tuple(
    spoken,
    fc.array(
      fc.record({
        question: spoken,
        calls: fc.array(
          fc.record({ name: fc.constantFrom('search_docs', 'retrieve_context'), args: fc.string() }),
          {
            maxLength: 3,
          },
        ),
        said: fc.option(spoken),
        result: spoken,
        answer: spoken,
        tokens: fc.nat(50),
      }),
      { maxLength: 6 },
    ),
  )
  .map(([system, turns]) => {
    const messages: ConversationMessage[] = [
      { ...common, id: 'system', role: 'system', content: system, tokenCount: 5 },
    ];
    turns.forEach(({ question, calls, said, result, answer, tokens }, turn) => {
      const tokenCount = tokens;
      messages.push({ ...common, id: `u${turn}`, role: 'user', content: question, tokenCount });
      const toolCalls = calls.map(({ name, args }, index) => ({
        id: `call-${turn}-${index}`,
        name,
        arguments: args,
      }));
      if (toolCalls.length > 0) {
        messages.push({ ...common, id: `t${turn}`, role: 'assistant', content: said, toolCalls, tokenCount });
        for (const { id, name } of toolCalls) {
          messages.push({
            ...common,
            id: `r-${id}`,
            role: 'tool',
            content: result,
            toolCallId: id,
            name,
            tokenCount,
          });
        }
      }
      messages.push({
        ...common,
        id: `a${turn}`,
        role: 'assistant',
        content: answer,
        toolCalls: [],
        tokenCount,
      });
    });
    return messages;
  });
