import { expect, test } from 'vitest';
import { CLOSEST_PASSAGES_OPENING } from '../../src/domain/abstention.ts';
import { shortenClosestPassages } from '../../src/domain/closest-passages.ts';

const FILLER = 'Rain falls on the roof of the station, and nobody minds. '.repeat(14).trim();
const SHORT = '### Timeouts › Notes\n\nA timeout is given in milliseconds. [2]';

const passages = (...sections: string[]) => [CLOSEST_PASSAGES_OPENING, ...sections].join('\n\n');

test('shortens a long passage to the part nearest to the question, and keeps its marker', () => {
  const long = `### Ports › Choosing\n\nWelcome to the harbour. ${FILLER} The port is chosen with the flag called listen. ${FILLER} [1]`;
  const { text, truncatedMarkers } = shortenClosestPassages(
    passages(long, SHORT),
    'Which flag chooses the port?',
  );
  expect(truncatedMarkers).toEqual(['1']);
  expect(text.length).toBeLessThan(800);
  expect(text).toMatch(/^No clear answer[^\n]+\n\n### Ports › Choosing\n\n/);
  expect(text).toContain('The port is chosen with the flag called listen.');
  expect(text).toMatch(
    /\n\n… Rain falls[^\n]* … \[1\]\n\n### Timeouts › Notes\n\nA timeout is given in milliseconds\. \[2\]$/,
  );
});

test('closes a cut code block and puts the marker below it', () => {
  const code = `\`\`\`ts\n${'app.get(path, (c) => c.text(ok))\n'.repeat(20)}\`\`\``;
  const { text, truncatedMarkers } = shortenClosestPassages(
    passages(`### Routing\n\n${code}\n\n[1]`, SHORT),
    'routing',
  );
  expect(truncatedMarkers).toEqual(['1']);
  expect(text).toMatch(/\n```\n\n… \[1\]\n\n### Timeouts/);
  expect(text.split('\n').length).toBeLessThan(20);
});

test('puts the marker below a cut table', () => {
  const rows = Array.from({ length: 30 }, (_, row) => `| key ${row} | what it does |`).join('\n');
  const { text } = shortenClosestPassages(
    passages(`### Keys\n\n| key | use |\n| --- | --- |\n${rows}\n\n[1]`),
    'key',
  );
  expect(text).toMatch(/\|\n\n… \[1\]$/);
});

test('removes trailing headings, and passages that have nothing else', () => {
  const bare = '### Reference › Types\n\nEvent Types';
  const led = '### Ports\n\nA port is chosen so: [1]\n\n```sh\nserve --port 80\n```';
  expect(shortenClosestPassages(passages(bare, led, `${SHORT}\n\nSee also`), 'ports')).toEqual({
    text: passages(led, SHORT),
    truncatedMarkers: [],
  });
  expect(shortenClosestPassages(passages(bare), 'types')).toEqual({
    text: passages(bare),
    truncatedMarkers: [],
  });
});

test('shortens a long passage that ends in code or a heading', () => {
  const long = `### Ports\n\n${FILLER} ${FILLER} The port is chosen so: [1]\n\n\`\`\`sh\nserve --port 80\n\`\`\`\n\nHosts`;
  const { text, truncatedMarkers } = shortenClosestPassages(passages(long), 'How is the port chosen?');
  expect(truncatedMarkers).toEqual(['1']);
  expect(text).toContain('The port is chosen so:');
  expect(text).not.toContain('Hosts');
  expect(text.length).toBeLessThan(700);
});

test('leaves answers and short passages unchanged', () => {
  const answer = `### Ports\n\n${FILLER} [1]`;
  expect(shortenClosestPassages(answer, 'ports')).toEqual({ text: answer, truncatedMarkers: [] });
  expect(shortenClosestPassages(passages(SHORT), 'timeouts')).toEqual({
    text: passages(SHORT),
    truncatedMarkers: [],
  });
});
