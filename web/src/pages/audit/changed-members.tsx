/** The members that a change touched: what each was, and what it became. Lists say what was added and taken away. */
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useServiceWords } from '../../app/service-words.ts';
import changed from '../../blocks/values/changed-value.module.css';
import { After, Before } from '../../blocks/values/changed-value.tsx';
import css from './audit.module.css';
import { useKnownName } from './known-name.ts';

/** Of a list, at once. */
const SHOWN_VALUES = 3;
const CONNECTION_MEMBER = 'connectionId';
/** Their values are ids of what has a name. */
const NAMED_MEMBERS = new Set(['facilityIds', 'defaultFacilityId', CONNECTION_MEMBER]);
/** Of members, at once. The others are opened by who wants to read them. */
const SHOWN_MEMBERS = 4;

type Members = Readonly<Record<string, unknown>>;

interface ChangedMembersProperties {
  before: Members;
  after: Members;
}

export function ChangedMembers({ before, after }: ChangedMembersProperties) {
  const t = useTranslations('audit');
  const [seesAll, setSeesAll] = useState(false);
  const wordsOf = useServiceWords('audit.members');
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  if (names.length === 0) return <span className={css.kind}>{t('noDetails')}</span>;
  // One more takes no more room than the way to it.
  const shown = seesAll || names.length <= SHOWN_MEMBERS + 1 ? names : names.slice(0, SHOWN_MEMBERS);
  return (
    <ul className={css.members}>
      {shown.map((name) => (
        <li key={name}>
          <span className={css.name}>{t('member', { name: wordsOf(name, inWords(name)) })} </span>
          <Change member={name} before={before[name]} after={after[name]} />
        </li>
      ))}
      {shown.length === names.length ? undefined : (
        <li>
          <button type="button" className={css.more} onClick={() => setSeesAll(true)}>
            {t('more', { count: names.length - shown.length })}
          </button>
        </li>
      )}
    </ul>
  );
}

/** `mustChangePassword` as "must change password". */
function inWords(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

interface ChangeProperties {
  member: string;
  before: unknown;
  after: unknown;
}

function Change({ member, before, after }: ChangeProperties) {
  const t = useTranslations('audit');
  const textOf = useValueText(member);
  if (Array.isArray(before) && Array.isArray(after))
    return <ListChange before={before.map(textOf)} after={after.map(textOf)} />;
  return (
    <>
      {before === undefined ? undefined : (
        <>
          <Before>
            <Value value={before} textOf={textOf} />
          </Before>
          <span aria-hidden="true"> → </span>
        </>
      )}
      {after === undefined ? (
        <span>{t('removed')}</span>
      ) : (
        <After>
          <Value value={after} textOf={textOf} />
        </After>
      )}
    </>
  );
}

function ListChange({ before: was, after: is }: { before: readonly string[]; after: readonly string[] }) {
  const gone = was.filter((one) => !is.includes(one));
  const added = is.filter((one) => !was.includes(one));
  return (
    <ul className={css.members}>
      {gone.map((one) => (
        <li key={one} className={changed.before}>
          − <del>{one}</del>
        </li>
      ))}
      {added.map((one) => (
        <li key={one}>
          <ins className={changed.after}>+ {one}</ins>
        </li>
      ))}
    </ul>
  );
}

function Value({ value, textOf }: { value: unknown; textOf: (value: unknown) => string }) {
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

/** A value in words: a facility and a connection by their names, a code as the catalogue has it. */
function useValueText(member: string): (value: unknown) => string {
  const nameOf = useKnownName({ hasConnections: member === CONNECTION_MEMBER });
  const wordsOf = useServiceWords('audit.values');
  return (value) => {
    if (typeof value !== 'string') return JSON.stringify(value);
    const name = NAMED_MEMBERS.has(member) ? nameOf(value) : undefined;
    return name ?? wordsOf(`${member}.${value}`, value);
  };
}
