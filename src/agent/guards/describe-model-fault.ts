import { advice, setting, settingOf } from '../../faults/advice.ts';
import {
  type Description,
  describeHttpFault,
  describeNoCredit,
  type ServiceNames,
} from '../../faults/service-fault.ts';
import type { FaultFacts } from './fault-facts.ts';

/** How the sentences name things. */
export interface ModelNames extends ServiceNames {
  /** "the model llama". */
  model: string;
}

const AGAIN = 'Ask again, or use another model.';

/** What the SDK's loop threw because of the model's behaviour; undefined for any other error. */
export function describeSdkFault({ names, said }: FaultFacts): Description | undefined {
  const is = (name: string) => names.includes(name);
  if (is('MaxTurnsExceededError')) {
    return {
      kind: 'api_error',
      sentence: 'The model kept calling tools and came to no answer',
      hint: advice`Ask a narrower question, or raise ${setting('maxSteps')}.`,
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
      hint: advice`Raise ${setting('maxTokens')}.`,
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

const OVERFLOW =
  /context_length_exceeded|maximum context length|context (length|window|size)|prompt is too long|too many (input )?tokens|reduce (the|your) (length|message|prompt)|input token count|(input|prompt|tokens?)\b.{0,60}\bexceeds?\b.{0,60}\b(context|tokens?|maximum|limit)|longer than the model'?s/i;
/** Tokens a minute: no wait makes it fit. */
const TOO_LARGE = /request too large/i;
const NO_MODEL =
  /model_not_found|(not a valid|invalid|unknown|no such|unsupported) model|no models? loaded|model\b.{0,120}(not found|does not exist|not exist|not available|decommissioned|no endpoints)|no endpoints found/i;
const NO_TOOLS =
  /(not|n't) support (tools?|tool[_ ](use|calling)|function calling)|support tool use|tool[_ ]choice.{0,40}(requires|--enable)/i;
const BAD_CALL = /tool_use_failed|failed to call a function|tool call validation failed/i;
const FILTERED = /content_filter|content[_ ]policy|content management policy|moderation/i;
const OVERLOADED = /overload|capacity|try again later/i;

/** What a status of 400 or above means, by the service's own words first. */
export function describeRefusal(status: number, facts: FaultFacts, names: ModelNames): Description {
  const { service, model } = names;
  const text = `${facts.words} ${facts.said}`;
  if (status < 500) {
    if (status === 413 || TOO_LARGE.test(text) || (status !== 429 && OVERFLOW.test(text))) {
      return { kind: 'context_overflow', sentence: `The request is too long for ${model}`, said: true };
    }
    const noCredit = describeNoCredit(status, text, names);
    if (noCredit !== undefined) return noCredit;
    if (BAD_CALL.test(text)) {
      return {
        kind: 'api_error',
        sentence: 'The model made a tool call that its service rejects',
        said: true,
        recoverable: true,
        hint: 'Ask again, or use a model that is better at calling tools.',
      };
    }
    if (NO_TOOLS.test(text)) {
      return {
        kind: 'configuration_error',
        sentence: `${capital(model)} cannot call tools`,
        said: true,
        hint: advice`Use a model that can, or ${settingOf('policy', 'always', 'the policy always')}, which needs no tools.`,
      };
    }
    if (status !== 429 && NO_MODEL.test(text)) return unknownModel(names);
    if (FILTERED.test(text)) {
      return {
        kind: 'api_error',
        sentence: `${service} withheld an answer`,
        said: true,
        hint: 'Rephrase the question.',
      };
    }
  }
  const fault = describeHttpFault(status, names);
  if (fault.kind === 'configuration_error') {
    return {
      ...fault,
      hint: advice`Check the base URL (for most services it ends in /v1), and ${setting('api', 'the setting api')}: many know only chat_completions.`,
    };
  }
  const overloaded = fault.kind === 'api_error' && OVERLOADED.test(text);
  return overloaded ? describeHttpFault(503, names) : fault;
}

function unknownModel({ service, model }: ModelNames): Description {
  return {
    kind: 'configuration_error',
    sentence: `${service} does not know ${model}`,
    said: true,
    hint: advice`Check ${setting('model', 'the setting model')} or OPENAI_MODEL; a local model must be pulled or loaded first.`,
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
