import { policySchema } from '../../domain/agent-config.ts';
import { OFFLINE_MODEL } from '../../domain/choices.ts';
import { formatFilter, isEmptyFilter, parseFilter } from '../../domain/query.ts';
import { AppError } from '../../faults/app-error.ts';
import { nearestName } from '../../text/nearest-name.ts';
import { oneLine } from '../../text/visible-text.ts';
import { renderText } from '../terminal/wrapping.ts';
import type { SlashCommand } from './slash-command.ts';

/** What the next question is asked with: who searches what, and who answers. */
export const choiceCommands = {
  policy: {
    usage: 'policy [name]',
    describe: 'Who searches: tool, always, first or never',
    run(conversation, argument, terminal) {
      if (argument !== '') {
        const policy = policySchema.safeParse(argument.toLowerCase());
        if (!policy.success) {
          throw new AppError('invalid_input', `"${oneLine(argument, 40)}" is not a policy.`, {
            hint: `It is one of ${policySchema.options.join(', ')}.`,
          });
        }
        conversation.policy = policy.data;
      }
      terminal.write(`The policy is ${conversation.policy}.\n`);
    },
  },
  model: {
    usage: 'model [name]',
    describe: 'Show or change the model',
    async run(conversation, argument, terminal) {
      if (argument !== '') await conversation.changeModel(argument);
      const model = conversation.model();
      renderText(terminal, `The model is ${modelName(model)}. ${aboutModel(model)}`);
    },
  },
  collection: {
    usage: 'collection [name]',
    describe: 'Show or change the collection; changing begins anew',
    async run(conversation, argument, terminal) {
      const names = await conversation.collections();
      if (argument !== '') {
        if (names.length > 0 && !names.includes(argument)) throw noSuchCollection(argument, names);
        await conversation.changeCollection(argument);
        return renderText(terminal, `A new conversation on ${oneLine(conversation.collection(), 60)}.`);
      }
      renderText(terminal, `The collection is ${oneLine(conversation.collection(), 60)}.`);
      const others = names.filter((name) => name !== conversation.collection());
      if (others.length > 0) renderText(terminal, `There is also: ${oneLine(others.join(', '), 300)}.`);
    },
  },
  filter: {
    usage: 'filter [key=value …]',
    describe: 'Search only some documents; off searches all',
    async run(conversation, argument, terminal) {
      const words = argument.split(/\s+/).filter((word) => word !== '');
      if (words.length > 0) await conversation.changeFilter(argument === 'off' ? {} : parseFilter(words));
      const { filter } = conversation;
      const shown = isEmptyFilter(filter)
        ? 'All documents are searched.'
        : `Only documents with ${oneLine(formatFilter(filter), 200)} are searched; /filter off searches all.`;
      renderText(terminal, shown);
    },
  },
} satisfies Record<string, SlashCommand>;

/** A model's name, shortened to fit on a line. */
export function modelName(model: string): string {
  return oneLine(model, 60);
}

/** What to know about a model besides its name; only the offline one needs a word. */
export function aboutModel(model: string): string {
  if (model !== OFFLINE_MODEL) return '';
  return 'The offline model is extractive: it quotes your documents word for word. For a generative model set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of yours, and type /model <name>.';
}

function noSuchCollection(name: string, known: readonly string[]): AppError {
  const nearest = nearestName(name, known);
  const meant = nearest === undefined ? '' : `Did you mean ${nearest}? `;
  return new AppError('invalid_input', `There is no collection "${oneLine(name, 60)}".`, {
    hint: `${meant}There is: ${oneLine(known.join(', '), 300)}.`,
  });
}
