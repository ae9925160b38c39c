import type { ChunkStore } from '../ports/chunk-store.ts';
import { cutAtSentences } from '../text/split-sentences.ts';

/** Documents that are looked at in one go, spread over the collection: suggestions must not keep anybody waiting. */
const LOOKED_AT = 16;
/** How often others are looked at, as long as too few have told something. */
const ROUNDS = 4;
/** Of a large collection only the beginning is listed. */
const LISTED = 500;
const MAX_SUBJECT_WORDS = 4;

/** "A node is a process that …": what a text says a thing is. */
const DEFINITION =
  /^(?<subject>(?:(?:An?|The) )?[\p{L}\p{N}][\p{L}\p{N} .+#-]{1,40}?) (?<verb>is|are) (?:an?|the|one of the) \p{Ll}[^?]{8,}[.]$/u;
/** These words point at something that was said before, or label what follows: the sentence alone defines nothing. */
const POINTING =
  /^(?:[Ii]ts?|[Tt]h(?:is|at|ese|ose|ere|ey)|[HhSs]?[Hh]e|We|You|Here|What|Which|Who|One|Another|Each|All|Both|Some|Most|Many|And|But|So|Or|Then|If|As|At|By|On|With|When|While|Since|After|Before|From|To|In|For|Below|Above|Note|Tip|Info|Hint|Warning|Caution|Danger|Important|Example|The \p{Ll}+)\b|\b(?:above|below|here|following|this|that|these|those|it|its)\b/u;
/** A name that begins small without an article is one of code: `req`, `allowedNetworks`. */
const CODE_NAME = /^(?!(?:an?|the) )\p{Ll}/u;

/** "Create a package": a heading that says what to do tells how below it. */
const INSTRUCTION =
  /^(?:How to )?(?<verb>Add|Build|Check|Configure|Connect|Create|Customize|Declare|Define|Delete|Deploy|Disable|Enable|Generate|Get|Handle|Import|Install|Make|Manage|Migrate|Monitor|Override|Read|Remove|Return|Run|Send|Serve|Set|Set up|Start|Stop|Test|Update|Upgrade|Use|Validate|View|Write) (?<rest>[^?!.:]{4,60})$/i;

/** Signs of code, of paths and of titles: nobody says them. */
const UNSPOKEN = /[{}()<>=/\\;|$&"“”]|(?<!\p{L})'|'(?!\p{L})/u;
/** What lacks its object. */
const BROKEN_OFF = /\b(?:using|with|from|by|for|to|of|on|in|as|and|or)$/i;

/**
 * Questions that some of the documents answer, each from another document: what a thing is, how something is
 * done, or what they ask themselves.
 */
export async function suggestQuestions(
  store: Pick<ChunkStore, 'documents' | 'read'>,
  count = 3,
): Promise<string[]> {
  const uris: string[] = [];
  for await (const { uri } of store.documents()) if (uris.push(uri) >= LISTED) break;
  const step = Math.max(1, uris.length / LOOKED_AT);
  const unseen = new Set(uris);
  const found: string[] = [];
  for (let round = 0; round < ROUNDS && found.length < count; round += 1) {
    const chosen = Array.from(
      { length: LOOKED_AT },
      (_, at) => uris[Math.floor((at + round / ROUNDS) * step)],
    ).flatMap((uri) => (uri !== undefined && unseen.delete(uri) ? [uri] : []));
    for (const document of await store.read(chosen)) {
      const question = document.chunks
        .flatMap(({ text, headings }) => [headings.at(-1) ?? '', ...cutAtSentences(text).slice(0, 2)])
        .map(questionFrom)
        .find((each) => each !== null && !found.includes(each));
      if (question != null) found.push(question);
    }
  }
  // From all over the collection, not from its beginning.
  const apart = Math.max(1, found.length / count);
  return Array.from(
    { length: Math.min(count, found.length) },
    (_, at) => found[Math.floor(at * apart)] ?? '',
  );
}

/** What a heading asks or tells, or what a sentence answers; null if it is none of these. */
export function questionFrom(text: string): string | null {
  const line = text.replace(/[*_`]/g, '').replace(/\s+/g, ' ').trim();
  if (/^(?:how|what|why|when|where|which|who|can|does|is|are)\b.{8,80}\?$/i.test(line)) return line;
  const instruction = INSTRUCTION.exec(line)?.groups;
  if (instruction !== undefined) return taskFrom(line, instruction.verb ?? '', instruction.rest ?? '');
  const { subject, verb } = DEFINITION.exec(line)?.groups ?? {};
  if (subject === undefined || POINTING.test(subject) || CODE_NAME.test(subject)) return null;
  if (subject.split(' ').length > MAX_SUBJECT_WORDS) return null;
  const inside = /^(?:An?|The) /.test(subject) ? subject.charAt(0).toLowerCase() + subject.slice(1) : subject;
  return `What ${verb} ${inside}?`;
}

/** Two words are as often a name (Use Cases, Check Constraint) as something to do, and capitals alone are a statement. */
function taskFrom(line: string, verb: string, rest: string): string | null {
  const isName = !/^how to/i.test(line) && !rest.includes(' ');
  if (isName || line === line.toUpperCase() || UNSPOKEN.test(rest) || BROKEN_OFF.test(rest)) return null;
  return `How do I ${verb.toLowerCase()} ${rest}?`;
}
