import type { App } from '../../app/create-app.ts';
import { citationPassed } from '../../domain/citation.ts';
import type { JudgeName, Ruling } from '../../evaluation/calibration/calibration-data.ts';
import { withoutMarkers } from '../../evaluation/calibration/draft-labels.ts';
import type { Label } from '../../evaluation/calibration/label.ts';
import { judgeAnswer } from '../../evaluation/run/judge.ts';
import { checkClaim } from '../../judge/check-claim.ts';
import { createJudge } from '../../judge/create-judge.ts';
import type { JudgedPassage } from '../../judge/unit.ts';
import { openAsking } from './open-arms.ts';

/** A judge that can be held against labels. */
export interface OpenJudge {
  name: JudgeName;
  description: string;
  /** Null if it could not be made to say anything. */
  rule(label: Label, signal: AbortSignal): Promise<Ruling | null>;
}

/** A claim of which a model finds more than this borne out counts as supported. */
const MODEL_BAR = 0.5;

/** The judges there are: the check where its encoder is on the machine, words alone, and a model where it is asked for. */
export async function openJudges(app: App, times: number | undefined): Promise<OpenJudge[]> {
  const check = await openCheck(app);
  const model = times === undefined ? null : await openModel(app, times);
  return [...(check === null ? [] : [check]), words, ...(model === null ? [] : [model])];
}

async function openCheck(app: App): Promise<OpenJudge | null> {
  // A hosted embedder gives one vector a text, and is not to be paid for nothing.
  if (!['minilm', 'onnx'].includes(app.config.embedding.embedder)) return null;
  // Whoever is first says that it is for many texts.
  await app.embedder({ bulk: true });
  const encoder = await app.encoder();
  if (encoder === null) return null;
  const judge = createJudge(encoder);
  // Labels on the same texts often follow each other, and a passage is read once.
  let before = new Map<string, JudgedPassage>();
  return {
    name: 'check',
    description: `the check of citations, with ${encoder.id}`,
    async rule({ claim, documents }, signal) {
      before = new Map(documents.map((text) => [text, before.get(text) ?? passageOf(text)]));
      const { verdict, chance, objections } = await judge.support(
        spoken(claim),
        [...before.values()],
        signal,
      );
      return {
        verdict,
        supported: citationPassed({ verdict }),
        chance,
        reason: objections.join(', '),
      };
    },
  };
}

const words: OpenJudge = {
  name: 'words',
  description: 'the check of citations by words alone, as it is without the encoder',
  async rule({ claim, documents }) {
    const { verdict, objection } = checkClaim(spoken(claim), passageOf(documents.join('\n\n')));
    return { verdict, supported: citationPassed({ verdict }), chance: null, reason: objection ?? '' };
  },
};

async function openModel(app: App, times: number): Promise<OpenJudge> {
  const ask = await openAsking(app);
  return {
    name: 'model',
    description: `${app.config.agent.model}, asked ${times === 1 ? 'once' : `${times} times`} a label`,
    async rule({ question, claim, documents }, signal) {
      const judged = await judgeAnswer(
        { question, answer: spoken(claim) },
        documents,
        { ask, times },
        signal,
      );
      if (judged.scores.length === 0) return null;
      const score = judged.scores.reduce((sum, one) => sum + one, 0) / judged.scores.length;
      const supported = score > MODEL_BAR;
      return {
        verdict: supported ? 'supported' : 'unsupported',
        supported,
        chance: score,
        reason: judged.reason,
      };
    },
  };
}

/** What points at sources is taken off, as it is from the sentences of an answer. */
function spoken(claim: string): string {
  return withoutMarkers(claim) || claim;
}

function passageOf(text: string): JudgedPassage {
  return { text, title: '', headings: [] };
}
