/** Name, time zone and modules of the chosen facility. Contract: WEB-56, WEB-76. */
import { TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import type { Facility } from '../../api/session.ts';
import { readSessionAgain } from '../../app/queries.ts';
import { CopiedValue } from '../../blocks/copies/copied-value.tsx';
import { UnsavedChanges } from '../../blocks/dialogs/unsaved-changes.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { changedOf } from '../../blocks/page/form-changes.ts';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { SendButton } from '../../blocks/page/send-button.tsx';
import { useServerForm } from '../../blocks/page/server-form.ts';
import { ServerFormFields } from '../../blocks/page/server-form-fields.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { useSession } from '../../shell/session-context.tsx';
import css from './facility.module.css';
import { Modules } from './modules.tsx';

const ZONES = 'time-zones';

export function FacilityPage() {
  const t = useTranslations('facility');
  const { facility } = useSession();
  return (
    <>
      <PageHeader title={facility?.name ?? t('title')} text={t('text')} />
      {facility === undefined ? (
        <EmptyState title={t('noFacility')} text={t('noFacilityText')} />
      ) : (
        <div className={css.columns} key={facility.id}>
          <General facility={facility} />
          <Modules facility={facility} />
        </div>
      )}
    </>
  );
}

function General({ facility }: { facility: Facility }) {
  const t = useTranslations('facility');
  const zones = useMemo(() => Intl.supportedValuesOf('timeZone'), []);
  const [stored, setStored] = useState({ name: facility.name, timeZone: facility.timeZone });
  const form = useServerForm({
    values: stored,
    submit: async (values) => {
      const body = changedOf(stored, values);
      const params = { path: { facilityId: facility.id } };
      if (Object.keys(body).length > 0)
        await answered(api.PATCH('/facilities/{facilityId}', { params, body }));
      setStored(values);
      announce({ kind: 'good', text: t('saved') });
      await readSessionAgain();
    },
  });
  return (
    <Section title={t('general')}>
      <UnsavedChanges areThere={Object.keys(changedOf(stored, form.values)).length > 0} />
      <ServerFormFields form={form}>
        <TextInput label={t('name')} maxLength={200} required {...form.field('name')} />
        <TextInput
          label={t('timeZone')}
          description={t('timeZoneText')}
          list={ZONES}
          required
          {...form.field('timeZone')}
        />
        <datalist id={ZONES}>
          {zones.map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
        <div>
          <div className={css.label}>{t('id')}</div>
          <p className={css.quiet}>{t('idText')}</p>
          <CopiedValue name={t('id')} value={facility.id} />
        </div>
        <div>
          <SendButton type="submit" isSending={form.isSending}>
            {t('save')}
          </SendButton>
        </div>
      </ServerFormFields>
    </Section>
  );
}
