import { expect, test } from 'vitest';
import { canPhaseFollow, runEventSchema, turnPhaseSchema } from '../../src/domain/run-event.ts';

test('allows idle, retrieving, generating, idle', () => {
  expect(canPhaseFollow('idle', 'retrieving')).toBe(true);
  expect(canPhaseFollow('retrieving', 'generating')).toBe(true);
  expect(canPhaseFollow('generating', 'idle')).toBe(true);
});

test('allows generating first, and another search', () => {
  expect(canPhaseFollow('idle', 'generating')).toBe(true);
  expect(canPhaseFollow('generating', 'retrieving')).toBe(true);
});

test('every phase may fail, and a failure leads to idle only', () => {
  for (const phase of turnPhaseSchema.options.filter((phase) => phase !== 'error')) {
    expect(canPhaseFollow(phase, 'error')).toBe(true);
  }
  expect(turnPhaseSchema.options.filter((phase) => canPhaseFollow('error', phase))).toEqual(['idle']);
});

test('a phase does not follow itself or skip generating', () => {
  for (const phase of turnPhaseSchema.options) expect(canPhaseFollow(phase, phase)).toBe(false);
  expect(canPhaseFollow('retrieving', 'idle')).toBe(false);
});

test('distinguishes events by their type', () => {
  expect(runEventSchema.parse({ type: 'text_delta', delta: 'A' })).toEqual({
    type: 'text_delta',
    delta: 'A',
  });
  expect(runEventSchema.parse({ type: 'phase', from: 'idle', to: 'generating' }).type).toBe('phase');
  expect(runEventSchema.safeParse({ type: 'surprise' }).success).toBe(false);
});
