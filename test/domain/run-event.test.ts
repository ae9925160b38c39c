import { expect, test } from 'vitest';
import { runEventSchema } from '../../src/domain/run-event.ts';

test('distinguishes events by their type', () => {
  expect(runEventSchema.parse({ type: 'text_delta', delta: 'A' })).toEqual({
    type: 'text_delta',
    delta: 'A',
  });
  expect(runEventSchema.parse({ type: 'phase', from: 'idle', to: 'generating' }).type).toBe('phase');
  expect(runEventSchema.safeParse({ type: 'surprise' }).success).toBe(false);
});
