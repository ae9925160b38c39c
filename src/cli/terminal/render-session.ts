import type { CitationFates } from '../../agent/stale-citations.ts';
import { type ConcernedAnswer, isStale } from '../../app/sessions.ts';
import type { AgentResponse } from '../../domain/agent-response.ts';
import { type ConversationSession, sessionTotals } from '../../domain/conversation-session.ts';
import type { Feedback, RecordedTurn, SessionSummary } from '../../ports/session-store.ts';
import type { Fate } from '../../retrieval/chunk-changes.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import { renderMarkdown } from './markdown-stream.ts';
import { markdownFooter, renderFooter } from './render-answer.ts';
import { table } from './table.ts';
import { type Terminal, wrapWidth } from './terminal.ts';
import { renderText } from './wrapping.ts';

const SHORT_ID = 8;
const MAX_TITLE = 60;

export function renderSessionList(terminal: Terminal, sessions: readonly SessionSummary[]): void {
  const hasUsers = sessions.some(({ user }) => user !== null);
  const rows = sessions.map((session) => [
    session.sessionId.slice(0, SHORT_ID),
    minute(session.updatedAt),
    String(session.turnCount),
    oneLine(session.model, 30),
    oneLine(session.collection, 30),
    ...(hasUsers ? [oneLine(session.user ?? '', 20)] : []),
    oneLine(session.title ?? '(no question yet)', MAX_TITLE),
  ]);
  const user = hasUsers ? ['user'] : [];
  terminal.write(
    table(terminal, ['id', 'updated (UTC)', 'turns', 'model', 'collection', ...user, 'first question'], rows),
  );
}

/** A turn of an old session that was searched for. */
export interface FoundTurn {
  sessionId: string;
  updatedAt: string;
  turn: number;
  question: string;
  answer: string;
}

export function renderFoundTurns(terminal: Terminal, found: readonly FoundTurn[]): void {
  if (found.length === 0) return void terminal.write('No question or answer holds all of these words.\n');
  for (const { sessionId, updatedAt, turn, question, answer } of found) {
    const id = terminal.text(`${sessionId.slice(0, SHORT_ID)}, turn ${turn}`, 'bold');
    terminal.write(`${id}  ${terminal.text(`${minute(updatedAt)} UTC`, 'dim')}\n`);
    renderText(terminal, oneLine(question, 200));
    renderText(terminal, oneLine(answer, 200), { indent: '  ' });
    terminal.write('\n');
  }
  renderText(terminal, 'Go on with one: citeloop chat --session <id>', { style: 'dim' });
}

/** Answers whose sources are no longer what or where they were, the sources with what became of them. */
export function renderConcernedAnswers(terminal: Terminal, answers: readonly ConcernedAnswer[]): void {
  if (answers.length === 0) return void terminal.write('Every source that is cited says what it said.\n');
  for (const { sessionId, turn, question, sources } of answers) {
    terminal.write(`${terminal.text(`${sessionId.slice(0, SHORT_ID)}, turn ${turn}`, 'bold')}\n`);
    renderText(terminal, oneLine(question, 200));
    for (const source of sources) renderFate(terminal, source, source, '  ');
  }
  const advice = answers.some(isStale)
    ? 'Ask anew: citeloop sessions fork <id> --turn <turn>'
    : 'Nothing says something else: what moved still bears its answers out.';
  renderText(terminal, advice, { style: 'dim' });
}

interface ShownSession {
  session: ConversationSession;
  user: string | null;
  turns: readonly RecordedTurn[];
  /** What became of the sources, turn by turn. */
  fates: readonly CitationFates[];
}

