import type { Description, Names } from './describe-fault.ts';
import type { FaultFacts } from './fault-facts.ts';

const OVERFLOW =
  /context_length_exceeded|maximum context length|context (length|window|size)|prompt is too long|too many (input )?tokens|reduce (the|your) (length|message|prompt)|input token count|(input|prompt|tokens?)\b.{0,60}\bexceeds?\b.{0,60}\b(context|tokens?|maximum|limit)|longer than the model'?s/i;
/** Tokens a minute: no wait makes it fit. */
const TOO_LARGE = /request too large/i;
const NO_CREDIT =
  /insufficient[_ ](quota|credits?|balance|funds)|billing_(not_active|hard_limit)|credit balance|(more|out of|enough) credits/i;
const NO_MODEL =
  /model_not_found|(not a valid|invalid|unknown|no such|unsupported) model|no models? loaded|model\b.{0,120}(not found|does not exist|not exist|not available|decommissioned|no endpoints)|no endpoints found/i;
const NO_TOOLS =
  /(not|n't) support (tools?|tool[_ ](use|calling)|function calling)|support tool use|tool[_ ]choice.{0,40}(requires|--enable)/i;
const BAD_CALL = /tool_use_failed|failed to call a function|tool call validation failed/i;
const FILTERED = /content_filter|content[_ ]policy|content management policy|moderation/i;
const OVERLOADED = /overload|capacity|try again later/i;

/** What a status of 400 or above means, by the service's own words first. */
export function describeHttpFault(status: number, facts: FaultFacts, names: Names): Description {
  const { service, model } = names;
  const text = `${facts.words} ${facts.said}`;
  if (status < 500) {
    if (status === 413 || TOO_LARGE.test(text) || (status !== 429 && OVERFLOW.test(text))) {
      return { kind: 'context_overflow', sentence: `The request is too long for ${model}`, said: true };
    }
    if (status === 402 || NO_CREDIT.test(text)) {
      return {
        kind: 'rate_limit',
        sentence: `The account at ${lowered(service)} has no credit left`,
        said: true,
        hint: 'Look at the plan and the billing of the account, or use another provider.',
        recoverable: false,
      };
    }
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
        hint: 'Use a model that can, or --policy always, which needs no tools.',
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
  return byStatus(status, text, names);
}

function byStatus(status: number, text: string, names: Names): Description {
  const { service, keyVariable } = names;
  if (status === 401 || status === 403) {
    return {
      kind: 'auth_error',
      sentence: `${service} ${status === 401 ? 'did not accept the key' : 'denied access'}`,
      said: true,
      hint: `Check ${keyVariable} in the environment or in .env, and that it belongs to this service.`,
    };
  }
  if (status === 404 || status === 405) {
    return {
      kind: 'configuration_error',
      sentence: `${service} has nothing at this address`,
      said: true,
      hint: 'Check the base URL (for most services it ends in /v1), and --api: many know only chat_completions.',
    };
  }
  if (status === 429)
    return { kind: 'rate_limit', sentence: `${service} is receiving too many requests`, said: true };
  if (status === 503 || status === 529 || OVERLOADED.test(text)) {
    return { kind: 'api_error', sentence: `${service} is overloaded`, said: true, recoverable: true };
  }
  if (status >= 500 || status === 408 || status === 409 || status === 425) {
    return { kind: 'api_error', sentence: `${service} failed`, said: true, recoverable: true };
  }
  return {
    kind: 'api_error',
    sentence: `${service} did not accept the request`,
    said: true,
    hint: 'Check the model and its settings with: citeloop doctor',
  };
}

function unknownModel({ service, model }: Names): Description {
  return {
    kind: 'configuration_error',
    sentence: `${service} does not know ${model}`,
    said: true,
    hint: 'Check --model or OPENAI_MODEL; a local model must be pulled or loaded first.',
  };
}

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
