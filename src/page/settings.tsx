import type { Policy } from '../domain/agent-config.ts';
import type { About, CollectionChoice } from './api.ts';
import { type Theme, useTheme } from './use-theme.ts';

interface SettingsProps {
  about: About | null;
  /** Undefined until the server has told. */
  policy: Policy | undefined;
  onPolicy: (policy: Policy) => void;
  collections: readonly CollectionChoice[];
  collection: string | undefined;
  /** A conversation stays with its collection. */
  isFixed: boolean;
  onCollection: (name: string) => void;
}

const POLICY_WORDS: Record<Policy, string> = {
  tool: 'model decides',
  always: 'always',
  first: 'at first',
  never: 'never',
};

export function Settings(props: SettingsProps) {
  const { about, policy, onPolicy, collections, collection, isFixed, onCollection } = props;
  const [theme, setTheme] = useTheme();
  return (
    <div class="settings">
      <label>
        <span>Collection</span>
        <select
          value={collection}
          disabled={isFixed}
          title={isFixed ? 'A conversation stays with its collection' : undefined}
          onChange={(event) => onCollection(event.currentTarget.value)}
        >
          {collections.map(({ name, error }) => (
            <option key={name} value={name} disabled={error !== null}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Search</span>
        <select value={policy} onChange={(event) => onPolicy(event.currentTarget.value as Policy)}>
          {(about?.policies ?? []).map((choice) => (
            <option key={choice} value={choice}>
              {POLICY_WORDS[choice]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Colours</span>
        <select value={theme} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
          <option value="system">system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
    </div>
  );
}
