import {
  type CheckedAnswer,
  checkAnswer,
  judgeAnswer,
  planUnfinished,
  type SupportLookup,
} from '../citations/check-answer.ts';
import type { SourceRegister } from '../citations/source-register.ts';
import type { CheckedSentence } from '../domain/checked-sentence.ts';
import { citationPassed } from '../domain/citation.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import { chanceOfAny, type Judge, type Support } from '../judge/create-judge.ts';
import type { Unit } from '../judge/unit.ts';
import type { Range } from '../text/markdown-blocks.ts';
import { passageUnits } from '../text/passage-units.ts';

/** The judge of this machine; null where there is no encoder for it. Opened when it is first asked for. */
export type FindJudge = () => Promise<Judge | null>;

/** An answer that cites more passages is no likelier to answer. */
const MOST_JOINED = 2;

/** Whether an answer tells a unit: what bears it out is in it, or leads in to it. Without an answer, each is told. */
function isTold({ start, end, leadIn }: Unit, bearing: readonly Range[] | undefined): boolean {
  const meets = (range: Range, other: Range) => range.start < other.end && other.start < range.end;
  if (bearing === undefined) return true;
  return bearing.some((one) => meets(one, { start, end }) || (leadIn !== null && meets(one, leadIn)));
}

/** The judge in one turn. */
export interface TurnJudge {
  /** Begins to read what was found and what is asked, while the model writes. Returns at once and never fails. */
  readAhead(chunks: readonly RetrievedChunk[], questions: readonly string[]): void;
  /** Begins to judge the sentences of an answer as far as it is written. Returns at once and never fails. */
  judgeAlong(written: string, sources: SourceRegister): void;
  /** Checks an answer; by words alone without a judge, or if that fails. Throws only when the signal is raised. */
  check(answer: string, sources: SourceRegister): Promise<CheckedAnswer>;
  /** The calibrated chance that what bears the sentences out answers the question; null where nobody can tell. */
  chanceOfAnswering(question: string, sentences: readonly CheckedSentence[]): Promise<number | null>;
}

/** How much more must be written before it is looked at again: so many characters, or this share of what there is. */
const MORE_CHARACTERS = 60;
const MORE_SHARE = 0.1;

export function createTurnJudge(findJudge: FindJudge, signal: AbortSignal): TurnJudge {
  let opening: Promise<Judge | null> | undefined;
  /** Every passage as it came first: another search brings the same in another object, and it is read once. */
  const passages = new Map<string, RetrievedChunk>();
  /** What was judged while the answer was written. */
  const judged = new Map<string, Promise<Support>>();
  let ahead = Promise.resolve();
  let isWritten = false;
  let lookedAt = 0;

  function open(): Promise<Judge | null> {
    opening ??= findJudge().catch(() => null);
    return opening;
  }

  function passageOf(chunk: RetrievedChunk): RetrievedChunk {
    const key = `${chunk.chunkId} ${chunk.contentHash}`;
    const first = passages.get(key) ?? chunk;
    passages.set(key, first);
    return first;
  }

  /** One thing after the other, so that a model that needs the judge itself waits for one passage at most. */
  function doAhead(work: (judge: Judge) => Promise<unknown>): void {
    ahead = ahead.then(async () => {
      const judge = isWritten || signal.aborted ? null : await open();
      if (judge !== null) await work(judge);
    });
    ahead = ahead.catch(() => {});
  }

  async function lookUp(judge: Judge, { text, chunks }: SupportLookup): Promise<Support> {
    const known = chunks.map(passageOf);
    const support = await judge.support(text, known, signal);
    const chunk = chunks.find((_, index) => known[index] === support.evidence?.passage);
    return {
      ...support,
      evidence: support.evidence && chunk ? { ...support.evidence, passage: chunk } : null,
    };
  }

  async function check(answer: string, sources: SourceRegister): Promise<CheckedAnswer> {
    isWritten = true;
    const judge = await open();
    if (judge === null) return checkAnswer(answer, sources);
    try {
      return await judgeAnswer(answer, sources, (lookup) => judged.get(lookup.key) ?? lookUp(judge, lookup));
    } catch {
      signal.throwIfAborted();
      return checkAnswer(answer, sources);
    }
  }

  return {
    readAhead(chunks, questions) {
      for (const chunk of chunks) doAhead((judge) => judge.read([passageOf(chunk)], signal));
      for (const text of questions)
        doAhead((judge) => judge.read([{ text, title: '', headings: [] }], signal));
    },
    judgeAlong(written, sources) {
      if (written.length < lookedAt) lookedAt = 0;
      if (written.length < lookedAt + Math.max(MORE_CHARACTERS, lookedAt * MORE_SHARE)) return;
      lookedAt = written.length;
      doAhead(async (judge) => {
        for (const lookup of planUnfinished(written, sources)) {
          if (judged.has(lookup.key)) continue;
          const judging = lookUp(judge, lookup);
          judged.set(lookup.key, judging);
          await judging;
          if (isWritten) return;
        }
      });
    },
    check,
    async chanceOfAnswering(question, sentences) {
      const judge = await open();
      if (judge === null) return null;
      const cited = Map.groupBy(
        sentences.flatMap(({ verdict, evidence }) =>
          evidence !== null && citationPassed({ verdict }) ? [evidence] : [],
        ),
        ({ chunkId }) => chunkId,
      );
      const found = [...passages.values()].map((chunk) => {
        const bearing = cited.get(chunk.chunkId);
        const units = passageUnits(chunk.text).map((unit): Unit => ({ ...unit, passage: chunk }));
        return {
          chunk,
          isCited: bearing !== undefined,
          units: units.filter((unit) => isTold(unit, bearing)),
        };
      });
      if (!found.some(({ isCited }) => isCited)) return null;
      try {
        const judged = found.map(({ chunk, units }) => ({
          passage: chunk,
          rank: chunk.rank,
          score: chunk.score,
          units,
        }));
        const chances = await judge.passages(question, judged, signal);
        const ofCited = chances.filter((_, index) => found[index]?.isCited).sort((a, b) => b - a);
        return chanceOfAny(ofCited.slice(0, MOST_JOINED));
      } catch {
        signal.throwIfAborted();
        return null;
      }
    },
  };
}
