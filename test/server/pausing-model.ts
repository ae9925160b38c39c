import type { Model, ModelRequest } from '@openai/agents';

export interface PausingModel {
  model: Model;
  /** The number of waiting calls. */
  readonly waiting: number;
  /** The number of aborted calls. */
  readonly aborted: number;
  /** Lets all waiting calls continue. */
  goOn(): void;
  /** Resolves when this many calls wait. */
  untilWaiting(count: number): Promise<void>;
  untilAborted(count: number): Promise<void>;
}

/** A model that streams some text and then waits for the test to continue. */
export function createPausingModel(): PausingModel {
  const waiting = new Set<() => void>();
  let aborted = 0;
  let changed = Promise.withResolvers<void>();
  const tell = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };

  function pause({ signal }: ModelRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const proceed = () => {
        waiting.delete(proceed);
        resolve();
      };
      signal?.addEventListener('abort', () => {
        aborted += 1;
        waiting.delete(proceed);
        tell();
        reject(signal.reason);
      });
      waiting.add(proceed);
      tell();
    });
  }

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await changed.promise;
  }

  return {
    model: {
      getResponse: () => Promise.reject(new Error('not used')),
      async *getStreamedResponse(request) {
        yield { type: 'response_started' };
        yield { type: 'output_text_delta', delta: 'Well, ' };
        await pause(request);
        yield { type: 'output_text_delta', delta: 'that is it.' };
        yield {
          type: 'response_done',
          response: {
            id: 'r',
            usage: { requests: 1, inputTokens: 3, outputTokens: 4, totalTokens: 7 },
            output: [
              {
                type: 'message',
                role: 'assistant',
                status: 'completed',
                content: [{ type: 'output_text', text: 'Well, that is it.' }],
              },
            ],
          },
        };
      },
    },
    get waiting() {
      return waiting.size;
    },
    get aborted() {
      return aborted;
    },
    goOn() {
      for (const proceed of [...waiting]) proceed();
    },
    untilWaiting: (count) => until(() => waiting.size >= count),
    untilAborted: (count) => until(() => aborted >= count),
  };
}
