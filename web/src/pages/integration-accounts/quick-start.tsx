/** What the partner needs to sign in and read for the first time, to be copied and sent on. Contract: WEB-23. */
import { NativeSelect, Tabs } from '@mantine/core';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { CodeSample } from '../../blocks/copies/code-sample.tsx';
import { CopiedValue } from '../../blocks/copies/copied-value.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { Details } from '../../blocks/values/details.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { type Account, useRoles } from '../accounts/account-data.ts';
import { PROGRAM_LANGUAGES, programOf } from './quick-start-programs.ts';

const LANGUAGE_NAMES = { curl: 'curl', python: 'Python', javascript: 'JavaScript', java: 'Java' };

/** Contract: WEB-71. */
const IN_ONE_LINE = { flexWrap: 'nowrap', overflowX: 'auto', scrollbarWidth: 'none' } as const;
const RING_INSIDE = { outlineOffset: '-2px' };

export function QuickStart({ account }: { account: Account }) {
  const t = useTranslations('integrationAccount');
  const { session } = useSession();
  const { data: roles } = useRoles();
  const facilities = account.facilityIds.map(
    (id) => session.facilities.find((one) => one.id === id) ?? { id, name: id, modules: [] },
  );
  const [facilityId = '', setFacilityId] = useState(account.defaultFacilityId ?? facilities[0]?.id);
  const chosen = facilities.find(({ id }) => id === facilityId) ?? facilities[0];
  const facts = {
    base: session.publicBaseUrl,
    userId: account.userId,
    organisationId: session.organisation.id,
    facilityId: chosen?.id ?? facilityId,
    permissions: roles?.find(({ id }) => id === account.role.id)?.permissions ?? [],
    modules: chosen?.modules ?? [],
  };
  const copied = (name: string, value: string) =>
    [name, <CopiedValue key={name} name={name} value={value} />] as const;
  return (
    <Section title={t('quickStart')} text={t('quickStartText')}>
      {facilities.length < 2 ? undefined : (
        <NativeSelect
          label={t('facility')}
          size="xs"
          maw="20rem"
          mb="xs"
          value={facts.facilityId}
          data={facilities.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(event) => setFacilityId(event.currentTarget.value)}
        />
      )}
      <Details
        items={[
          copied(t('base'), facts.base),
          copied(t('userId'), facts.userId),
          copied(t('organisationId'), facts.organisationId),
          copied(t('facilityId'), facts.facilityId),
        ]}
      />
      <Tabs defaultValue="curl" mt="md" keepMounted={false}>
        <Tabs.List mb="sm" aria-label={t('languages')} style={IN_ONE_LINE}>
          {PROGRAM_LANGUAGES.map((language) => (
            <Tabs.Tab key={language} value={language} px="0.625rem" style={RING_INSIDE}>
              {LANGUAGE_NAMES[language]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {PROGRAM_LANGUAGES.map((language) => {
          const { file, run, text } = programOf(language, facts);
          return (
            <Tabs.Panel key={language} value={language}>
              <CodeSample name={file} text={text} />
              <CodeSample
                name={t('run')}
                text={`export INTERCHANGE_PASSWORD='${t('placeholder')}'\n${run}`}
              />
            </Tabs.Panel>
          );
        })}
      </Tabs>
    </Section>
  );
}
