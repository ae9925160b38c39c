/*
 * Recognizes answers that say they have no information, in several languages. Grounding, rendering and `eval` use it; the
 * setting `abstentionPhrases` adds phrases.
 */

/** What the offline model says, and what the system prompt asks other models to say. */
export function noInformationSentence(topic: string): string {
  return `I don't have information about ${topic}.`;
}

/** The first line of an answer that only shows the closest passages. */
export const CLOSEST_PASSAGES_OPENING = 'No clear answer. Closest passages:';
/** As versions before 0.3 wrote it, in records and tapes. */
const EARLIER_OPENING = "I can't say for sure; this is the nearest I found:";

/** Whether an answer only shows the closest passages. */
export function isClosestPassagesAnswer(answer: string): boolean {
  const text = normalized(answer);
  return [CLOSEST_PASSAGES_OPENING, EARLIER_OPENING].some((opening) => text.startsWith(normalized(opening)));
}

/** Whether the first sentence of an answer says that there is no information; later remarks do not count. */
export function saysNoInformation(answer: string, phrases: readonly string[] = []): boolean {
  const opening = stripCourtesy(openingOf(answer));
  return (
    ABSTENTIONS.some((pattern) => pattern.test(opening)) ||
    phrases.some((phrase) => opening.includes(normalized(phrase)))
  );
}

const MAX_OPENING_CHARACTERS = 300;

/** The first sentence, without Markdown before it. */
function openingOf(answer: string): string {
  const text = normalized(answer)
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, MAX_OPENING_CHARACTERS);
  // At least 24 characters, so that "I'm sorry." is followed by the sentence after it.
  return /^.{24,}?(?:[.!?](?=\s|$)|[。！？])/u.exec(text)?.[0] ?? text;
}

