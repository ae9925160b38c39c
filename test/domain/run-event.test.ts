import { expect, test } from 'vitest';
import { canFollow, phaseSchema, runEventSchema } from '../../src/domain/run-event.ts';

test('a turn goes from idle over retrieving and generating back to idle', () => {
  expect(canFollow('idle', 'retrieving')).toBe(true);
  expect(canFollow('retrieving', 'generating')).toBe(true);
  expect(canFollow('generating', 'idle')).toBe(true);
});

test('the model may begin, and may ask for another search', () => {
  expect(canFollow('idle', 'generating')).toBe(true);
  expect(canFollow('generating', 'retrieving')).toBe(true);
});

test('every phase can fail, and a failure leads back to idle alone', () => {
  for (const phase of phaseSchema.options.filter((phase) => phase !== 'error')) {
    expect(canFollow(phase, 'error')).toBe(true);
  }
  expect(phaseSchema.options.filter((phase) => canFollow('error', phase))).toEqual(['idle']);
});

test('a phase neither follows itself nor skips the answer', () => {
  for (const phase of phaseSchema.options) expect(canFollow(phase, phase)).toBe(false);
  expect(canFollow('retrieving', 'idle')).toBe(false);
});

test('events are told apart by their type', () => {
  expect(runEventSchema.parse({ type: 'text_delta', delta: 'A' })).toEqual({
    type: 'text_delta',
    delta: 'A',
  });
  expect(runEventSchema.parse({ type: 'phase', from: 'idle', to: 'generating' }).type).toBe('phase');
  expect(runEventSchema.safeParse({ type: 'surprise' }).success).toBe(false);
});
