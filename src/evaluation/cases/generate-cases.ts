import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import { splitSentences } from '../../text/split-sentences.ts';
import { oneLine } from '../../text/visible-text.ts';
import { createRandomIndex } from '../statistics/random.ts';
import { inTurns, PRONOUN } from './draft-cases.ts';
import type { EvaluationCase } from './evaluation-case.ts';
import { sourceSuffix } from './expected-source.ts';
import { actionOf, questionOfCell } from './word-questions.ts';

export type SourceChunk = Pick<RetrievedChunk, 'text' | 'url' | 'title' | 'headings'>;

/** What a question was made of. */
export type GeneratedKind =
  | 'definition'
  | 'number'
  | 'command'
  | 'table'
  | 'heading'
  | 'follow-up'
  | 'unanswerable';

/** A question with the very words that answer it, before anybody has verified it. */
export interface Candidate {
  kind: GeneratedKind;
  question: string;
  /** The same without what was said before. */
  standalone: string;
  history: { user: string; assistant: string } | null;
  /** What the answer must hold, and the sentence, row or block that it stands in. */
  span: string;
  evidence: string;
  chunk: SourceChunk;
  /** Only documents with these titles are searched: those without the answer. */
  without: string[] | null;
}

const SUBJECT =
  '(?:(?:[Tt]he|[Aa]n?) )?((?:[\\p{L}\\p{N}`][\\p{L}\\p{N}`.+/-]*)(?: [\\p{L}\\p{N}`.+/-]+){0,4}?)';
const DEFINITION = new RegExp(`^${SUBJECT} (is|are) ((?:an?|the) .{20,})$`, 'iu');
/** Verbs that say how many of something there are. */
const COUNTING =
  'has|have|takes?|needs?|holds?|uses?|carr(?:y|ies)|weighs?|lasts?|contains?|measures?|costs?|requires?|provides?|offers?|supports?|draws?|stores?|allows?|sends?|receives?';
const ABOUT = '(?:at most |at least |about |up to |exactly |only )?';
const UNIT =
  '(\\p{Ll}[\\p{Ll}-]{2,}(?: (?!(?:per|of|and|or|in|to|for|from|with|at|on|by)\\b)\\p{Ll}[\\p{Ll}-]+)?)';
const NUMBER = new RegExp(`^${SUBJECT} (${COUNTING}) ${ABOUT}(\\d[\\d.,]*) ${UNIT}`, 'u');
const ITS_NUMBER = new RegExp(`^It (${COUNTING}) ${ABOUT}(\\d[\\d.,]*) ${UNIT}`, 'u');
/** What is said of it next. */
const ITS_DEED =
  /^It (?:also |then )?(?!is\b|was\b|has\b|does\b)([a-z]+[^s\W]s) ((?!\d|(?:of|on|to|from|in|with|at|for|by|that|as)\b).{15,})$/;
/** A subject that points at what stands around it is a question to nobody. */
const POINTING =
  /\b(?:below|above|following|previous|next|same|other|first|second|last|result|example|that|which|and|primary|main|semantics|parameters|rest|edges)\b/i;
/** What opens a clause, or does something, is no thing to ask for. */
const NO_THING =
  /^(?:while|although|because|since|once|until|unless|however|note|also|even|\p{L}+ing \p{L}+)\b/iu;
/** What is said of a thing without telling what it is. */
const NO_DEFINITION = /^(?:the same|the \w+est,|an? (?:good|great|core|useful|nice|common) )/i;
/** Commands that only lead to the one that counts. */
const BESIDE_THE_POINT = /^(?:cd|source|export|echo|mkdir|ls|cat|set)\b/;
const CELLS_OF_A_TABLE = 2;
/** A program with what it is told, as it is typed; no output, no flag of the line before. */
const COMMAND = /^[a-z][\w./+-]* \S*[a-z]/;
const PROMPT = /^\s*[$>]\s+/;
const SHELL = /```(?:bash|sh|shell|console)\n([\s\S]*?)```/g;
const SHORTEST_SENTENCE = 5;
const LONGEST_CELL = 60;
/** Documents that are left to a question whose own is taken away. */
const MOST_LEFT = 8;

/**
 * Questions made of a collection without a model, each with the words that answer it: definitions, numbers, commands,
 * rows of tables and headings, follow-ups that refer to what was just said, and questions whose document is taken
 * away. Kinds take turns, and so do documents; the same for the same seed.
 */