function normalized(text: string): string {
  return text
    .toLowerCase()
    .replace(/[’‘`´]/g, "'")
    .replace(/\s+/g, ' ')
    .trim();
}

const COURTESIES = new RegExp(
  `^(?:(?:${[
    "(?:i'm|i am|we're|we are)? ?(?:very |really |so )?sorry|unfortunately|regrettably|(?:my )?apologies|i apologi[sz]e",
    '(?:based on|according to|from|in) (?:the |your |these )?(?:[a-z]+ ){0,2}(?:documents?|documentation|context|sources?|passages?|information|search results?|excerpts?)',
    'leider|tut mir leid|es tut mir leid|entschuldigung',
    'désolée?|je suis désolée?|malheureusement',
    'lo siento|lamentablemente|desafortunadamente',
    'mi dispiace|purtroppo|desculpe|sinto muito|infelizmente|helaas|het spijt me|sorry',
    '很抱歉|抱歉|对不起|申し訳(?:ありません|ございません)|すみません',
  ].join('|')})[\\s,.;:!、，。！-]*(?:but|aber|mais|pero|ma|mas|maar|但|が)?[\\s,、，]*)+`,
  'u',
);

function stripCourtesy(opening: string): string {
  const rest = opening.replace(COURTESIES, '');
  return rest === '' ? opening : rest;
}

/** Names for the documents; general words only after an adjective such as "provided". */
const AVAILABLE =
  '(?:provided|available|given|retrieved|supplied|relevant|ingested|indexed|current|above|existing)';
const DOCUMENTS =
  '(?:documents?|(?:[a-z0-9]+ ){0,2}documentation|context|sources?|passages?|search results?|excerpts?|knowledge base)';
const THE_DOCUMENTS = `(?:the|your|these|this|those|any of the|my)? ?(?:${AVAILABLE} )*(?:${DOCUMENTS}|(?<=${AVAILABLE} )(?:information|texts?|materials?|files?|pages?|results?))`;
const INFORMATION =
  '(?:information|info|details?|mention|answer|response|references?|anything|documentation|evidence|data)';

const ABSTENTIONS: readonly RegExp[] = [
  // English
  `(?:i|we) (?:do not|don't|currently do not|currently don't|did not|didn't) (?:currently )?have (?:[a-z]+ ){0,3}(?:information|info|details|data|knowledge)\\b`,
  `(?:i|we) (?:could not|couldn't|can ?not|can't|did not|didn't|do not|don't|(?:was|were|am|are|'m) (?:unable|not able) to|have not been able to) (?:find|found|locate|see|identify) .{0,60}?${INFORMATION}\\b`,
  `(?:i|we) (?:do not|don't) know\\b(?! that)`,
  `(?:i|we) (?:can ?not|can't|could not|couldn't|(?:am|'m|are) (?:unable|not able) to) (?:answer|tell)\\b`,
  `${THE_DOCUMENTS}(?: (?:you|that|which|i) [a-z ]{0,30})? (?:do not|don't|does not|doesn't|did not|didn't) (?:[a-z]+ly |seem to |appear to )*(?:contain|include|provide|mention|cover|specify|say|hold|have|discuss|address|describe|answer|give|state|offer|explain|tell)\\b`,
  `(?:.{0,160}? (?:is|are|was|were)(?:n't| not)|not) (?:[a-z]+ly |currently )?(?:covered|mentioned|addressed|discussed|described|specified|documented|included|found|contained|available|stated|provided|answered|given|explained) (?:anywhere )?(?:in|by|within) ${THE_DOCUMENTS}`,
  `there (?:is|was|are|were|'s)(?:n't any| no| not any) (?:[a-z]+ ){0,2}(?:information|info|mention|details|references?|documentation|discussion) (?:about|on|of|regarding|in|to|for|available|provided|that)`,
  `no (?:[a-z]+ ){0,2}(?:information|info|content|answer|results?|passages?|documents?|mention|details)(?: [a-z ]{0,60})? (?:found|available|provided)`,
  `(?:i am |i was |i'm |we are |we were )?unable to (?:retrieve|find|locate|access) .{0,60}?(?:content|passages?|documents?|${INFORMATION})\\b`,
  `(?:nothing|none) (?:in|of|within) ${THE_DOCUMENTS} `,
  // German
  `(?:(?:dazu|hierzu|darüber) )?(?:ich habe|habe ich|wir haben|haben wir|(?:mir )?liegen(?: mir)?|gibt es|es gibt) .{0,60}?keine (?:[a-zäöüß]+ )?(?:informationen|angaben|hinweise)`,
  `(?:(?:dazu|hierzu|darüber) )?(?:ich (?:konnte|kann|habe)|(?:konnte|kann|habe) ich) .{0,60}?(?:nicht|nichts|keine[nr]?) .{0,60}?(?:finden|gefunden|beantworten)`,
  `(?:ich weiß|das weiß ich) (?:es )?(?:leider )?nicht`,
  `(?:die|diese|ihre|deine) (?:[a-zäöüß]+ )?(?:dokumente|unterlagen|quellen|texte|suchergebnisse) .{0,80}?(?:keine|nicht|nichts)`,
  `.{0,120}?(?:wird|werden|ist|steht|sind) (?:in (?:den|diesen|ihren|deinen) (?:\\p{L}+ )?(?:dokumenten|unterlagen|quellen) (?:\\p{L}+ )?nicht|nicht in (?:den|diesen|ihren|deinen) (?:\\p{L}+ )?(?:dokumenten|unterlagen|quellen))`,
  `in (?:den|diesen|ihren|deinen) (?:[a-zäöüß]+ )?(?:dokumenten|unterlagen|quellen) .{0,80}?(?:nicht|nichts|keine)`,
  // French
  `je (?:n'ai|ne dispose) (?:pas|d'aucune|aucune) .{0,30}?informations?`,
  `je (?:n'ai|ne) .{0,20}?(?:pas|rien|aucune) .{0,20}?(?:trouv|répondre)`,
  `je ne (?:trouve|sais) (?:pas|rien)`,
  `(?:les|ces|vos) (?:documents|sources|passages|textes) .{0,30}?ne .{0,60}?(?:pas|rien|aucune)`,
  `.{0,120}?n'(?:est|apparaît|y a) (?:pas|aucune) .{0,60}?documents`,
  `aucune? (?:information|document|passage)`,
  // Spanish
  `no (?:tengo|dispongo de|cuento con|he encontrado|encontré|encuentro|pude encontrar|puedo encontrar|hay) .{0,30}?(?:información|datos|respuesta|nada)`,
  `(?:los|estos|sus|tus) (?:documentos|textos) .{0,40}?no `,
  `.{0,120}?no (?:está|aparece|se menciona|se encuentra|se trata|figura) .{0,40}?en (?:los|sus|tus|estos) documentos`,
  `no (?:lo )?sé|no puedo responder`,
  // Italian
  `non (?:ho|dispongo di|ho trovato|riesco a trovare|trovo|ci sono) .{0,30}?(?:informazion|rispost|nulla|niente)`,
  `(?:i|questi) documenti .{0,40}?non |non (?:lo )?so|.{0,120}?non è .{0,40}?nei documenti`,
  // Portuguese
  `(?:eu )?não (?:tenho|disponho de|encontrei|consegui encontrar|há) .{0,30}?(?:informaç|resposta|nada)`,
  `(?:os|estes) documentos .{0,40}?não |(?:eu )?não sei|.{0,120}?não (?:está|é|aparece) .{0,40}?nos documentos`,
  // Dutch
  `(?:ik heb|heb ik) .{0,30}?geen .{0,20}?informatie|ik (?:kan|kon) .{0,40}?(?:geen|niet|niets) .{0,40}?vinden|(?:dat|ik) weet ik? ?(?:het )?niet`,
  `(?:de|deze|uw|je) documenten .{0,60}?(?:geen|niet|niets)|.{0,120}?(?:staat|wordt|is) niet .{0,40}?in de documenten`,
  // Chinese, Japanese
  '我?(?:没有|未能?|无法|找不到|没能?)(?:[^。，]{0,30})(?:信息|资料|内容|找到|答案|回答)',
  '我?(?:不知道|不清楚)',
  '[^。]{0,30}(?:文档|文件|资料|材料|来源)[^。]{0,12}(?:没有|未|不包含|并未)',
  '[^。]{0,60}(?:情報|記載|言及|記述)[^。]{0,12}(?:ありません|見つかりません|されていません|ございません|持っていません)',
  '[^。]{0,60}(?:文書|ドキュメント|資料)[^。]{0,40}(?:いません|ありません|ません)|(?:わかりません|分かりません)',
].map((source) => new RegExp(`^(?:${source})`, 'u'));
