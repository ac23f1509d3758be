/** The role asks for a second factor, and the account has none yet: it is set up here. Contract: WEB-51. */
import { Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { readSessionAgain } from '../app/queries.ts';
import { AddApp } from '../second-factor/add-app.tsx';
import { AddPasskey } from '../second-factor/add-passkey.tsx';
import { RecoveryCodes } from '../second-factor/recovery-codes.tsx';
import css from './enrol-page.module.css';
import { OutsidePage } from './outside-page.tsx';
import { SignOutButton } from './sign-out-button.tsx';

const KINDS = ['app', 'passkey'] as const;
type Kind = (typeof KINDS)[number];

interface EnrolPageProperties {
  /** Shown until they are kept. Meanwhile nothing else of the person may take their place. */
  codes: readonly string[] | undefined;
  onCodes: (codes: readonly string[] | undefined) => void;
}

export function EnrolPage({ codes, onCodes }: EnrolPageProperties) {
  const t = useTranslations('signIn');
  const tFactor = useTranslations('secondFactor');
  const [kind, setKind] = useState<Kind>();
  const finish = () => void readSessionAgain().finally(() => onCodes(undefined));
  if (codes !== undefined)
    return (
      <OutsidePage key="codes" title={tFactor('recovery')} isFocused>
        <RecoveryCodes codes={codes} onKept={finish} />
      </OutsidePage>
    );
  const onAdded = (given: readonly string[] | undefined) => {
    if (given === undefined) return finish();
    onCodes(given);
    // It says whose they are.
    void readSessionAgain();
  };
  return (
    <OutsidePage title={t('enrol')} text={t('enrolText')} isFocused>
      <Stack gap="md">
        <div className={css.kinds}>
          {KINDS.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === kind}
              className={css.kind}
              onClick={() => setKind(one)}
            >
              <strong>{tFactor(one)}</strong>
              <span>{tFactor(`${one}Text`)}</span>
            </button>
          ))}
        </div>
        {kind === 'app' ? <AddApp onAdded={onAdded} /> : undefined}
        {kind === 'passkey' ? <AddPasskey onAdded={onAdded} /> : undefined}
        <SignOutButton />
      </Stack>
    </OutsidePage>
  );
}
