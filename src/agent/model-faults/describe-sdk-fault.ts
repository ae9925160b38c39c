import type { Description } from './describe-fault.ts';
import type { FaultFacts } from './fault-facts.ts';

const AGAIN = 'Ask again, or use another model.';

/** What the SDK's loop threw because of the model's behaviour; undefined for any other error. */
export function describeSdkFault({ names, said }: FaultFacts): Description | undefined {
  const is = (name: string) => names.includes(name);
  if (is('MaxTurnsExceededError')) {
    return {
      kind: 'api_error',
      sentence: 'The model kept calling tools and came to no answer',
      hint: 'Ask a narrower question, or raise --max-steps.',
    };
  }
  if (is('ModelRefusalError')) {
    return {
      kind: 'api_error',
      sentence: 'The model declined to answer',
      said: true,
      hint: 'Rephrase the question.',
    };
  }
  if (is('ModelTimeoutError')) {
    return { kind: 'api_error', sentence: 'The model took too long to answer', recoverable: true };
  }
  if (is('ModelBehaviorError') || is('InvalidToolInputError')) return describeBehaviour(said);
  return undefined;
}

function describeBehaviour(said: string): Description {
  const tool = /tool (\S+) not found/i.exec(said)?.[1];
  if (tool !== undefined) {
    return {
      kind: 'api_error',
      sentence: `The model called a tool that does not exist, ${tool}`,
      recoverable: true,
      hint: AGAIN,
    };
  }
  if (/finish_reason='length'|response\.incomplete/.test(said)) {
    return {
      kind: 'api_error',
      sentence: 'The model reached its limit of tokens before it had an answer',
      hint: 'Raise --max-tokens.',
    };
  }
  if (/JSON|invalid (tool )?input/i.test(said)) {
    return {
      kind: 'api_error',
      sentence: 'The model called a tool with arguments that are not valid JSON',
      recoverable: true,
      hint: AGAIN,
    };
  }
  if (/did not produce a final response|no final output/i.test(said)) {
    return {
      kind: 'api_error',
      sentence: 'The model ended without an answer',
      recoverable: true,
      hint: AGAIN,
    };
  }
  return {
    kind: 'api_error',
    sentence: 'The model did not keep to the protocol',
    said: true,
    recoverable: true,
    hint: AGAIN,
  };
}
