import { expect, test } from 'vitest';
import { diffTurns } from '../../../src/cli/commands/fork.ts';
import type { ConversationTurn } from '../../../src/domain/conversation-turn.ts';
import { copyHomeWithBook } from '../../support/copy-home.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { turnOf } from '../support/scripted-agent.ts';

async function homeWithTalk(): Promise<string> {
  const home = await createTemporaryDirectory();
  await copyHomeWithBook(home);
  await runInProcess(['chat'], { home, input: 'What is ROS 2?\nWhat is a QoS profile?\nWhat is Nav2?\n' });
  return home;
}

interface Listed {
  sessions: { sessionId: string; turnCount: number }[];
}

test('a fork keeps the earlier turns, asks the others again, and leaves the original unchanged', async () => {
  const home = await homeWithTalk();
  const same = await runInProcess(['sessions', 'fork', 'last', '--turn', '3', '--json'], { home });
  expect(same.stderr).not.toContain('citeloop:');
  const forked = JSON.parse(same.stdout);
  expect(forked.turns).toEqual([{ turn: 3, parts: null }]);
  const changed = await runInProcess(
    ['sessions', 'fork', forked.sessionId, '--turn', '2', '--policy', 'never'],
    {
      home,
    },
  );
  expect(changed.stdout).toMatch(
    /Turn 2 differs:\n- step 1: searched ".*" \(\d passages\); now answered without/,
  );
  expect(changed.stdout).toContain('no longer grounded');
  const { sessions } = JSON.parse((await runInProcess(['sessions', '--json'], { home })).stdout) as Listed;
  expect(sessions.map(({ turnCount }) => turnCount)).toEqual([3, 3, 3]);
  const shown = await runInProcess(['sessions', 'show', forked.sessionId], { home });
  expect(shown.stdout).toContain('1. What is ROS 2?');
  expect(shown.stdout).toContain('3. What is Nav2?');
});

test('an identical fork is reported with the command that shows it', async () => {
  const home = await homeWithTalk();
  const { stdout } = await runInProcess(['sessions', 'fork', 'last'], { home });
  const [, id = ''] =
    /^Forked to (\w{8})\.\nTurn 3: same steps and citations\. The answer is the same\.\nShow the answers: citeloop sessions show \w{8}\n$/.exec(
      stdout,
    ) ?? [];
  expect((await runInProcess(['sessions', 'show', id], { home })).stdout).toContain('3. What is Nav2?');
});

test('reports other passages for the same query', () => {
  const searchThatFound = (...found: string[]): ConversationTurn => {
    const chunks = found.map((each) => ({ chunkId: each, contentHash: each }));
    const searched = { step: 1, searched: true as const, query: 'owls', filter: {}, chunks, cited: [] };
    return { ...turnOf(), decisions: [searched] };
  };
  const before = searchThatFound('a', 'b');
  expect(diffTurns(before, searchThatFound('a', 'b'))).toBeNull();
  for (const other of [searchThatFound('a', 'c'), searchThatFound('b', 'a')]) {
    expect(diffTurns(before, other)).toEqual(['step 1: searched "owls" (2 passages); now other passages']);
  }
});

test('rejects a turn that does not exist with the valid range', async () => {
  const home = await homeWithTalk();
  const { code, stderr } = await runInProcess(['sessions', 'fork', 'last', '--turn', '9'], { home });
  expect(code).toBe(2);
  expect(stderr).toContain('Choose a turn from 1 to 3.');
});

test('finds past questions and answers by words', async () => {
  const home = await homeWithTalk();
  const found = JSON.parse(
    (await runInProcess(['sessions', 'search', 'qos', 'profile', '--json'], { home })).stdout,
  );
  expect(found.turns).toMatchObject([{ turn: 2, question: 'What is a QoS profile?' }]);
  const none = await runInProcess(['sessions', 'search', 'zebra'], { home });
  expect(none.stdout).toContain('No question or answer contains all of these words.');
});
