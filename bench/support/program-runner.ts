import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AgentResponse, agentResponseSchema } from '../../src/domain/agent-response.ts';
import { SHARED_DATA } from './retrieval-set.ts';

/** Returns the given files or the shared ones. Exits the process if they do not exist. */
export function resolveQuestionFiles([
  file = `${SHARED_DATA}/questions/fastapi.jsonl`,
  documents = `${SHARED_DATA}/questions/fastapi`,
]: readonly string[]): { file: string; documents: string } {
  if (existsSync(file) && existsSync(documents)) return { file, documents };
  console.log(`Not measured: ${existsSync(file) ? documents : file} does not exist.`);
  process.exit(0);
}

const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const COLLECTION = 'asked';
/** The exit code of a truncated answer, which is measured like any other. */
const TRUNCATED = 5;

/** Runs the program as a user does, with a temporary home. */
export interface ProgramRunner {
  /** Asks questions in one conversation and returns the last answer. */
  ask(questions: readonly string[], flags?: readonly string[]): Promise<AgentResponse>;
  close(): void;
}

export async function createProgramRunner(documents: string): Promise<ProgramRunner> {
  const home = mkdtempSync(join(tmpdir(), 'asked-'));

  function run(args: string[], input = ''): Promise<string> {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { ...process.env, CITELOOP_HOME: home },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(input);
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) =>
        code === 0 || (code === TRUNCATED && printed !== '')
          ? resolve(printed)
          : reject(new Error(`${args[0]} exited with code ${code}`)),
      );
    });
  }

  const close = () => rmSync(home, { recursive: true, force: true });
  await run(['ingest', documents, '--collection', COLLECTION]).catch((error: unknown) => {
    close();
    throw error;
  });
  return {
    async ask(questions, flags = []) {
      let session: string[] = [];
      let last: AgentResponse | undefined;
      for (const question of questions) {
        const args = ['ask', '--json', '--collection', COLLECTION, ...flags, ...session, '-'];
        last = agentResponseSchema.parse(JSON.parse(await run(args, question)));
        session = ['--session', last.sessionId];
      }
      return last as AgentResponse;
    },
    close,
  };
}
