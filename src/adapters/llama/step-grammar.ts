import { eitherOf, literal, SCHEMA_RULES, schemaExpression } from './schema-grammar.ts';

/** A tool that may be called. */
export interface OfferedTool {
  name: string;
  description: string;
  /** The JSON schema of its arguments. */
  parameters: unknown;
}

/** What a model may do in a step: call one of the tools, answer, or either. */
export interface StepChoice {
  tools: readonly OfferedTool[];
  /** Whether it may also answer; without tools it must. */
  mayAnswer: boolean;
  /** What it may cite: each a number or a word of its own. */
  refs: readonly string[];
}

/**
 * What a step may look like, in GBNF. A call is JSON with arguments by the tool's schema. An answer is free text that
 * begins neither like a call nor like thoughts, and in which square brackets hold the refs and nothing else, but for blocks of code:
 * in these brackets are no citations. Backticks only come as code, so that what is a block is never in doubt.
 */
export function stepGrammar({ tools, mayAnswer, refs }: StepChoice): string {
  const calls =
    tools.length === 0 ? [] : [`call ::= ${eitherOf(tools.map(callExpression))}`, ...SCHEMA_RULES];
  const answers = mayAnswer || tools.length === 0 ? answerRules(refs) : [];
  const steps = [...(calls.length > 0 ? ['call'] : []), ...(answers.length > 0 ? ['answer'] : [])];
  return [`root ::= [ \\n]{0,2} (${steps.join(' | ')})`, ...calls, ...answers].join('\n');
}

function answerRules(refs: readonly string[]): string[] {
  const ref = eitherOf(refs.map(literal));
  const citation = refs.length === 0 ? [] : [`citation ::= "[" (${ref}) (", " (${ref})){0,3} "]"`];
  const cited = refs.length === 0 ? '' : ' | citation';
  return [
    `answer ::= (start | inline${cited}) (plain | inline | block${cited})*`,
    'start ::= [^{<`\\[\\]【】\\x00-\\x20\\x7F]',
    'plain ::= [^`\\[\\]【】\\x00-\\x08\\x0B-\\x1F\\x7F]',
    'inline ::= "`" [^`\\[\\]【】\\n]+ "`"',
    'block ::= "\\n" " "{0,3} "```" [a-zA-Z0-9+-]{0,20} "\\n" [^`]+ "\\n" " "{0,3} "```"',
    ...citation,
  ];
}

function callExpression({ name, parameters }: OfferedTool): string {
  return `${literal(`{"name": ${JSON.stringify(name)}, "arguments": `)} (${schemaExpression(parameters)}) "}"`;
}
