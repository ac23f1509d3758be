/** One's own second factors: what there is, and dialogs that add, remove and renew. Contract: WEB-51, WEB-54. */
import { Button, Modal, Skeleton } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslations } from 'use-intl';
import { findFocus } from '../../app/focus.ts';
import { useCommands } from '../../blocks/dialogs/commands.ts';
import { Section } from '../../blocks/page/section.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { ZonedTime } from '../../blocks/values/zoned-time.tsx';
import { RecoveryCodes } from '../../second-factor/recovery-codes.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { FactorDialog, type FactorTask } from './factor-dialog.tsx';
import css from './my-account.module.css';
import { type Passkey, readOwnAgain, usePasskeys } from './own-account.ts';

export function SecondFactors() {
  const t = useTranslations('myAccount');
  const { totp, passkeys, recoveryCodesLeft, required } = useSession().session.secondFactor;
  const [task, setTask] = useState<FactorTask>();
  const [codes, setCodes] = useState<readonly string[]>();
  const has = totp || passkeys > 0;
  function kept() {
    setTask(undefined);
    setCodes(undefined);
    void readOwnAgain();
  }
  useCommands([
    ...(totp ? [] : [{ id: 'add-app', label: t('setUpApp'), run: () => setTask({ kind: 'add-app' }) }]),
    { id: 'add-passkey', label: t('addPasskey'), run: () => setTask({ kind: 'add-passkey' }) },
  ]);
  return (
    <Section title={t('secondFactor')} text={required ? t('required') : t('optional')}>
      <Factor
        name={t('app')}
        state={totp ? <StatusBadge tone="good" label={t('appOn')} /> : t('none')}
        action={
          totp ? (
            <Button
              variant="default"
              size="xs"
              aria-label={t('removeNamed', { name: t('app') })}
              onClick={() => setTask({ kind: 'remove-app' })}
            >
              {t('remove')}
            </Button>
          ) : (
            <Button
              size="xs"
              variant={has ? 'default' : undefined}
              onClick={() => setTask({ kind: 'add-app' })}
            >
              {t('setUpApp')}
            </Button>
          )
        }
      />
      <Factor
        name={t('passkeys')}
        state={passkeys === 0 ? t('noPasskeys') : undefined}
        action={
          <Button size="xs" variant="default" onClick={() => setTask({ kind: 'add-passkey' })}>
            {t('addPasskey')}
          </Button>
        }
      >
        {passkeys === 0 ? undefined : (
          <Passkeys count={passkeys} onRemove={(passkey) => setTask({ kind: 'remove-passkey', passkey })} />
        )}
      </Factor>
      <Factor
        name={t('recovery')}
        state={has ? t('recoveryLeft', { count: recoveryCodesLeft }) : t('recoveryNone')}
        action={
          has ? (
            <Button size="xs" variant="default" onClick={() => setTask({ kind: 'renew' })}>
              {t('renew')}
            </Button>
          ) : undefined
        }
      />
      {task === undefined || codes !== undefined ? undefined : (
        <FactorDialog task={task} onClose={() => setTask(undefined)} onCodes={setCodes} />
      )}
      {codes === undefined ? undefined : <NewCodes codes={codes} onKept={kept} />}
    </Section>
  );
}

/** It closes only when somebody says that they are kept. */
function NewCodes({ codes, onKept }: { codes: readonly string[]; onKept: () => void }) {
  const t = useTranslations('secondFactor');
  useEffect(() => findFocus, []);
  return (
    <Modal opened onClose={onKept} title={t('recovery')} closeOnEscape={false} withCloseButton={false}>
      <RecoveryCodes codes={codes} onKept={onKept} />
    </Modal>
  );
}

interface FactorProperties {
  name: string;
  state: ReactNode;
  action: ReactNode;
  children?: ReactNode;
}

function Factor({ name, state, action, children }: FactorProperties) {
  return (
    <div className={css.factor}>
      <div className={css.factorTop}>
        <div>
          <h3>{name}</h3>
          {state === undefined ? undefined : <div className={css.quiet}>{state}</div>}
        </div>
        {action}
      </div>
      {children}
    </div>
  );
}

function Passkeys({ count, onRemove }: { count: number; onRemove: (passkey: Passkey) => void }) {
  const t = useTranslations('myAccount');
  const { data, error, isPending, refetch } = usePasskeys();
  if (isPending) return <Skeleton height={48 * count} mt="xs" animate={false} />;
  if (data === undefined) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <ul className={css.passkeys}>
      {data.map((passkey) => (
        <li key={passkey.id} className={css.passkey}>
          <div>
            {passkey.name}
            <p className={css.quiet}>
              {t('added')} <ZonedTime at={passkey.createdAt} to="day" />,{' '}
              {passkey.lastUsedAt === null ? (
                t('neverUsed')
              ) : (
                <>
                  {t('lastUsed')} <ZonedTime at={passkey.lastUsedAt} />
                </>
              )}
            </p>
          </div>
          <Button
            variant="default"
            size="compact-sm"
            aria-label={t('removeNamed', { name: passkey.name })}
            onClick={() => onRemove(passkey)}
          >
            {t('remove')}
          </Button>
        </li>
      ))}
    </ul>
  );
}
