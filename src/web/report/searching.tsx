import type { SearchWorth } from '../../evaluation/report/comparison.ts';
import type { PageData } from '../../evaluation/report/page-data.ts';
import type { SearchKind } from '../../evaluation/report/report-case.ts';
import { counted, quoted } from '../../text/phrasing.ts';
import { signed } from './numbers.ts';
import { ArmName, Scrollable, Section } from './parts.tsx';

/** Shows the cases in which searching was of a kind in an arm, by its place. */
export type ShowTurns = (arm: number, kind: SearchKind) => void;

interface SearchingProps {
  data: PageData;
  onShow: ShowTurns;
}

const MEANINGS: Record<SearchKind, string> = {
  needed: 'right with the search, wrong without',
  idle: 'the same with and without',
  harmful: 'wrong with the search, right without',
  missed: 'not searched and wrong; right with a search',
  spared: 'not searched, and a search would not have helped',
};

/** What each search was worth, turn by turn. Nothing where no arm decided otherwise. */
export function Searching({ data, onShow }: SearchingProps) {
  if (data.searchWorth.length === 0) return null;
  const isPriced = data.searchWorth.some(({ kinds }) => kinds.some(({ money }) => money !== null));
  return (
    <Section id="searching" title="What searching was worth, turn by turn">
      <p class="hint">
        Each turn is held against the same question in an arm that decided otherwise and differs in nothing
        else. What the search added is an average over such turns.
      </p>
      {data.searchWorth.map((worth) => (
        <Worth key={worth.arm} worth={worth} data={data} isPriced={isPriced} onShow={onShow} />
      ))}
    </Section>
  );
}

interface WorthProps extends SearchingProps {
  worth: SearchWorth;
  isPriced: boolean;
}

function Worth({ worth: { arm, kinds, verdict }, data, isPriced, onShow }: WorthProps) {
  const place = data.arms.findIndex(({ name }) => name === arm);
  return (
    <>
      <h3>
        <ArmName arm={place} name={arm} />
      </h3>
      <ul class="findings">
        {verdict.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <Scrollable label={`What searching was worth in ${quoted(arm)}`}>
        <table class="searching">
          <thead>
            <tr>
              <th scope="col">Searching was</th>
              <th scope="col">Turns</th>
              <th scope="col" class="number">
                Tokens
              </th>
              {isPriced && (
                <th scope="col" class="number">
                  {data.header.currency ?? 'Money'}
                </th>
              )}
              <th scope="col" class="number">
                Time
              </th>
            </tr>
          </thead>
          <tbody>
            {kinds.map(({ kind, turns, tokens, money, ms }) => (
              <tr key={kind}>
                <th scope="row">
                  {kind} <small>{MEANINGS[kind]}</small>
                </th>
                <td class="jumps">
                  <button type="button" class="jump" data-kind={kind} onClick={() => onShow(place, kind)}>
                    {counted(turns, 'turn')}
                    <span class="unseen">: show these cases</span>
                  </button>
                </td>
                <td class="number">{tokens === null ? '' : signed(tokens, 'tokens')}</td>
                {isPriced && <td class="number">{money === null ? '' : signed(money, 'money')}</td>}
                <td class="number">{ms === null ? '' : signed(ms, 'ms')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrollable>
    </>
  );
}
