/** What was published from the facility, and what failed. Contract: WEB-45. */

import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { useCommands } from '../../blocks/dialogs/commands.ts';
import { numberColumn, timeColumn } from '../../blocks/list/columns.tsx';
import { useListOf } from '../../blocks/list/cursor-list.ts';
import { choicesOf } from '../../blocks/list/filter-bar.tsx';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { InEnglish } from '../../blocks/values/in-english.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import {
  PUBLICATION_TONES,
  PUBLISHED_KINDS,
  type Publication,
  type PublishedKind,
  useTargets,
} from './publishing-data.ts';
import { PublishingTabs } from './publishing-tabs.tsx';

const route = getRouteApi('/shell/publishing');
const STATES = Object.keys(PUBLICATION_TONES) as Publication['state'][];
const KINDS = Object.keys(PUBLISHED_KINDS) as PublishedKind[];

export function PublishingPage() {
  const t = useTranslations('publishing');
  const search = route.useSearch();
  const targets = (useTargets() ?? []).map(({ name }) => name);
  const list = useListOf(['publications'], '/publish/publications', search);
  usePublishingCommands();
  return (
    <>
      <PageHeader title={t('title')} text={t('text')} />
      <PublishingTabs />
      <ListPage
        label={t('publications')}
        list={list}
        columns={useColumns()}
        hasTallRows
        rowId={({ id }) => id}
        filters={[
          { name: 'state', label: t('state'), choices: choicesOf(STATES, (one) => t(`states.${one}`)) },
          { name: 'kind', label: t('kind'), choices: choicesOf(KINDS, (one) => t(`kinds.${one}`)) },
          { name: 'target', label: t('target'), choices: choicesOf(targets, (name) => name) },
          { name: 'patient', label: t('patientFilter'), kind: 'text' },
          { name: 'since', label: t('since'), kind: 'day' },
          { name: 'until', label: t('until'), kind: 'day' },
        ]}
        empty={
          <EmptyState title={t('empty')} text={t('emptyText')}>
            <Link to="/publishing/targets">{t('targets')}</Link>
          </EmptyState>
        }
      />
    </>
  );
}

function usePublishingCommands() {
  const t = useTranslations('publishing');
  const tBlocks = useTranslations('blocks');
  const navigate = route.useNavigate();
  useCommands([
    ...(['failed', 'running'] as const).map((state) => ({
      id: `publishing-${state}`,
      label: tBlocks('named', { name: t('title'), what: t(`states.${state}`) }),
      run: () => void navigate({ search: (old) => ({ ...old, state }), replace: true }),
    })),
    {
      id: 'publishing-targets',
      label: tBlocks('named', { name: t('title'), what: t('targets') }),
      run: () => void navigate({ to: '/publishing/targets' }),
    },
  ]);
}

function useColumns(): Column<Publication>[] {
  const t = useTranslations('publishing');
  return [
    {
      heading: t('state'),
      width: '8.75rem',
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
    numberColumn({ heading: t('stored'), width: '5.75rem' }, ({ stored }) => stored),
    {
      heading: t('failure'),
      share: 2,
      cell: ({ failure }) => (failure === null ? '–' : <InEnglish text={failure} />),
    },
  ];
}
