import { findMarkers } from '../../citations/find-markers.ts';
import { saysNoInformation } from '../../domain/abstention.ts';
import type { RecordedTurn } from '../../ports/session-store.ts';
import type { Label } from './label.ts';

/**
 * The answers of a session that somebody judged, as labels: one that was called good as `supported`, a bad one as
 * `unsupported`, each with the passages it cites, or else all that its turn retrieved. What a person said of an
 * answer may have had other reasons than its sources, so these are drafts. Turns that nobody judged, that say that
 * there is no answer, or that rest on no passage give none.
 */
export function draftLabels(
  sessionId: string,
  turns: readonly RecordedTurn[],
  abstentionPhrases: readonly string[] = [],
): Label[] {
  const texts = new Map<string, string>();
  return turns.flatMap(({ turn, feedback }): Label[] => {
    const retrieved = turn.retrievals.flatMap(({ chunks }) => chunks);
    for (const { chunkId, text } of retrieved) texts.set(chunkId, text);
    const { answer, citations, turnNumber } = turn.response;
    if (feedback === null || saysNoInformation(answer, abstentionPhrases)) return [];
    // An answer may cite what an earlier turn brought.
    const cited = citations.flatMap(({ chunkId }) => texts.get(chunkId ?? '') ?? []);
    const documents = [...new Set(cited.length > 0 ? cited : retrieved.map(({ text }) => text))];
    const claim = withoutMarkers(answer);
    if (documents.length === 0 || claim === '') return [];
    return [
      {
        id: `${sessionId.slice(0, 8)}-${turnNumber}`,
        question: turn.userQuery,
        claim,
        documents,
        label: feedback.verdict === 'good' ? 'supported' : 'unsupported',
        source: 'feedback',
      },
    ];
  });
}

/** An answer as it is judged: what points at sources is no part of what is said. */
export function withoutMarkers(answer: string): string {
  let said = '';
  let at = 0;
  for (const { start, end, label } of findMarkers(answer)) {
    const before = answer.slice(at, start);
    said += label === null ? before.trimEnd() : before + label;
    at = end;
  }
  return (said + answer.slice(at)).trim();
}
