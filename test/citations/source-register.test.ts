import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSourceRegister } from '../../src/citations/source-register.ts';
import { chunk } from '../domain/arbitraries.ts';
import { elapsed, exampleRegister, registerOf, SERVICES, TOPICS } from './sources.ts';

const refsOf = (register: ReturnType<typeof createSourceRegister>, reference: string) =>
  register.find(reference).map(({ ref }) => ref);

test('keeps the ref of a chunk for the session', () => {
  const register = createSourceRegister();
  expect(register.register(TOPICS)).toBe('1');
  expect(register.register(SERVICES)).toBe('2');
  expect(register.register({ ...TOPICS, score: 0.4 })).toBe('1');
  expect(register.chunkOf('1')?.score).toBe(0.4);
  expect(register.chunkOf('3')).toBeUndefined();
});

test('keeps refs when a session is stored and resumed', () => {
  const entries = JSON.parse(JSON.stringify(exampleRegister().entries()));
  const resumed = createSourceRegister(entries);
  expect(resumed.entries()).toEqual(exampleRegister().entries());
  expect(resumed.register(SERVICES)).toBe('2');
  expect(resumed.register(chunk({ chunkId: 'new' }))).toBe('4');
});

test('finds a ref in any notation', () => {
  const register = exampleRegister();
  for (const written of ['2', ' 2 ', '#2', 'ref 2', 'Source 2', '02'])
    expect(refsOf(register, written)).toEqual(['2']);
  for (const written of ['0', '4', '', '2.5', '-1', '999999999'])
    expect(refsOf(register, written)).toEqual([]);
});

test('finds an address regardless of slash, fragment, host case and surrounding punctuation', () => {
  const register = exampleRegister();
  for (const url of [
    'https://docs.test/topics',
    'https://docs.test/topics/',
    'https://docs.test/topics#publishing',
    'https://DOCS.test/topics.',
    '<https://docs.test/topics>',
  ]) {
    expect(refsOf(register, url)).toEqual(['1', '3']);
  }
  expect(refsOf(register, 'https://docs.test/services_%28intro%29')).toEqual(['2']);
  expect(refsOf(register, 'https://docs.test/topics2')).toEqual([]);
  expect(refsOf(register, 'https://docs.test/Topics')).toEqual([]);
  expect(refsOf(register, 'https://docs.test/%E0%A4%A')).toEqual([]);
});

test('finds all chunks of a title, narrowed by headings', () => {
  const register = exampleRegister();
  expect(refsOf(register, 'topics')).toEqual(['1', '3']);
  expect(refsOf(register, '"Topics".')).toEqual(['1', '3']);
  expect(refsOf(register, 'Topics > Subscribing')).toEqual(['3']);
  expect(refsOf(register, 'Topics › Publishing')).toEqual(['1']);
  expect(refsOf(register, 'Services (Intro)')).toEqual(['2']);
});

test('does not find a chunk by its old title', () => {
  const register = registerOf(TOPICS);
  register.register({ ...TOPICS, title: 'Channels', url: 'https://docs.test/channels', headings: [] });
  expect(refsOf(register, 'Topics')).toEqual([]);
  expect(refsOf(register, TOPICS.url)).toEqual([]);
  expect(refsOf(register, 'Channels')).toEqual(['1']);
});

test('finds every source by ref, address and title', () => {
  const parts = fc.record({
    title: fc.string(),
    url: fc.webUrl({ withFragments: true, withQueryParameters: true }),
  });
  fc.assert(
    fc.property(fc.array(parts, { minLength: 1, maxLength: 8 }), (list) => {
      const register = createSourceRegister();
      list.forEach(({ title, url }, index) => {
        const one = chunk({ chunkId: `c${index}`, title, url, headings: [] });
        const ref = register.register(one);
        expect(refsOf(register, ref)).toEqual([ref]);
        expect(refsOf(register, url)).toContain(ref);
      });
    }),
  );
});

test('stays fast in a long session', () => {
  const register = createSourceRegister();
  const took = elapsed(() => {
    for (let i = 0; i < 10_000; i += 1) {
      register.register(
        chunk({
          chunkId: `c${i}`,
          title: `Page ${i % 2000} of the book`,
          url: `https://docs.test/${i % 2000}`,
        }),
      );
    }
    for (let i = 0; i < 1000; i += 1) {
      register.find(`${i}`);
      register.find(`https://docs.test/${i}`);
      register.find(`nothing like this ${i}`);
    }
  });
  expect(took).toBeLessThan(20_000);
});

test('compares hosts case-insensitively, with or without a path', () => {
  const register = registerOf(
    chunk({ chunkId: 'a', title: 'One', url: 'https://docs.test', headings: [] }),
    chunk({ chunkId: 'b', title: 'Two', url: 'https://docs.test/Two', headings: [] }),
  );
  expect(refsOf(register, 'HTTPS://Docs.Test')).toEqual(['1']);
  expect(refsOf(register, 'https://DOCS.test/Two')).toEqual(['2']);
  expect(refsOf(register, 'https://docs.test/two')).toEqual([]);
});

test('finds a section by title and headings, even if the first heading repeats the title', () => {
  const register = registerOf(
    chunk({ chunkId: 'a', title: 'Topics', url: 'https://docs.test/a', headings: ['Topics', 'Quality'] }),
    chunk({ chunkId: 'b', title: 'Services', url: 'https://docs.test/b', headings: ['Calls', 'Timeouts'] }),
  );
  expect(refsOf(register, 'Topics > Quality')).toEqual(['1']);
  expect(refsOf(register, 'Services > Calls > Timeouts')).toEqual(['2']);
});
