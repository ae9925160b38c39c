import { expect, test } from 'vitest';
import { copyHomeWithBook } from '../../support/prepared-home.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function homeWithTalk(): Promise<string> {
  const home = await temporaryDirectory();
  await copyHomeWithBook(home);
  await runInProcess(['chat'], { home, input: 'What is ROS 2?\nWhat is a QoS profile?\nWhat is Nav2?\n' });
  return home;
}

interface Listed {
  sessions: { sessionId: string; turnCount: number }[];
}

test('a session is forked at a turn: what was before is shared, the rest is asked anew, and the first stays as it was', async () => {
  const home = await homeWithTalk();
  const same = await runInProcess(['sessions', 'fork', 'last', '--turn', '3', '--json'], { home });
  expect(same.stderr).not.toContain('citeloop:');
  const forked = JSON.parse(same.stdout);
  expect(forked.turns).toEqual([{ turn: 3, parts: null }]);
  const parted = await runInProcess(
    ['sessions', 'fork', forked.sessionId, '--turn', '2', '--policy', 'never'],
    {
      home,
    },
  );
  expect(parted.stdout).toMatch(
    /Turn 2 parts from what it was:\n- step 1: searched ".*" \(\d passages\), now answered without/,
  );
  expect(parted.stdout).toContain('no longer grounded');
  const { sessions } = JSON.parse((await runInProcess(['sessions', '--json'], { home })).stdout) as Listed;
  expect(sessions.map(({ turnCount }) => turnCount)).toEqual([3, 3, 3]);
  const shown = await runInProcess(['sessions', 'show', forked.sessionId], { home });
  expect(shown.stdout).toContain('1. What is ROS 2?');
  expect(shown.stdout).toContain('3. What is Nav2?');
});

test('a fork at a turn that there is not is refused with those that there are', async () => {
  const home = await homeWithTalk();
  const { code, stderr } = await runInProcess(['sessions', 'fork', 'last', '--turn', '9'], { home });
  expect(code).toBe(2);
  expect(stderr).toContain('It has the turns 1 to 3.');
});

test('in a chat /fork asks a turn anew under another policy and goes on there', async () => {
  const home = await homeWithTalk();
  const { stdout } = await runInProcess(['chat', '--continue'], {
    home,
    input: '/fork 2 never\n/fork\n/cost\n',
  });
  expect(stdout).toMatch(/Forked to [0-9a-f]{8}; asked anew: What is a QoS profile\?/);
  expect(stdout).toContain('Turn 2 parts from what it was:');
  expect(stdout).toContain('This session, 2 turns:');
});

test('old questions and answers are found by their words', async () => {
  const home = await homeWithTalk();
  const found = JSON.parse(
    (await runInProcess(['sessions', 'search', 'qos', 'profile', '--json'], { home })).stdout,
  );
  expect(found.turns).toMatchObject([{ turn: 2, question: 'What is a QoS profile?' }]);
  const none = await runInProcess(['sessions', 'search', 'zebra'], { home });
  expect(none.stdout).toContain('No question or answer holds all of these words.');
});
