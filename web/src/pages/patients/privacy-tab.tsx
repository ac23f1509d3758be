/** What the patient refuses, for each purpose, with change. Contract: WEB-36. */
import { Button, Checkbox, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { ConfirmDialog } from '../../blocks/dialogs/confirm-dialog.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import { TableSkeleton } from '../../blocks/states/table-skeleton.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { PURPOSES, type Purpose } from './purpose.tsx';

export function PrivacyTab({ patientId }: { patientId: string }) {
  const t = useTranslations('patient');
  const { facility } = useSession();
  const path = { patientId };
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['privacy', facility?.id, patientId],
    queryFn: () => answered(api.GET('/patients/base/{patientId}/privacy', { params: { path } })),
  });
  if (isPending) return <TableSkeleton rows={5} />;
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const { refusedPurposes } = data;
  return (
    <Section title={t('privacyTitle')} text={t('privacyText')}>
      <PrivacyForm patientId={patientId} stored={refusedPurposes} />
    </Section>
  );
}

function PrivacyForm({ patientId, stored }: { patientId: string; stored: readonly Purpose[] }) {
  const t = useTranslations('patient');
  const names = useTranslations('patients');
  const format = useFormatter();
  const queries = useQueryClient();
  const { may } = useSession();
  /** undefined: as it is stored. */
  const [chosen, setChosen] = useState<readonly Purpose[]>();
  const refused = chosen ?? stored;
  const [isAsking, setAsking] = useState(false);
  const mayChange = may('patients.privacy.manage');
  const isChanged = PURPOSES.some((one) => refused.includes(one) !== stored.includes(one));
  const purposes = format.list(refused.length === 0 ? ['–'] : refused.map((one) => names(`purposes.${one}`)));

  async function save() {
    await answered(
      api.PUT('/patients/base/{patientId}/privacy', {
        params: { path: { patientId } },
        body: { refusedPurposes: PURPOSES.filter((one) => refused.includes(one)) },
      }),
    );
    announce({ kind: 'good', text: t('privacySaved') });
    await queries.invalidateQueries({ queryKey: ['privacy'] });
    await queries.invalidateQueries({ queryKey: ['patient'] });
    setChosen(undefined);
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setAsking(true);
      }}
    >
      <Stack gap="sm" align="flex-start">
        {PURPOSES.map((one) => (
          <Checkbox
            key={one}
            label={names(`purposes.${one}`)}
            description={refused.includes(one) ? t('refused') : t('allowed')}
            checked={refused.includes(one)}
            disabled={!mayChange}
            onChange={(event) =>
              setChosen(
                event.currentTarget.checked ? [...refused, one] : refused.filter((two) => two !== one),
              )
            }
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
        title={t('privacyConfirm', { purposes })}
        text={t('privacyConfirmText')}
        action={t('privacySave')}
        onConfirm={save}
        onClose={() => setAsking(false)}
      />
    </form>
  );
}