export function generateCandidates(chunks: readonly SourceChunk[], seed: number): Candidate[] {
  const random = createRandomIndex(seed);
  const titles = [...new Set(chunks.map(({ title }) => title))];
  const byKind = new Map<GeneratedKind, Candidate[]>();
  const add = (candidate: Candidate) =>
    byKind.set(candidate.kind, [...(byKind.get(candidate.kind) ?? []), candidate]);
  for (const chunk of inTurns(chunks, random)) candidatesIn(chunk).forEach(add);
  // What others answer as well does not become unanswerable by taking one away.
  for (const one of [...(byKind.get('definition') ?? []), ...(byKind.get('number') ?? [])]) {
    const left = titles.filter((title) => title !== one.chunk.title);
    if (left.length === 0) continue;
    const from = random(left.length);
    const without = [...left.slice(from), ...left.slice(0, from)].slice(0, MOST_LEFT);
    add({ ...one, kind: 'unanswerable', without });
  }
  return takingTurns([...byKind.values()]);
}

/** A candidate as a case for a person to edit. */
export function asCase(
  { kind, question, history, span, evidence, chunk, without }: Candidate,
  number: number,
): EvaluationCase {
  const common = {
    id: `generated-${String(number).padStart(3, '0')}`,
    question,
    needsRetrieval: true,
    tags: ['generated', kind],
    note: oneLine(`Generated from ${[chunk.title, ...chunk.headings].join(' > ')}: ${evidence}`, 300),
  };
  if (without !== null) return { ...common, answerable: false, filter: { title: without } };
  return {
    ...common,
    ...(history !== null && {
      history: [
        { role: 'user' as const, content: history.user },
        { role: 'assistant' as const, content: history.assistant },
      ],
    }),
    expectedSources: [sourceSuffix(chunk.url)],
    expectedPhrases: [span],
    answerable: true,
  };
}

function candidatesIn(chunk: SourceChunk): Candidate[] {
  const sentences = splitSentences(chunk.text)
    .filter(({ heading }) => !heading)
    .map(({ start, end }) => chunk.text.slice(start, end).replace(/\s+/g, ' ').trim())
    .filter((sentence) => /[.!]$/.test(sentence) && sentence.split(' ').length >= SHORTEST_SENTENCE);
  const make = (kind: GeneratedKind, question: string, span: string, evidence: string): Candidate => ({
    kind,
    question,
    standalone: question,
    history: null,
    span,
    evidence,
    chunk,
    without: null,
  });
  const found = sentences.flatMap((sentence, index): Candidate[] => {
    const [, subject = '', verb = '', rest = ''] = DEFINITION.exec(sentence) ?? [];
    const article = (/^(?:the|an?) /i.exec(sentence)?.[0] ?? '').toLowerCase();
    // "The status is a number" is said of one that was spoken of before.
    const isKnown = article !== 'the ' || subject.includes(' ');
    const isThing = !PRONOUN.test(subject) && !POINTING.test(subject) && !NO_THING.test(subject);
    if (subject !== '' && isKnown && isThing && !NO_DEFINITION.test(rest)) {
      const user = `What ${verb} ${article}${subject}?`;
      const own = make('definition', user, firstWords(rest), sentence);
      const next = followUp(`${article}${subject}`, sentences[index + 1] ?? '');
      if (next === null) return [own];
      const { question, standalone, span, evidence } = next;
      const history = { user, assistant: sentence };
      return [own, { ...make('follow-up', question, span, evidence), history, standalone }];
    }
    const [, who = '', does = '', count = '', unit = ''] = NUMBER.exec(sentence) ?? [];
    if (who === '' || PRONOUN.test(who) || POINTING.test(who) || NO_THING.test(who)) return [];
    const question = `How many ${unit} ${/s$/.test(does) ? 'does' : 'do'} ${article}${who} ${baseForm(does)}?`;
    return [make('number', question, `${count} ${unit}`, sentence)];
  });
  return [
    ...found,
    ...commandsIn(chunk, make),
    ...cellsIn(chunk, make),
    ...headingIn(chunk, sentences, make),
  ];
}

/** What is asked next by somebody who has just been told what a thing is; null where the text says nothing of it. */
function followUp(subject: string, next: string) {
  const [, counts = '', count = '', unit = ''] = ITS_NUMBER.exec(next) ?? [];
  const [, does = '', what = ''] = ITS_DEED.exec(next) ?? [];
  const asked = (whom: string) =>
    count !== ''
      ? `How many ${unit} does ${whom} ${baseForm(counts)}?`
      : `What does ${whom} ${baseForm(does)}?`;
  if (count === '' && does === '') return null;
  const span = count === '' ? firstWords(what) : `${count} ${unit}`;
  return { question: asked('it'), standalone: asked(subject), span, evidence: next };
}

