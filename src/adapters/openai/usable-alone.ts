import type { Model } from '@openai/agents-core';

/**
 * The SDK's models answer in one piece only inside a trace. The Runner opens one; whoever calls the model
 * without it gets one that leads nowhere.
 */
export async function usableAlone(model: Model): Promise<Model> {
  const { getCurrentTrace, NoopTrace, withTrace } = await import('@openai/agents-core');
  return {
    getResponse: (request) =>
      getCurrentTrace() === null
        ? withTrace(new NoopTrace(), () => model.getResponse(request))
        : model.getResponse(request),
    getStreamedResponse: (request) => model.getStreamedResponse(request),
  };
}
