/** The members that a change touched: what each was, and what it became. Lists say what was added and taken away. */
import { useTranslations } from 'use-intl';
import changed from '../../blocks/values/changed-value.module.css';
import { After, Before } from '../../blocks/values/changed-value.tsx';
import css from './audit.module.css';

/** Of a list, at once. */
const SHOWN_VALUES = 7;

type Members = Readonly<Record<string, unknown>>;

interface ChangedMembersProperties {
  before: Members;
  after: Members;
}

export function ChangedMembers({ before, after }: ChangedMembersProperties) {
  const t = useTranslations('audit');
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  if (names.length === 0) return <span className={css.kind}>{t('noDetails')}</span>;
  return (
    <ul className={css.members}>
      {names.map((name) => (
        <li key={name}>
          <span className={css.name}>{wordsOf(name)}: </span>
          <Change before={before[name]} after={after[name]} />
        </li>
      ))}
    </ul>
  );
}

/** `mustChangePassword` as "must change password". */
function wordsOf(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

function Change({ before, after }: { before: unknown; after: unknown }) {
  const t = useTranslations('audit');
  if (Array.isArray(before) && Array.isArray(after)) return <ListChange before={before} after={after} />;
  return (
    <>
      {before === undefined ? undefined : (
        <>
          <Before>
            <Value value={before} />
          </Before>
          <span aria-hidden="true"> → </span>
        </>
      )}
      {after === undefined ? (
        <span>{t('removed')}</span>
      ) : (
        <After>
          <Value value={after} />
        </After>
      )}
    </>
  );
}

function ListChange({ before, after }: { before: readonly unknown[]; after: readonly unknown[] }) {
  const [was, is] = [before.map(textOf), after.map(textOf)];
  const gone = was.filter((one) => !is.includes(one));
  const added = is.filter((one) => !was.includes(one));
  return (
    <>
      {gone.map((one) => (
        <del key={one} className={changed.before}>
          − {one}{' '}
        </del>
      ))}
      {added.map((one) => (
        <ins key={one} className={changed.after}>
          + {one}{' '}
        </ins>
      ))}
    </>
  );
}

function Value({ value }: { value: unknown }) {
  const t = useTranslations('audit');
  if (value === null || value === undefined || value === '') return <>{t('notSet')}</>;
  if (typeof value === 'boolean') return <>{value ? t('on') : t('off')}</>;
  if (Array.isArray(value)) return <List values={value.map(textOf)} />;
  return <>{textOf(value)}</>;
}

/** A long list, such as the permissions of a role, is opened by who wants to read it. */
function List({ values }: { values: readonly string[] }) {
  const t = useTranslations('audit');
  const text = values.join(', ');
  if (values.length === 0) return <>{t('notSet')}</>;
  if (values.length <= SHOWN_VALUES) return <>{text}</>;
  return (
    <details className={css.list}>
      <summary>{t('all', { count: String(values.length) })}</summary>
      {text}
    </details>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