/** Prints a conversation for a person, with what became of its sources since. */
export function renderSession(terminal: Terminal, { session, user, turns, fates }: ShownSession): void {
  const { turnCount, retrievalCount, totalTokensUsed } = sessionTotals(session);
  const about = [
    `collection ${session.collection}`,
    `model ${session.model}`,
    `policy ${session.policy}`,
    ...(user === null ? [] : [`user ${user}`]),
    `made ${minute(session.createdAt)} UTC`,
    ...(session.status === 'completed' ? ['completed'] : []),
    `turns ${turnCount}, searches ${retrievalCount}, tokens ${totalTokensUsed}`,
  ];
  terminal.write(`${terminal.text(session.sessionId, 'bold')}\n`);
  renderText(terminal, about.map((part) => oneLine(part, 100)).join(' · '), { style: 'dim' });
  const resets = resetsByTurn(session);
  turns.forEach(({ turn, feedback }, index) => {
    const { turnNumber } = turn.response;
    terminal.write('\n');
    renderText(terminal, `${turnNumber}. ${turn.userQuery.trim()}`, { style: 'bold' });
    renderMarkdown({ terminal, width: wrapWidth(terminal) }, visibleText(turn.response.answer));
    if (turn.response.error !== null) renderText(terminal, turn.response.error.message);
    terminal.write('\n');
    renderFooter(terminal, turn);
    renderFates(terminal, turn.response, fates[index] ?? new Map());
    if (feedback !== null) renderFeedback(terminal, feedback);
    const reset = resets.get(turnNumber);
    if (reset !== undefined) terminal.write(`\n${terminal.text(`Reset ${minute(reset)} UTC`, 'dim')}\n`);
  });
}

/** A conversation as Markdown: each question a heading, its answer, and the sources with their verdicts. */
export function renderTranscript(title: string, turns: readonly RecordedTurn[]): string {
  const blocks = turns.map(({ turn, feedback }) => {
    const { response } = turn;
    const judged =
      feedback === null ? [] : [`Judged ${feedback.verdict}${feedback.why ? `: ${feedback.why}` : ''}.`];
    return [
      `## ${turn.userQuery.replace(/\s+/g, ' ')}`,
      response.answer,
      ...markdownFooter(response),
      ...judged,
    ].join('\n\n');
  });
  return visibleText(`${[`# ${title}`, ...blocks].join('\n\n')}\n`);
}

/** One line for each source of an answer that is no longer what or where it was; of a file that is gone, the footer tells. */
function renderFates(
  terminal: Terminal,
  { citations }: Pick<AgentResponse, 'citations'>,
  fates: CitationFates,
): void {
  for (const citation of citations) {
    const fate = fates.get(citation.chunkId ?? '');
    if (fate !== undefined && fate.became !== 'gone') renderFate(terminal, citation, fate);
  }
}

function renderFate(
  terminal: Terminal,
  { marker, title }: { marker: string; title: string },
  fate: Fate,
  indent = '',
): void {
  const source = `[${oneLine(marker, 20)}] ${oneLine(title, MAX_TITLE)}`;
  const style = fate.became === 'moved' ? 'dim' : 'yellow';
  renderText(terminal, `${source}: ${fateWords(fate)}`, { style, indent });
}

function fateWords(fate: Fate): string {
  switch (fate.became) {
    case 'changed':
      return 'stale: the source says something else now';
    case 'vanished':
      return 'stale: the source is no longer in the collection';
    case 'gone':
      return 'stale: the file is gone; ingest --prune forgets it';
    case 'moved':
      return `moved to ${oneLine(fate.to.url, 200)}`;
  }
}

function renderFeedback(terminal: Terminal, { verdict, why, at }: Feedback): void {
  const reason = why === null ? '' : `: ${oneLine(why, 500)}`;
  const style = verdict === 'good' ? 'green' : 'red';
  renderText(terminal, `Judged ${verdict} ${minute(at)} UTC${reason}`, { style });
}

/** When the session was reset, by the number of the turn before. */
function resetsByTurn({ segments }: ConversationSession): Map<number, string> {
  let turns = 0;
  return new Map(
    segments.map(({ turnCount, closedAt }) => {
      turns += turnCount;
      return [turns, closedAt];
    }),
  );
}

function minute(timestamp: string): string {
  return timestamp.slice(0, 16).replace('T', ' ');
}
