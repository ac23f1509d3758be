/** What the import of a file would change, or has changed. */
import { Link } from '@tanstack/react-router';
import { useFormatter, useTranslations } from 'use-intl';
import { SendButton } from '../../../blocks/page/send-button.tsx';
import { EmptyState } from '../../../blocks/states/empty-state.tsx';
import css from './import-report.module.css';
import type { MapImportReport } from './map-import.ts';

/** Entries that are left out, shown at once. */
const SHOWN = 200;
/** More of them are folded, so that the changes below are in view. */
const OPEN = 10;

interface ImportReportProperties {
  report: MapImportReport | undefined;
  isDone: boolean;
  isSending: boolean;
  onImport: () => void;
}

export function MapImportReportView({ report, isDone, isSending, onImport }: ImportReportProperties) {
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
      {isDone || count === 0 ? undefined : (
        <SendButton className={css.submit} onClick={onImport} isSending={isSending}>
          {t('submit', { count })}
        </SendButton>
      )}
      {isDone || count > 0 ? undefined : (
        <EmptyState title={t('nothing')} text={t('nothingText', { count: report.unchanged })} />
      )}
      <Rejected report={report} />
      {isDone ? <Link to="/terminology/maps">{toMaps}</Link> : undefined}
    </>
  );
}

function Rejected({ report: { rejected, rejectedCount } }: { report: MapImportReport }) {
  const t = useTranslations('mapImport');
  const format = useFormatter();
  if (rejectedCount === 0) return undefined;
  return (
    <details className={css.rejected} open={rejectedCount <= OPEN}>
      <summary className={css.heading}>{t('rejectedTitle', { count: rejectedCount })}</summary>
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
    </details>
  );
}
