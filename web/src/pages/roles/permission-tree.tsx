/**
 * Every permission below its area, with the calls that it opens. One that the person lacks is shown, and cannot be given.
 * Contract: WEB-26, WEB-27.
 */
import { Checkbox } from '@mantine/core';
import { useTranslations } from 'use-intl';
import { useServiceWords } from '../../app/service-words.ts';
import { useSession } from '../../shell/session-context.tsx';
import css from './permission-tree.module.css';
import { AREAS, type Area, areaOf, type PermissionItem } from './role-data.ts';

interface PermissionTreeProperties {
  items: readonly PermissionItem[];
  chosen: readonly string[];
  /** Why nothing can be changed is said by the page. */
  isReadOnly: boolean;
  onChange: (chosen: string[]) => void;
}

export function PermissionTree(properties: PermissionTreeProperties) {
  return AREAS.map((area) => {
    const items = properties.items.filter(({ name }) => areaOf(name) === area);
    return items.length === 0 ? undefined : <AreaPart key={area} {...properties} area={area} items={items} />;
  });
}

function AreaPart({ area, items, chosen, isReadOnly, onChange }: PermissionTreeProperties & { area: Area }) {
  const t = useTranslations('role');
  const { may } = useSession();
  const wordsOf = useServiceWords('permissions');
  const mine = items.map(({ name }) => name).filter((name) => may(name));
  const held = items.filter(({ name }) => chosen.includes(name)).length;
  const isAll = held === items.length;
  const rest = chosen.filter((name) => !mine.includes(name));
  return (
    <fieldset className={css.area}>
      <legend className={css.legend}>
        <Checkbox
          size="xs"
          label={t(`areas.${area}`)}
          checked={isAll}
          indeterminate={held > 0 && !isAll}
          disabled={isReadOnly || mine.length === 0}
          onChange={() => onChange(isAll ? rest : [...rest, ...mine])}
        />
        <span className={css.count}>{t('heldOf', { held: String(held), all: String(items.length) })}</span>
      </legend>
      <ul className={css.list}>
        {items.map((item) => (
          <li key={item.name} className={css.item}>
            <Checkbox
              size="xs"
              label={wordsOf(item.name, item.allows.charAt(0).toUpperCase() + item.allows.slice(1))}
              description={may(item.name) ? item.name : t('notYours', { name: item.name })}
              checked={chosen.includes(item.name)}
              disabled={isReadOnly || !may(item.name)}
              onChange={(event) =>
                onChange(
                  event.currentTarget.checked
                    ? [...chosen, item.name]
                    : chosen.filter((name) => name !== item.name),
                )
              }
            />
            <Calls item={item} />
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

function Calls({ item: { name, opens } }: { item: PermissionItem }) {
  const t = useTranslations('role');
  if (opens.length === 0) return <p className={css.calls}>{t('opensNothing')}</p>;
  return (
    <details className={css.calls}>
      <summary aria-label={t('opensNamed', { count: opens.length, name })}>
        {t('opens', { count: opens.length })}
      </summary>
      <ul>
        {opens.map(({ method, path, summary }) => (
          <li key={`${method} ${path}`}>
            <code>
              {method} {path}
            </code>
            <span lang="en">{summary}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