type Make = (kind: GeneratedKind, question: string, span: string, evidence: string) => Candidate;

/** The one command of a block, asked for by what its heading says is done. */
function commandsIn({ text, headings }: SourceChunk, make: Make): Candidate[] {
  const action = actionOf(headings.at(-1) ?? '');
  const [block] = text.matchAll(SHELL);
  const lines = (block?.[1] ?? '').split('\n');
  // Where some lines have a prompt, the others are what came of them.
  const isPrompted = lines.some((line) => PROMPT.test(line));
  const commands = lines
    .filter((line, index) => (!isPrompted || PROMPT.test(line)) && !/\\\s*$/.test(lines[index - 1] ?? ''))
    .map((line) =>
      line
        .replace(PROMPT, '')
        .replace(/\s+#.*$/, '')
        .trim(),
    )
    .filter((line) => COMMAND.test(line) && !BESIDE_THE_POINT.test(line));
  const [command] = commands;
  // What is used is no command yet.
  if (action === null || action.startsWith('use ') || command === undefined || commands.length > 1) return [];
  if (/(?:\\|\.{3})$/.test(command)) return [];
  return [make('command', `What is the command to ${oneLine(action, 80)}?`, command, block?.[0] ?? '')];
}

/** A cell of a table, asked for by its row and its column. */
function cellsIn({ text }: SourceChunk, make: Make): Candidate[] {
  const rows = text.split('\n').filter((line) => /^\s*\|.*\|\s*$/.test(line));
  const cells = (row: string) =>
    row
      .trim()
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
  const [head, rule, ...body] = rows.map(cells);
  if (head === undefined || rule?.every((cell) => /^:?-+:?$/.test(cell)) !== true) return [];
  const candidates = body.flatMap((row, index): Candidate[] => {
    const column = 1 + (index % Math.max(1, head.length - 1));
    const [key = '', name = '', value = ''] = [row[0], head[column], row[column]];
    const isPlain = [key, name, value].every((cell) => cell !== '' && cell.length <= LONGEST_CELL);
    // Where two rows read alike the question has two answers.
    const isOnly = body.filter((other) => other[0] === key).length === 1;
    if (!isPlain || !isOnly || row.length !== head.length) return [];
    const question = questionOfCell(name, key, value);
    return question === null ? [] : [make('table', question, value.replace(/`/g, ''), rows[index + 2] ?? '')];
  });
  return candidates.slice(0, CELLS_OF_A_TABLE);
}

function headingIn({ headings, title }: SourceChunk, [first]: readonly string[], make: Make): Candidate[] {
  const heading = oneLine(headings.at(-1) ?? '', 80).replace(/^[\d.]+\s+/, '');
  // A row of a table is no sentence.
  const says = first !== undefined && !PRONOUN.test(first) && !first.includes('|');
  if (heading === '' || heading === title || !says) return [];
  const action = actionOf(heading);
  const question = heading.endsWith('?') ? heading : action === null ? null : `How do I ${action}?`;
  return question === null ? [] : [make('heading', question, firstWords(first), first)];
}

const PHRASE_WORDS = 6;

function firstWords(text: string): string {
  return text
    .split(' ')
    .slice(0, PHRASE_WORDS)
    .join(' ')
    .replace(/[\s.,;:!?]+$/, '');
}

/** carries to carry, passes to pass, has to have, needs to need. */
function baseForm(verb: string): string {
  const lower = verb.toLowerCase();
  if (lower === 'has') return 'have';
  if (/(?:ss|x|zz|ch|sh|o)es$/.test(lower)) return lower.slice(0, -2);
  if (/[^aeiou]ies$/.test(lower)) return `${lower.slice(0, -3)}y`;
  return /[^s]s$/.test(lower) ? lower.slice(0, -1) : lower;
}

/** One of each list in turn, no question twice among those that can be answered. */
function takingTurns(lists: readonly (readonly Candidate[])[]): Candidate[] {
  const seen = new Set<string>();
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, round) => lists.flatMap((list) => list[round] ?? []))
    .flat()
    .filter(({ question, history, without }) => {
      const key = JSON.stringify([question.toLowerCase(), history, without === null]);
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
}
