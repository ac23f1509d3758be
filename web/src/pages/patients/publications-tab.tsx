/** What was published of a patient to FHIR servers. Contract: WEB-35. */
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { timeColumn } from '../../blocks/list/columns.tsx';
import { useListOf } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { InEnglish } from '../../blocks/values/in-english.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { PUBLICATION_TONES, type Publication } from '../publishing/publishing-data.ts';
import type { Purpose } from './purpose.tsx';

export function PublicationsTab({ patientId, purpose }: { patientId: string; purpose: Purpose }) {
  const t = useTranslations('patient');
  const { facility } = useSession();
  const list = useListOf(['publications', facility?.id], '/publish/publications', {
    patient: patientId,
    purposeOfUse: purpose,
  });
  return (
    <ListPage
      label={t('tabs.publications')}
      list={list}
      columns={useColumns()}
      rowId={({ id }) => id}
      empty={<EmptyState title={t('publicationsEmpty')} text={t('publicationsEmptyText')} />}
    />
  );
}

function useColumns(): Column<Publication>[] {
  const t = useTranslations('publishing');
  const ofPatient = useTranslations('patient');
  return [
    {
      heading: t('state'),
      width: '8.5rem',
      cell: ({ state }) => <StatusBadge tone={PUBLICATION_TONES[state]} label={t(`states.${state}`)} />,
    },
    {
      heading: t('kind'),
      width: '10rem',
      cell: ({ kind, recordId }) => (
        <Link to="/publishing/$kind/$recordId" params={{ kind, recordId }}>
          {t(`kinds.${kind}`)}
        </Link>
      ),
    },
    { heading: t('target'), width: '9rem', cell: ({ target }) => target },
    timeColumn(t('started'), ({ startedAt }) => startedAt),
    {
      heading: ofPatient('outcomeOf'),
      share: 2,
      cell: ({ failure, stored }) =>
        failure === null ? ofPatient('stored', { count: stored }) : <InEnglish text={failure} />,
    },
  ];
}
