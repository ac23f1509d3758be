/** What the patient refuses, for each purpose, with change. Contract: WEB-36, WEB-76. */
import { Button, Checkbox, Stack } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { queries } from '../../app/queries.ts';
import { ConfirmDialog } from '../../blocks/dialogs/confirm-dialog.tsx';
import { UnsavedChanges } from '../../blocks/dialogs/unsaved-changes.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import { TableSkeleton } from '../../blocks/states/table-skeleton.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { PURPOSES, type Purpose, usePurposeName } from './purpose.tsx';

export function PrivacyTab({ patientId }: { patientId: string }) {
  const t = useTranslations('patient');
  const { facility } = useSession();
  const { data, error, isPending, refetch } = useQuery(readPrivacy(facility?.id, patientId));
  if (isPending) return <TableSkeleton rows={5} />;
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const { refusedPurposes } = data;
  return (
    <Section title={t('privacyTitle')} text={t('privacyText')}>
      <PrivacyForm patientId={patientId} stored={refusedPurposes} />
    </Section>
  );
}

function readPrivacy(facilityId: string | undefined, patientId: string) {
  const params = { path: { patientId } };
  return queryOptions({
    queryKey: ['privacy', facilityId, patientId],
    queryFn: () => answered(api.GET('/patients/base/{patientId}/privacy', { params })),
  });
}

function PrivacyForm({ patientId, stored }: { patientId: string; stored: readonly Purpose[] }) {
  const t = useTranslations('patient');
  const nameOf = usePurposeName();
  const format = useFormatter();
  const { may, facility } = useSession();
  /** What was ticked or not: all else is as it is stored, and somebody else may change that. */
  const [changes, setChanges] = useState<ReadonlyMap<Purpose, boolean>>(new Map());
  const refused = refusedOf(stored, changes);
  const [isAsking, setAsking] = useState(false);
  const mayChange = may('patients.privacy.manage');
  const isChanged = PURPOSES.some((one) => refused.includes(one) !== stored.includes(one));
  const purposes = format.list(refused.map(nameOf));

  async function save() {
    const now = await queries.fetchQuery({ ...readPrivacy(facility?.id, patientId), staleTime: 0 });
    await answered(
      api.PUT('/patients/base/{patientId}/privacy', {
        params: { path: { patientId } },
        body: { refusedPurposes: refusedOf(now.refusedPurposes, changes) },
      }),
    );
    announce({ kind: 'good', text: t('privacySaved') });
    await queries.invalidateQueries({ queryKey: ['privacy'] });
    await queries.invalidateQueries({ queryKey: ['patient'] });
    setChanges(new Map());
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setAsking(true);
      }}
    >
      <UnsavedChanges areThere={isChanged} />
      <Stack gap="sm" align="flex-start">
        {PURPOSES.map((one) => (
          <Checkbox
            key={one}
            label={nameOf(one)}
            description={refused.includes(one) ? t('refused') : t('allowed')}
            checked={refused.includes(one)}
            disabled={!mayChange}
            onChange={(event) => setChanges(new Map(changes).set(one, event.currentTarget.checked))}
          />
        ))}
        {mayChange ? (
          <Button type="submit" disabled={!isChanged}>
            {t('privacySave')}
          </Button>
        ) : (
          <p>{t('mayNotChange')}</p>
        )}
      </Stack>
      <ConfirmDialog
        opened={isAsking}
        title={t('privacyConfirm', { count: refused.length, purposes })}
        text={t('privacyConfirmText', { count: refused.length })}
        action={t('privacySave')}
        onConfirm={save}
        onClose={() => setAsking(false)}
      />
    </form>
  );
}

function refusedOf(stored: readonly Purpose[], changes: ReadonlyMap<Purpose, boolean>): Purpose[] {
  return PURPOSES.filter((one) => changes.get(one) ?? stored.includes(one));
}
