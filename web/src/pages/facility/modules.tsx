/** What of the service is on at the facility. Before one is turned off, it says what stops. Contract: WEB-56. */
import { Switch } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import type { paths } from '../../api/schema.d.ts';
import { type Facility, sessionQuery } from '../../api/session.ts';
import { asChange, queries, readSessionAgain } from '../../app/queries.ts';
import { ConfirmDialog } from '../../blocks/dialogs/confirm-dialog.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { useErrorText } from '../../blocks/states/error-text.ts';
import css from './facility.module.css';

type Change = paths['/facilities/{facilityId}']['patch']['requestBody']['content']['application/json'];
type Module = NonNullable<Change['modules']>[number];

const MODULES: readonly Module[] = [
  'patients',
  'encounters',
  'vitals',
  'lab',
  'imaging',
  'publish',
  'exchange',
];

export function Modules({ facility }: { facility: Facility }) {
  const t = useTranslations('facility');
  const errorText = useErrorText();
  const [asked, setAsked] = useState<Module>('patients');
  const [isAsking, setAsking] = useState(false);
  const earlier = useRef<Promise<unknown>>(Promise.resolve());

  /** One change after the other: each sends all modules. */
  function change(module: Module, isOn: boolean) {
    const change = earlier.current.then(() => send(module, isOn));
    earlier.current = change.catch(() => undefined);
    return change;
  }
  async function send(module: Module, isOn: boolean) {
    // Somebody may have changed the others since the page was read.
    const session = await queries.fetchQuery({ ...sessionQuery, staleTime: 0 });
    if (session?.state !== 'signed-in') return;
    const before = session.facilities.find(({ id }) => id === facility.id)?.modules ?? facility.modules;
    const modules = MODULES.filter((one) => (one === module ? isOn : before.includes(one)));
    const params = { path: { facilityId: facility.id } };
    await asChange(answered(api.PATCH('/facilities/{facilityId}', { params, body: { modules } })));
    await readSessionAgain();
    const name = t(`module.${module}.name`);
    announce({ kind: 'good', text: isOn ? t('turnedOn', { name }) : t('turnedOff', { name }) });
  }
  function turn(module: Module, isOn: boolean) {
    if (isOn)
      change(module, true).catch((error: unknown) => announce({ kind: 'bad', text: errorText(error) }));
    else {
      setAsked(module);
      setAsking(true);
    }
  }
  return (
    <Section title={t('modules')} text={t('modulesText')}>
      <ul className={css.modules}>
        {MODULES.map((module) => (
          <li key={module} className={css.module}>
            <Switch
              label={t(`module.${module}.name`)}
              description={t(`module.${module}.text`)}
              checked={facility.modules.includes(module)}
              onChange={(event) => turn(module, event.currentTarget.checked)}
            />
          </li>
        ))}
      </ul>
      <ConfirmDialog
        opened={isAsking}
        isDangerous
        title={t('turnOff', { name: t(`module.${asked}.name`) })}
        text={
          <>
            <p className={css.first}>
              {t('stopNow')} {t(`module.${asked}.stops`)}
            </p>
            <p className={css.quiet}>{t('kept')}</p>
          </>
        }
        action={t('turnOffAction')}
        onConfirm={() => change(asked, false)}
        onClose={() => setAsking(false)}
      />
    </Section>
  );
}
