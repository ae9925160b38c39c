import { expect, test } from 'vitest';
import { blocksOf, parseSource } from './parse-source.ts';

test('parses sections, code, tables, lists and notes of AsciiDoc without including files', async () => {
  const source = `= Pump
:part: seal

Oil the {part} *monthly*.

include::${import.meta.filename}[]

== Safety [[safe]]

NOTE: Wear gloves.

[source,python]
----
run() # <1>
----
<1> Starts it

|===
|A |B

|1 |2
|===

term:: its meaning

Next:

* one
** two
`;
  const document = await parseSource('asciidoc', source);
  expect(document.title).toBe('Pump');
  expect(blocksOf(document).filter(([, , text]) => !text.includes('asciidoc.test'))).toEqual([
    ['heading', 1, 'Pump'],
    ['paragraph', 0, 'Oil the seal monthly.'],
    ['heading', 2, 'Safety'],
    ['paragraph', 0, 'Note: Wear gloves.'],
    ['code', 0, '```python\nrun() # (1)\n```'],
    ['item', 1, '1. Starts it'],
    ['table', 0, '| A | B |\n| --- | --- |\n| 1 | 2 |'],
    ['item', 1, '- term: its meaning'],
    ['paragraph', 0, 'Next:'],
    ['item', 1, '- one'],
    ['item', 2, '- two'],
  ]);
  expect(document.text).not.toContain('vitest');
});

test('limits attributes that expand endlessly', async () => {
  const lines = Array.from({ length: 30 }, (_, index) => `:a${index + 1}: {a${index}}{a${index}}`);
  const { text } = await parseSource('asciidoc', `= T\n:a0: xxxxxxxx\n${lines.join('\n')}\n\n{a30}\n`);
  expect(text.length).toBeLessThan(10_000);
});
