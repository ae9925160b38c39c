import { expect, test } from 'vitest';
import { responseAsEvents } from '../../../../src/adapters/openai/wire/response-stream.ts';

test('an answer in one piece becomes the events of a stream, with a delta for each message alone', () => {
  const response = {
    output: [
      { type: 'reasoning', summary: [] },
      { type: 'message', content: [{ type: 'output_text', text: 'Hello.' }] },
      { type: 'function_call', call_id: 'c', name: 'search_docs', arguments: '{}' },
      { type: 'message', content: [{ type: 'output_text', text: '' }] },
    ],
  };
  expect(responseAsEvents(response)).toEqual([
    { type: 'response.created', response },
    { type: 'response.output_text.delta', output_index: 1, delta: 'Hello.' },
    { type: 'response.completed', response },
  ]);
});
