/** What the import of a file would change, or has changed. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useFormatter, useTranslations } from 'use-intl';
import css from './import-report.module.css';
import type { ImportReport } from './map-import.ts';

/** Entries that are left out, shown at once. */
const SHOWN = 200;

interface ImportReportProperties {
  report: ImportReport | undefined;
  isDone: boolean;
  isSending: boolean;
  onImport: () => void;
}

export function ImportReportView({ report, isDone, isSending, onImport }: ImportReportProperties) {
  const t = useTranslations('mapImport');
  const toMaps = useTranslations('terminology')('toMaps');
  const format = useFormatter();
  if (report === undefined) return undefined;
  const count = report.created + report.changed;
  const ignored = Object.keys(report.ignored);
  const numbers = [
    ['created', report.created],
    ['changedEntries', report.changed],
    ['unchanged', report.unchanged],
    ['rejected', report.rejectedCount],
  ] as const;
  return (
    <>
      <dl className={css.numbers}>
        {numbers.map(([name, value]) => (
          <div key={name}>
            <dt>{t(name)}</dt>
            <dd>{format.number(value)}</dd>
          </div>
        ))}
      </dl>
      {ignored.length === 0 ? undefined : (
        <p className={css.note}>
          {t('ignored', { names: format.list(ignored) })}. {t('ignoredHelp')}
        </p>
      )}
      <Rejected report={report} />
      {isDone ? (
        <Link to="/terminology/maps">{toMaps}</Link>
      ) : count === 0 ? (
        <p className={css.note}>{t('nothing')}</p>
      ) : (
        <Button onClick={onImport} loading={isSending}>
          {t('submit', { count })}
        </Button>
      )}
    </>
  );
}

function Rejected({ report: { rejected, rejectedCount } }: { report: ImportReport }) {
  const t = useTranslations('mapImport');
  const format = useFormatter();
  if (rejectedCount === 0) return undefined;
  return (
    <div className={css.rejected}>
      <h3 className={css.heading}>{t('rejectedTitle', { count: rejectedCount })}</h3>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">{t('line')}</th>
            <th scope="col">{t('code')}</th>
            <th scope="col">{t('reason')}</th>
          </tr>
        </thead>
        <tbody>
          {rejected.slice(0, SHOWN).map(({ line, path, localCode, reason }) => (
            <tr key={`${line ?? path}`}>
              <td>{line ?? path}</td>
              <td>{localCode ?? '–'}</td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rejectedCount > SHOWN ? (
        <p className={css.note}>{t('rejectedFirst', { count: format.number(SHOWN) })}</p>
      ) : undefined}
    </div>
  );
}
