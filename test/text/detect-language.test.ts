import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { detectForeignLanguage } from '../../src/text/detect-language.ts';

test.each([
  ['Was ist ROS 2?', 'German'],
  ['Wie installiere ich das Paket?', 'German'],
  ['Comment est-ce que je configure le serveur ?', 'French'],
  ["Qu'est-ce que l'API ?", 'French'],
  ['¿Cómo puedo instalar el paquete?', 'Spanish'],
  ['Come posso installare il pacchetto?', 'Italian'],
  ['Como posso instalar os pacotes?', 'Portuguese'],
  ['Hoe kan ik het pakket installeren?', 'Dutch'],
  ['Как установить пакет?', 'another language'],
  ['如何安装软件包？', 'another language'],
])('recognizes the language of %j', (question, language) => {
  expect(detectForeignLanguage(question)).toBe(language);
});

test.each([
  'What is die casting?',
  'Los Angeles',
  'rclpy.spin_once',
  'x',
  '',
  '42?',
  'de facto standard and ad hoc',
])('takes %j for English', (question) => {
  expect(detectForeignLanguage(question)).toBeNull();
});

test('takes no English question of the fixtures for another language', () => {
  const questions = globSync('fixtures/questions/*.jsonl').flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => String((JSON.parse(line) as { question: string }).question)),
  );
  expect(questions.length).toBeGreaterThan(100);
  expect(questions.filter((question) => detectForeignLanguage(question) !== null)).toEqual([]);
});
