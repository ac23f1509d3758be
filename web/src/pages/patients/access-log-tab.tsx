/** Who read what of a patient, with filters, and as a file. Contract: WEB-37. */
import { getRouteApi } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { ACCESS_ACTIONS } from '../../../../src/privacy/access-log/access-log.ts';
import { useServiceWords } from '../../app/service-words.ts';
import { useCommands } from '../../blocks/dialogs/commands.ts';
import { useCursorList } from '../../blocks/list/cursor-list.ts';
import { choicesOf } from '../../blocks/list/filter-bar.tsx';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { SendButton } from '../../blocks/page/send-button.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { useErrorText } from '../../blocks/states/error-text.ts';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { ZonedTime } from '../../blocks/values/zoned-time.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { type AccessEntry, type AccessLogPage, exportAccessLog, readAccessLog } from './access-log.ts';
import css from './access-log-tab.module.css';
import { type Purpose, usePurposeName } from './purpose.tsx';

const route = getRouteApi('/shell/patients/$patientId');

const OUTCOMES = ['allowed', 'refused'] as const;

export function AccessLogTab({ patientId, purpose }: { patientId: string; purpose: Purpose }) {
  const t = useTranslations('patient');
  const { from, to, action, account, outcome } = route.useSearch();
  const values = { from, to, action, account, outcome };
  const { facility, may } = useSession();
  const request = { patientId, purpose, filter: values };
  const list = useCursorList<AccessEntry, AccessLogPage>(
    ['access-log', facility?.id, patientId, purpose, values],
    (cursor) => readAccessLog(request, cursor),
  );
  return (
    <>
      {may('patients.access-log.read') ? <ExportButton request={request} /> : undefined}
      <ListPage
        label={t('tabs.accessLog')}
        list={list}
        columns={useColumns()}
        rowId={({ occurredAt, correlationId, action: done, resourceId }) =>
          `${occurredAt} ${correlationId} ${done} ${resourceId}`
        }
        filters={[
          { name: 'from', label: t('from'), kind: 'day' },
          { name: 'to', label: t('to'), kind: 'day' },
          {
            name: 'action',
            label: t('action'),
            choices: choicesOf(ACCESS_ACTIONS, useServiceWords('patient.actions')),
          },
          { name: 'account', label: t('accountFilter'), kind: 'text' },
          { name: 'outcome', label: t('outcome'), choices: choicesOf(OUTCOMES, (outcome) => t(outcome)) },
        ]}
        empty={<EmptyState title={t('logEmpty')} text={t('logEmptyText')} />}
      />
      {list.first?.keptFrom ? (
        <p>{t.rich('archived', { time: () => <ZonedTime at={list.first?.keptFrom} /> })}</p>
      ) : undefined}
    </>
  );
}

function ExportButton({ request }: { request: Parameters<typeof exportAccessLog>[0] }) {
  const t = useTranslations('patient');
  const errorText = useErrorText();
  const [count, setCount] = useState<number>();
  async function run() {
    setCount(0);
    try {
      announce({ kind: 'good', text: t('exported', { count: await exportAccessLog(request, setCount) }) });
    } catch (error) {
      announce({ kind: 'bad', text: t('exportFailed', { why: errorText(error) }) });
    } finally {
      setCount(undefined);
    }
  }
  useCommands([{ id: 'export-access-log', label: t('export'), run: () => void run() }]);
  return (
    <div className={css.actions}>
      {count === undefined ? undefined : <span role="status">{t('exporting', { count })}</span>}
      <SendButton
        variant="default"
        size="xs"
        leftSection={<Download size={14} aria-hidden="true" />}
        isSending={count !== undefined}
        onClick={() => void run()}
      >
        {t('export')}
      </SendButton>
    </div>
  );
}

/** Of what somebody did at the command line. */
const OPERATOR_ACCOUNT_ID = '00000000-0000-0000-0000-000000000000';

function useColumns(): Column<AccessEntry>[] {
  const t = useTranslations('patient');
  const nameOf = usePurposeName();
  const wordsOf = useServiceWords('patient.actions');
  return [
    {
      heading: t('at'),
      width: '16.5rem',
      cell: ({ occurredAt }) => <ZonedTime at={occurredAt} to="second" />,
    },
    {
      heading: t('account'),
      share: 1.3,
      cell: ({ accountEmail, connectionName, accountId }) =>
        accountEmail ?? connectionName ?? (accountId === OPERATOR_ACCOUNT_ID ? t('operator') : accountId),
    },
    { heading: t('action'), cell: ({ action }) => <span title={action}>{wordsOf(action)}</span> },
    { heading: t('record'), share: 0.9, cell: ({ resourceType }) => resourceType },
    {
      heading: t('purpose'),
      width: '9rem',
      cell: ({ purposeOfUse }) => nameOf(purposeOfUse),
    },
    {
      heading: t('outcome'),
      width: '7rem',
      cell: ({ outcome }) => <StatusBadge tone={outcome === 'allowed' ? 'good' : 'bad'} label={t(outcome)} />,
    },
  ];
}
