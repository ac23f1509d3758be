/** What an import took and what it did not, and why. Parts without anything are left out. Contract: WEB-48. */
import { useTranslations } from 'use-intl';
import { numberColumn } from '../../blocks/list/columns.tsx';
import { wholeList } from '../../blocks/list/cursor-list.ts';
import { type Column, RecordTable } from '../../blocks/list/record-table.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { InEnglish } from '../../blocks/values/in-english.tsx';
import css from './imports.module.css';
import type { ImportReport } from './send-file.ts';

type Rejected = ImportReport['rejected'][number];
type Noticed = { file: string; entry: number | null; resourceType?: string; reason?: string };
type Counted = ImportReport['notKept'][number];
type ByType = [name: string, count: number, unchanged?: number];

const NOT_SHOWN = [
  'survey',
  'social-history',
  'imaging',
  'vital-sign',
  'other-order',
  'other-report',
] as const;

export function ImportReportView({ report }: { report: ImportReport }) {
  const t = useTranslations('imports');
  const { resources, unchanged, notTaken, notShown } = report;
  const hasFiles = report.files > 1;
  const nameOf = (reason: string) => {
    const known = NOT_SHOWN.find((one) => one === reason);
    return known === undefined ? reason : t(`notShown.${known}`);
  };
  return (
    <>
      <Entries title="rejected" rows={report.rejected} count={report.rejectedCount} hasFiles={hasFiles} />
      <Entries title="notices" rows={report.notices} count={report.noticeCount} hasFiles={hasFiles} />
      <div className={css.pairs}>
        <Counts
          title="taken"
          rows={Object.entries(resources).map(([type, count]) => [type, count, unchanged[type] ?? 0])}
        />
        <Counts title="notTaken" rows={Object.entries(notTaken)} />
        <Elements title="notKept" rows={report.notKept} hasFiles={hasFiles} />
        <Elements title="unresolved" rows={report.unresolved} hasFiles={hasFiles} />
        <Counts
          title="notShown"
          rows={Object.entries(notShown).map(([reason, count]) => [nameOf(reason), count])}
        />
      </div>
      <Entries title="older" rows={report.older} count={report.olderCount} hasFiles={hasFiles} />
    </>
  );
}

interface EntriesProperties {
  title: 'rejected' | 'notices' | 'older';
  rows: readonly (Rejected | Noticed)[];
  /** Of all, where only the first are told. */
  count: number;
  /** There are several, so each is named. */
  hasFiles: boolean;
}

/** The service keeps the numbers of files in place of their names, as `file 2`. */
function useFileName(): (file: string) => string {
  const t = useTranslations('imports');
  return (file) => {
    const number = /^file (\d+)$/.exec(file)?.[1];
    return number === undefined ? file : t('fileNumber', { number });
  };
}

function Entries({ title, rows, count, hasFiles }: EntriesProperties) {
  const t = useTranslations('imports');
  const fileName = useFileName();
  const columns: Column<Numbered>[] = [
    ...(hasFiles
      ? [{ heading: t('file'), width: '7rem', cell: ({ row }: Numbered) => fileName(row.file) }]
      : []),
    { heading: t('entry'), width: '6rem', cell: ({ row }) => row.entry ?? t('whole') },
    { heading: t('type'), width: '12rem', cell: ({ row }) => row.resourceType ?? '–' },
    ...(title === 'older'
      ? []
      : [
          {
            heading: t('reason'),
            share: 2,
            cell: ({ row }: Numbered) => (row.reason === undefined ? '–' : <InEnglish text={row.reason} />),
          },
        ]),
  ];
  const more = count > rows.length ? ` ${t('firstOnly', { listed: rows.length, count })}` : '';
  return (
    <Part
      title={title}
      more={more}
      columns={columns}
      rows={rows.map((row, index) => ({ row, index }))}
      rowId={({ index }) => String(index)}
    />
  );
}

interface Numbered {
  row: Noticed;
  index: number;
}

interface CountsProperties {
  title: 'taken' | 'notTaken' | 'notShown';
  rows: readonly ByType[];
}

function Counts({ title, rows }: CountsProperties) {
  const t = useTranslations('imports');
  const columns: Column<ByType>[] = [
    { heading: title === 'notShown' ? t('reason') : t('type'), cell: ([name]) => name },
    numberColumn({ heading: t('count'), width: '7rem' }, ([, count]) => count),
    ...(title === 'taken'
      ? [numberColumn({ heading: t('unchanged'), width: '7rem' }, ([, , same = 0]: ByType) => same)]
      : []),
  ];
  return <Part title={title} columns={columns} rows={rows} rowId={([name]) => name} />;
}

interface ElementsProperties {
  title: 'notKept' | 'unresolved';
  rows: readonly Counted[];
  hasFiles: boolean;
}

function Elements({ title, rows, hasFiles }: ElementsProperties) {
  const t = useTranslations('imports');
  const fileName = useFileName();
  const columns: Column<Counted>[] = [
    { heading: t('element'), cell: ({ element }) => <code>{element}</code> },
    {
      heading: t('first'),
      width: hasFiles ? '12rem' : '8rem',
      cell: ({ file, entry }) =>
        hasFiles
          ? t('place', { file: fileName(file), entry: String(entry) })
          : t('placeInFile', { entry: String(entry) }),
    },
    numberColumn({ heading: t('count'), width: '6rem' }, ({ count }) => count),
  ];
  return <Part title={title} columns={columns} rows={rows} rowId={({ element }) => element} />;
}

interface PartProperties<Row> {
  title: EntriesProperties['title'] | CountsProperties['title'] | ElementsProperties['title'];
  /** Said after what the part is. */
  more?: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowId: (row: Row) => string;
}

function Part<Row>({ title, more = '', columns, rows, rowId }: PartProperties<Row>) {
  const t = useTranslations('imports');
  if (rows.length === 0) return undefined;
  return (
    <Section title={t(`${title}Title`)} text={`${t(`${title}Text`)}${more}`}>
      <RecordTable label={t(`${title}Title`)} columns={columns} list={wholeList(rows)} rowId={rowId} />
    </Section>
  );
}
