import {
  type CheckedAnswer,
  checkAnswer,
  judgeAnswer,
  planUnfinishedAnswer,
  type SupportLookup,
} from '../citations/check-answer.ts';
import type { SourceRegister } from '../citations/source-register.ts';
import type { CheckedSentence } from '../domain/checked-sentence.ts';
import { isPassedCitation } from '../domain/citation.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import { type AnswerJudge, type ClaimSupport, combineChances } from '../judge/answer-judge.ts';
import type { TextRange } from '../text/markdown-blocks.ts';
import { type PassageUnit, splitPassageUnits } from '../text/passage-units.ts';

/** Opens the judge on first use; null if there is no encoder for it. */
export type FindJudge = () => Promise<AnswerJudge | null>;

/** More cited passages do not raise the probability that an answer answers. */
const MAX_COMBINED_PASSAGES = 2;

/** Whether some evidence of the answer overlaps a unit or the line that introduces it. */
function isUsed({ start, end, leadIn }: PassageUnit, evidence: readonly TextRange[]): boolean {
  const overlaps = (range: TextRange, other: TextRange) => range.start < other.end && other.start < range.end;
  return evidence.some(
    (each) => overlaps(each, { start, end }) || (leadIn !== null && overlaps(each, leadIn)),
  );
}

/** Checks the answer of one turn, and reads and judges ahead while the model writes. */
export interface TurnJudge {
  /** Starts to encode passages and questions. Returns at once and never fails. */
  readAhead(chunks: readonly RetrievedChunk[], questions: readonly string[]): void;
  /** Starts to judge the sentences of an unfinished answer. Returns at once and never fails. */
  judgeAlong(written: string, sources: SourceRegister): void;
  /** Checks an answer, by its words alone if there is no judge or it fails. Throws only if the signal is aborted. */
  check(answer: string, sources: SourceRegister): Promise<CheckedAnswer>;
  /** The calibrated probability that the cited evidence answers the question; null if it is unknown. */
  chanceOfAnswering(question: string, sentences: readonly CheckedSentence[]): Promise<number | null>;
}

/** An unfinished answer is judged again after this many characters, or after this share of its length. */
const NEW_CHARACTERS = 60;
const NEW_SHARE = 0.1;

export function createTurnJudge(findJudge: FindJudge, signal: AbortSignal): TurnJudge {
  let opening: Promise<AnswerJudge | null> | undefined;
  /** The first object of each passage: another search returns the same passage in another object. */
  const passages = new Map<string, RetrievedChunk>();
  /** Judged while the model was writing, by lookup key. */
  const judged = new Map<string, Promise<ClaimSupport>>();
  let queue = Promise.resolve();
  let isFinished = false;
  let judgedLength = 0;

  function open(): Promise<AnswerJudge | null> {
    opening ??= findJudge().catch(() => null);
    return opening;
  }

  function firstObject(chunk: RetrievedChunk): RetrievedChunk {
    const key = `${chunk.chunkId} ${chunk.contentHash}`;
    const first = passages.get(key) ?? chunk;
    passages.set(key, first);
    return first;
  }

  /** Runs work one after the other, so that the offline model, which uses the judge too, waits for one passage at most. */
  function enqueue(work: (judge: AnswerJudge) => Promise<unknown>): void {
    const next = queue.then(async () => {
      const judge = isFinished || signal.aborted ? null : await open();
      if (judge !== null) await work(judge);
    });
    queue = next.catch(() => {});
  }

  async function lookUp(judge: AnswerJudge, { text, chunks }: SupportLookup): Promise<ClaimSupport> {
    const known = chunks.map(firstObject);
    const support = await judge.checkSupport(text, known, signal);
    const chunk = chunks.find((_, index) => known[index] === support.evidence?.passage);
    return {
      ...support,
      evidence: support.evidence && chunk ? { ...support.evidence, passage: chunk } : null,
    };
  }

  async function check(answer: string, sources: SourceRegister): Promise<CheckedAnswer> {
    isFinished = true;
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
      for (const chunk of chunks) enqueue((judge) => judge.encode([firstObject(chunk)], signal));
      for (const text of questions)
        enqueue((judge) => judge.encode([{ text, title: '', headings: [] }], signal));
    },
    judgeAlong(written, sources) {
      if (written.length < judgedLength) judgedLength = 0;
      if (written.length < judgedLength + Math.max(NEW_CHARACTERS, judgedLength * NEW_SHARE)) return;
      judgedLength = written.length;
      enqueue(async (judge) => {
        for (const lookup of planUnfinishedAnswer(written, sources)) {
          if (judged.has(lookup.key)) continue;
          const judging = lookUp(judge, lookup);
          judged.set(lookup.key, judging);
          await judging;
          if (isFinished) return;
        }
      });
    },
    check,
    async chanceOfAnswering(question, sentences) {
      const judge = await open();
      if (judge === null) return null;
      const cited = Map.groupBy(
        sentences.flatMap(({ verdict, evidence }) =>
          evidence !== null && isPassedCitation({ verdict }) ? [evidence] : [],
        ),
        ({ chunkId }) => chunkId,
      );
      const found = [...passages.values()].map((passage) => {
        const evidence = cited.get(passage.chunkId);
        const units = splitPassageUnits(passage.text);
        return {
          ...{ passage, rank: passage.rank, score: passage.score },
          units: evidence === undefined ? units : units.filter((unit) => isUsed(unit, evidence)),
        };
      });
      const isCited = (index: number) => cited.has(found[index]?.passage.chunkId ?? '');
      if (!found.some((_, index) => isCited(index))) return null;
      try {
        const ratings = await judge.ratePassages(question, found, signal);
        const ofCited = ratings.filter((_, index) => isCited(index)).map(({ chance }) => chance);
        ofCited.sort((a, b) => b - a);
        return combineChances(ofCited.slice(0, MAX_COMBINED_PASSAGES));
      } catch {
        signal.throwIfAborted();
        return null;
      }
    },
  };
}
