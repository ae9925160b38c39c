import { expect, test } from 'vitest';
import { blocksOf, parseSource } from './parse-source.ts';

const rst = (source: string) => parseSource('rst', source);
const textOf = async (source: string) => (await rst(source)).text;

test('title levels follow the order in which adornments appear', async () => {
  const document = await rst('=====\nTitle\n=====\n\nOne\n---\n\nDeep\n~~~~\n\nTwo\n---\n\n----\n\nText');
  expect(blocksOf(document)).toEqual([
    ['heading', 1, 'Title'],
    ['heading', 2, 'One'],
    ['heading', 3, 'Deep'],
    ['heading', 2, 'Two'],
    ['paragraph', 0, 'Text'],
  ]);
  expect(document.title).toBe('Title');
});

test('converts inline markup to text', async () => {
  const source =
    '*Emphasis*, **strong**, ``lit_eral *x*``, `a link <https://x.y>`_, `phrase`_, target_, no_target_, |name|, [1]_, ' +
    ':ref:`Shown <label>`, :class:`~pkg.mod.Foo`, :py:meth:`!bar`, :data:`.foo`, :pep:`8`, :code:`a b`, 2*3*4, \\*escaped\\*, r\\ un.\n\n' +
    '.. _target: https://x.y\n.. |name| replace:: The name\n';
  expect(await textOf(source)).toBe(
    'Emphasis, strong, lit_eral *x*, [a link](https://x.y), phrase, [target](https://x.y), no_target_, The name, [^1], ' +
      'Shown, Foo, bar, foo, PEP 8, a b, 2*3*4, *escaped*, run.',
  );
});

test('converts all kinds of lists to items', async () => {
  const source = `- one
  goes on

  second paragraph
- two

  * nested

3. three
4. four

A. Einstein was no
list item.

term : kind
    What it means.

:param a: The a.
:returns: Nothing.

-o FILE, --output FILE  Where to write.
--verbose               Say more.
`;
  expect(blocksOf(await rst(source))).toEqual([
    ['item', 1, '- one goes on'],
    ['paragraph', 0, 'second paragraph'],
    ['item', 1, '- two'],
    ['item', 2, '- nested'],
    ['item', 1, '3. three'],
    ['item', 1, '4. four'],
    ['paragraph', 0, 'A. Einstein was no list item.'],
    ['item', 1, '- term : kind: What it means.'],
    ['item', 1, '- param a: The a.'],
    ['item', 1, '- returns: Nothing.'],
    ['paragraph', 0, '-o FILE, --output FILE Where to write. --verbose Say more.'],
  ]);
});

test('keeps literal blocks, code directives and sessions verbatim', async () => {
  const source = `Example::

    def f():
        *pass*

    x

.. code-block:: python
   :caption: app.py

   print(1)

     more

>>> 1 + 1
2
`;
  expect(blocksOf(await rst(source))).toEqual([
    ['paragraph', 0, 'Example:'],
    ['code', 0, '```\ndef f():\n    *pass*\n\nx\n```'],
    ['paragraph', 0, 'app.py'],
    ['code', 0, '```python\nprint(1)\n\n  more\n```'],
    ['code', 0, '```python\n>>> 1 + 1\n2\n```'],
  ]);
});

test('converts directives to their content', async () => {
  const source = `.. note:: Begins here
   and goes on.

.. admonition:: My title

   Body.

.. versionadded:: 2.0
   The thing.

.. py:function:: foo(a, b)

   Does it.

.. image:: x.png
   :alt: An image

.. figure:: y.png

   Its caption.

.. unknown:: argument

   content

.. toctree::

   chapter

.. a comment
   that goes on

.. [1] A footnote.
`;
  expect(await textOf(source)).toBe(
    [
      'Note: Begins here and goes on.',
      'My title: Body.',
      'Added in version 2.0: The thing.',
      'foo(a, b)',
      'Does it.',
      'An image',
      'Its caption.',
      'argument',
      'content',
      '[^1]: A footnote.',
    ].join('\n\n'),
  );
});

test('converts grid, simple, list and CSV tables', async () => {
  const source = `+-------+-------+
| Head  | Two   |
+=======+=======+
| a     | b     |
| more  |       |
+-------+-------+
| Both columns  |
+-------+-------+

=====  =====
A      B
=====  =====
1      2
long   text
       more
=====  =====

.. list-table:: Caption

   * - h1
     - h2
   * - c1
     - c2

.. csv-table::
   :header: "a", b

   1, "x, y"
`;
  expect(blocksOf(await rst(source)).map(([, , text]) => text)).toEqual([
    '| Head | Two |\n| --- | --- |\n| a more | b |\n| Both columns |  |',
    '| A | B |\n| --- | --- |\n| 1 | 2 |\n| long | text more |',
    'Caption',
    '| h1 | h2 |\n| --- | --- |\n| c1 | c2 |',
    '| a | b |\n| --- | --- |\n| 1 | x, y |',
  ]);
});

test('reads fields at the beginning as metadata', async () => {
  const { metadata, text } = await rst(':orphan:\n:author: Ada\n  Lovelace\n\nText');
  expect(metadata).toEqual({ author: 'Ada Lovelace' });
  expect(text).toBe('Text');
});

test('keeps the lines of line blocks, and converts quotes to paragraphs', async () => {
  expect(await textOf('| one\n| two\n\n   Quoted.')).toBe('one\ntwo\n\nQuoted.');
});

test('keeps the text of malformed markup', async () => {
  const source =
    'Broken *emphasis and ``literal\n   unexpected indent\n\n+---+\n| a |\n\n=== ===\nb   c\n\n.. x::y\n';
  const { text } = await rst(source);
  for (const word of ['emphasis', 'literal', 'unexpected indent', 'a', 'b   c'.split(' ')[0] ?? '', 'c']) {
    expect(text).toContain(word);
  }
});

test('directives that only mark the section below are dropped', async () => {
  const source = `Text.

.. setting:: broker_url
.. signal:: Broker

\`\`broker_url\`\`: the broker
--------------------------

.. rubric:: Notes

Body.

.. control:: other

Next
----

.. state:: ON

=====
\`ON\`
=====
`;
  expect(blocksOf(await rst(source)).map(([, , text]) => text)).toEqual([
    'Text.',
    'broker_url: the broker',
    'Notes',
    'Body.',
    'other',
    'Next',
    'ON',
  ]);
});

test('references show the title of their target, or their label in words', async () => {
  const source =
    'See :ref:`conf-Broker`, :ref:`other-label`, :ref:`one <conf-broker>`.\n\n.. _conf-broker:\n.. _second:\n\n' +
    'The ``broker``\n==============\n\n:ref:`second`';
  expect(await textOf(source)).toBe('See The broker, other label, one.\n\nThe broker\n\nThe broker');
});

test('unknown versions are dropped with their field, and names of fields are text', async () => {
  const source = 'Title\n=====\n\n:Release: |version|\n:``name``: in |known|\n\n.. |known| replace:: now';
  expect(await textOf(source)).toBe('Title\n\n- name: in now');
});

test('pages that only show documentation of source code are empty', async () => {
  expect(await textOf('a.b\n===\n\n.. automodule:: a.b\n   :members:\n')).toBe('');
  const source =
    'a.b\n===\n\n.. automodule:: a\n\n   .. autoclass:: C\n\n      Text.\n\n   .. autofunction:: f\n';
  expect(await textOf(source)).toBe('a.b\n\nC\n\nText.');
});
