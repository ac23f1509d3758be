/** The records of a patient, of the kind that is chosen, and the chosen one as FHIR. Contract: WEB-38. */
import { Button, Drawer, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { numberColumn, timeColumn } from '../../blocks/list/columns.tsx';
import { useCursorList } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import { TableSkeleton } from '../../blocks/states/table-skeleton.tsx';
import { JsonViewer } from '../../blocks/values/json-viewer.tsx';
import { useSession } from '../../shell/session-context.tsx';
import type { Purpose } from './purpose.tsx';
import {
  type ListedKind,
  listRecords,
  PERMISSIONS,
  RECORD_KINDS,
  type RecordKind,
  type RecordRow,
  readFhir,
} from './records.ts';
import css from './records-tab.module.css';

interface RecordsTabProperties {
  patientId: string;
  purpose: Purpose;
}

const route = getRouteApi('/shell/patients/$patientId');

export function RecordsTab({ patientId, purpose }: RecordsTabProperties) {
  const t = useTranslations('patient');
  const { may } = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const kinds = RECORD_KINDS.filter((kind) => may(...PERMISSIONS[kind]));
  const kind = kinds.find((one) => one === search.kind) ?? kinds[0] ?? 'patient';
  const show = (record: string | undefined) => void navigate({ search: (old) => ({ ...old, record }) });
  return (
    <>
      <NativeSelect
        className={css.kind}
        label={t('kind')}
        size="xs"
        value={kind}
        data={kinds.map((value) => ({ value, label: t(`kinds.${value}`) }))}
        onChange={(event) =>
          void navigate({
            search: (old) => ({ ...old, kind: event.currentTarget.value, record: undefined }),
            replace: true,
          })
        }
      />
      {kind === 'patient' ? (
        <FhirView kind="patient" id={patientId} purpose={purpose} />
      ) : (
        <RecordList kind={kind} patientId={patientId} purpose={purpose} onShow={show} />
      )}
      <Drawer
        opened={kind !== 'patient' && search.record !== undefined}
        onClose={() => show(undefined)}
        position="right"
        size="xl"
        title={t(`kinds.${kind}`)}
      >
        {search.record === undefined ? undefined : (
          <FhirView kind={kind} id={search.record} purpose={purpose} />
        )}
      </Drawer>
    </>
  );
}

function FhirView({ kind, id, purpose }: { kind: RecordKind; id: string; purpose: Purpose }) {
  const t = useTranslations('patient');
  const { facility } = useSession();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['fhir', facility?.id, kind, id, purpose],
    queryFn: () => readFhir(kind, id, purpose),
  });
  if (isPending) return <TableSkeleton />;
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return <JsonViewer value={data} name={`${t(`kinds.${kind}`)}, FHIR`} unfolded={5} />;
}

interface RecordListProperties extends RecordsTabProperties {
  kind: ListedKind;
  onShow: (id: string) => void;
}

function RecordList({ kind, patientId, purpose, onShow }: RecordListProperties) {
  const t = useTranslations('patient');
  const { facility } = useSession();
  const list = useCursorList<RecordRow>(['records', facility?.id, kind, patientId, purpose], (cursor) =>
    listRecords(kind, { patientId, purpose, cursor }),
  );
  return (
    <ListPage
      label={t(`kinds.${kind}`)}
      list={list}
      columns={useColumns(kind, onShow)}
      rowId={({ id }) => id}
      empty={<EmptyState title={t('recordsEmpty')} text={t('recordsEmptyText')} />}
    />
  );
}

function useColumns(kind: ListedKind, onShow: (id: string) => void): Column<RecordRow>[] {
  const t = useTranslations('patient');
  const what: Column<RecordRow>[] =
    kind === 'vitals'
      ? [numberColumn({ heading: t('signs'), width: '6rem' }, ({ signs = 0 }) => signs)]
      : [
          {
            heading: t(kind === 'encounters' ? 'encounterClass' : 'code'),
            share: 0.6,
            cell: ({ code }) => code ?? '–',
          },
          { heading: t('status'), width: '8rem', cell: ({ status }) => status ?? '–' },
        ];
  return [
    ...what,
    timeColumn(t('when'), ({ at }) => at),
    { heading: t('record'), cell: ({ id }) => <code>{id}</code> },
    {
      heading: t('asFhir'),
      width: '7rem',
      cell: ({ id }) => (
        <Button variant="light" size="xs" aria-label={t('showNamed', { id })} onClick={() => onShow(id)}>
          {t('show')}
        </Button>
      ),
    },
  ];
}
