/** What the filters mean, as a file. Contract: WEB-57. */
import { useTranslations } from 'use-intl';
import { ExportMenu } from '../../blocks/copies/export-menu.tsx';

const FORMATS = [
  { format: 'csv', words: 'exportCsv' },
  { format: 'ndjson', words: 'exportNdjson' },
] as const;

export function AuditExport({ filters }: { filters: Readonly<Record<string, string | undefined>> }) {
  const t = useTranslations('audit');
  const given = Object.entries(filters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const forms = FORMATS.map(({ format, words }) => ({
    id: `export-audit-${format}`,
    label: t(words),
    path: `/administration/audit/export?${new URLSearchParams([['format', format], ...given])}`,
    fileName: `audit.${format}`,
  }));
  return <ExportMenu label={t('export')} forms={forms} failed={(why) => t('exportFailed', { why })} />;
}
