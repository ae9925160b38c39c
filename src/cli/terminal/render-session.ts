import { markFlagged } from '../../domain/answer-status.ts';
import { type ConversationSession, sessionTotals } from '../../domain/conversation-session.ts';
import type { RecordedTurn, SessionSummary } from '../../ports/session-store.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import { formatTable } from './format-table.ts';
import { renderMarkdownText } from './markdown-stream.ts';
import { renderAnswerFooter, toMarkdownFooter } from './render-footer.ts';
import { type Terminal, wrapWidth } from './terminal.ts';
import { renderText } from './wrap-text.ts';

const SHORT_ID = 8;
const MAX_TITLE = 60;

export function renderSessionList(terminal: Terminal, sessions: readonly SessionSummary[]): void {
  const hasUsers = sessions.some(({ user }) => user !== null);
  const rows = sessions.map((session) => [
    session.sessionId.slice(0, SHORT_ID),
    formatMinute(session.updatedAt),
    String(session.turnCount),
    oneLine(session.model, 30),
    oneLine(session.collection, 30),
    ...(hasUsers ? [oneLine(session.user ?? '', 20)] : []),
    oneLine(session.title ?? '(no question yet)', MAX_TITLE),
  ]);
  const user = hasUsers ? ['user'] : [];
  terminal.write(
    formatTable(
      terminal,
      ['id', 'updated (UTC)', 'turns', 'model', 'collection', ...user, 'first question'],
      rows,
    ),
  );
}

interface ShownSession {
  session: ConversationSession;
  user: string | null;
  turns: readonly RecordedTurn[];
}

export function renderSession(terminal: Terminal, { session, user, turns }: ShownSession): void {
  const { turnCount, retrievalCount, totalTokensUsed } = sessionTotals(session);
  const about = [
    `collection ${session.collection}`,
    `model ${session.model}`,
    `policy ${session.policy}`,
    ...(user === null ? [] : [`user ${user}`]),
    `created ${formatMinute(session.createdAt)} UTC`,
    ...(session.status === 'completed' ? ['completed'] : []),
    `turns ${turnCount}, searches ${retrievalCount}, tokens ${totalTokensUsed}`,
  ];
  terminal.write(`${terminal.text(session.sessionId, 'bold')}\n`);
  renderText(terminal, about.map((part) => oneLine(part, 100)).join(' · '), { style: 'dim' });
  turns.forEach(({ turn }) => {
    const { turnNumber } = turn.response;
    terminal.write('\n');
    renderText(terminal, `${turnNumber}. ${turn.userQuery.trim()}`, { style: 'bold' });
    renderMarkdownText({ terminal, width: wrapWidth(terminal) }, visibleText(markFlagged(turn.response)));
    if (turn.response.error !== null) renderText(terminal, turn.response.error.message);
    renderAnswerFooter(terminal, turn, { isSeparate: true });
  });
}

/** A conversation as Markdown: a heading for each question, then the answer and its sources. */
export function formatTranscript(title: string, turns: readonly RecordedTurn[]): string {
  const blocks = turns.map(({ turn: { userQuery, response } }) =>
    [`## ${userQuery.replace(/\s+/g, ' ')}`, markFlagged(response), ...toMarkdownFooter(response)].join(
      '\n\n',
    ),
  );
  return visibleText(`${[`# ${title}`, ...blocks].join('\n\n')}\n`);
}

export function formatMinute(timestamp: string): string {
  return timestamp.slice(0, 16).replace('T', ' ');
}
