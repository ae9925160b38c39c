import { expect, test } from 'vitest';
import { noInformationSentence, saysNoInformation } from '../../src/domain/abstention.ts';

test.each([
  noInformationSentence('services'),
  'I’m sorry, but I do not have any information on this.',
  "I'm sorry. I don't know.",
  "I couldn't find that information.",
  'I could not find any mention of parameters in the provided documents.',
  '**I was unable to locate an answer** to your question in the search results.',
  'Unfortunately, the documents do not mention lifecycle nodes.',
  'The provided context does not seem to contain the release date.',
  'Not covered in the documents.',
  'The price of the robot is not mentioned in the documentation.',
  'Based on the provided documents, there is no information about batteries.',
  'No relevant information was found.',
  'No relevant content found in the book.',
  'Unable to retrieve content.',
  'Unable to retrieve content from the book at the moment.',
  "I can't answer that from the documents.",
  'None of the passages describe how to calibrate it.',
  'Leider habe ich dazu keine Informationen gefunden.',
  'Ich konnte dazu in den Dokumenten nichts finden.',
  'Die Dokumente enthalten keine Angaben zur Batterie.',
  'Das wird in den Dokumenten nicht erwähnt.',
  "Je n'ai pas d'information à ce sujet.",
  'Désolé, je ne trouve pas cette information dans les documents.',
  'Les documents ne mentionnent pas la batterie.',
  'Lo siento, no tengo información sobre la batería.',
  'Los documentos no mencionan la batería.',
  'Mi dispiace, non ho informazioni sulla batteria.',
  'Infelizmente, não encontrei informações sobre a bateria.',
  'Helaas heb ik daar geen informatie over.',
  '抱歉，我没有找到关于电池的信息。',
  '文档中没有提到电池。',
  '申し訳ありませんが、その情報は見つかりませんでした。',
])('%s', (answer) => {
  expect(saysNoInformation(answer)).toBe(true);
});

test.each([
  "Topics carry messages [1]. I don't have information about services.",
  'A node does not have information about its peers until discovery is over [1].',
  'The files do not contain type hints, so the checker skips them [1].',
  'The results do not depend on the seed [2].',
  'There is no data loss when the queue is full [1].',
  'No, a service is not available in this distribution [1].',
  'I know of two ways: topics and services [1][2].',
  'Sorry to hear that. Restart the daemon with ros2 daemon stop [1].',
  'Die Knoten enthalten keinen Zustand [1].',
  'Les paramètres ne changent pas pendant la simulation [1].',
  'No es necesario reiniciar el nodo [1].',
  '节点没有状态 [1]。',
])('an answer: %s', (answer) => {
  expect(saysNoInformation(answer)).toBe(false);
});

test('accepts further phrases, at the beginning of an answer only', () => {
  const phrases = ['The handbook is silent'];
  expect(saysNoInformation('The  handbook is silent on that.', phrases)).toBe(true);
  expect(
    saysNoInformation('Restart it twice and wait a while [1]. The handbook is silent on why.', phrases),
  ).toBe(false);
});
