/** Patients of the facility, found by name or identifier. Contract: WEB-34, WEB-66. */
import { getRouteApi, Link, useLocation } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { components } from '../../api/schema.d.ts';
import { keepText, keptText } from '../../app/unaddressed-texts.ts';
import { useListOf } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { PurposeField, purposeOf } from './purpose.tsx';

type Patient = components['schemas']['PatientSummary'];

const route = getRouteApi('/shell/patients');

export function PatientsPage() {
  const t = useTranslations('patients');
  const { purpose } = route.useSearch();
  const [search, changeSearch] = usePatientSearch();
  const navigate = route.useNavigate();
  const { facility, may } = useSession();
  const purposeOfUse = purposeOf(purpose);
  const list = useListOf(['patients', facility?.id], '/patients/base', { purposeOfUse, search });
  return (
    <>
      <PageHeader
        title={t('title')}
        text={t('text')}
        actions={
          <PurposeField
            value={purposeOfUse}
            onChange={(chosen) =>
              void navigate({ search: (old) => ({ ...old, purpose: chosen }), state: (old) => old })
            }
          />
        }
      />
      <ListPage
        label={t('title')}
        list={list}
        columns={useColumns(purpose)}
        rowId={({ id }) => id}
        filters={[{ name: 'search', label: t('search'), kind: 'text' }]}
        filterValues={{ values: { search }, change: (to) => changeSearch(to.search) }}
        empty={
          <EmptyState title={t('empty')} text={t('emptyText')}>
            {may('records.import') ? <Link to="/imports">{t('toImports')}</Link> : undefined}
          </EmptyState>
        }
      />
    </>
  );
}

function useColumns(purpose: string | undefined): Column<Patient>[] {
  const t = useTranslations('patients');
  return [
    {
      heading: t('name'),
      cell: ({ id, name }) => (
        <Link to="/patients/$patientId" params={{ patientId: id }} search={{ purpose }} preload={false}>
          {name ?? t('noName')}
        </Link>
      ),
    },
    { heading: t('birthDate'), width: '8rem', cell: ({ birthDate }) => birthDate ?? '–' },
    {
      heading: t('gender'),
      width: '7rem',
      cell: ({ gender }) => (gender === null ? '–' : t(`genders.${gender}`)),
    },
    {
      heading: t('identifiers'),
      cell: ({ identifiers }) => identifiers.map(({ value }) => value).join(', ') || '–',
    },
    {
      heading: t('state'),
      width: '14rem',
      cell: (patient) => <PatientState patient={patient} />,
    },
  ];
}

function PatientState({ patient: { replacedBy, deceased } }: { patient: Patient }) {
  const t = useTranslations('patients');
  if (replacedBy !== null) return <StatusBadge tone="warning" label={t('replaced')} />;
  return deceased ? (
    <StatusBadge tone="quiet" label={t('deceased')} />
  ) : (
    <StatusBadge tone="good" label={t('current')} />
  );
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Key of the text. */
    patientSearch?: string;
  }
}

/** What the list is searched for. It stays with the entry of the history, and in no address. */
function usePatientSearch(): [search: string | undefined, change: (text: string | undefined) => void] {
  const key = useLocation({ select: ({ state }) => state.patientSearch });
  const navigate = route.useNavigate();
  const change = (text: string | undefined) =>
    void navigate({
      search: (old) => old,
      state: (old) => ({ ...old, patientSearch: text === undefined ? undefined : keepText(text) }),
      replace: true,
    });
  return [keptText(key), change];
}
