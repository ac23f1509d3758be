/** What was published of a patient to FHIR servers. Contract: WEB-35. */
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import type { paths } from '../../api/schema.d.ts';
import { useCursorList } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { StatusBadge, type Tone } from '../../blocks/values/status-badge.tsx';
import { ZonedTime } from '../../blocks/values/zoned-time.tsx';
import { useSession } from '../../shell/session-context.tsx';
import type { Purpose } from './purpose.tsx';

type Publication =
  paths['/publish/publications']['get']['responses'][200]['content']['application/json']['items'][number];

const TONES: Record<Publication['state'], Tone> = {
  running: 'running',
  done: 'good',
  failed: 'bad',
  interrupted: 'warning',
};

export function PublicationsTab({ patientId, purpose }: { patientId: string; purpose: Purpose }) {
  const t = useTranslations('patient');
  const { facility } = useSession();
  const list = useCursorList<Publication>(['publications', facility?.id, patientId, purpose], (cursor) =>
    answered(
      api.GET('/publish/publications', {
        params: {
          query: {
            patient: patientId,
            purposeOfUse: purpose,
            limit: 50,
            ...(cursor === undefined ? {} : { cursor }),
          },
        },
      }),
    ),
  );
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
  const t = useTranslations('patient');
  return [
    {
      name: 'state',
      heading: t('status'),
      width: '8.5rem',
      cell: ({ state }) => <StatusBadge tone={TONES[state]} label={t(`publicationStates.${state}`)} />,
    },
    {
      name: 'kind',
      heading: t('kind'),
      width: '10rem',
      cell: ({ kind }) => t(`publicationKinds.${kind}`),
    },
    { name: 'target', heading: t('target'), width: '9rem', cell: ({ target }) => target },
    {
      name: 'started',
      heading: t('started'),
      width: '15rem',
      cell: ({ startedAt }) => <ZonedTime at={startedAt} />,
    },
    {
      name: 'outcome',
      heading: t('outcomeOf'),
      cell: ({ failure, stored }) => failure ?? t('stored', { count: stored }),
    },
  ];
}
