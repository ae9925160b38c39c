import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AgentResponse, agentResponseSchema } from '../../src/domain/agent-response.ts';
import { DATA } from './retrieval-set.ts';

/** The questions and documents that were named, or the shared ones. Ends the process where they are not there. */
export function questionsAndDocuments([
  file = `${DATA}/questions/fastapi.jsonl`,
  documents = `${DATA}/questions/fastapi`,
]: readonly string[]): { file: string; documents: string } {
  if (existsSync(file) && existsSync(documents)) return { file, documents };
  console.log(`Not measured: there is no ${existsSync(file) ? documents : file}.`);
  process.exit(0);
}

const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const COLLECTION = 'asked';
const DONE = 0;
/** The answer is printed, and was cut: it is measured like any other. */
const CUT = 5;

/** The program as a person runs it, on documents that were ingested into a data directory of their own. */
export interface AskedProgram {
  /** The answer to the last of some questions of one conversation. */
  ask(questions: readonly string[], flags?: readonly string[]): Promise<AgentResponse>;
  close(): void;
}

export async function createAskedProgram(documents: string): Promise<AskedProgram> {
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
        code === DONE || (code === CUT && printed !== '')
          ? resolve(printed)
          : reject(new Error(`${args[0]} ended with ${code}`)),
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
