/** An authenticator app is added: password, QR code, and a code of the app that proves it works. Contract: WEB-51. */
import { Code, Stack, Text, TextInput } from '@mantine/core';
import { generate } from 'lean-qr';
import { useMemo, useState } from 'react';
import { useTranslations } from 'use-intl';
import type { Answer } from '../api/answer.ts';
import { answered, api } from '../api/api.ts';
import { CopyButton } from '../blocks/copies/copy-button.tsx';
import { SendButton } from '../blocks/page/send-button.tsx';
import { useServerForm } from '../blocks/page/server-form.ts';
import { CallFault } from '../blocks/states/fault.tsx';
import css from './add-app.module.css';
import { PasswordStep } from './password-step.tsx';

type NewSecret = Answer<'/second-factor/totp', 'post'>;

interface AddAppProperties {
  /** With codes when it is the first second factor. */
  onAdded: (recoveryCodes: readonly string[] | undefined) => void;
}

export function AddApp({ onAdded }: AddAppProperties) {
  const [made, setMade] = useState<NewSecret>();
  if (made !== undefined) return <ConfirmApp {...made} onAdded={onAdded} />;
  return (
    <PasswordStep
      submit={async (password) =>
        setMade(await answered(api.POST('/second-factor/totp', { body: { password } })))
      }
    />
  );
}

function ConfirmApp({ secret, uri, onAdded }: NewSecret & AddAppProperties) {
  const t = useTranslations('secondFactor');
  const form = useServerForm({
    values: { code: '' },
    asksForSecret: true,
    submit: async ({ code }) => {
      const body = { code: code.trim() };
      onAdded((await answered(api.POST('/second-factor/totp/confirm', { body }))).recoveryCodes);
    },
  });
  return (
    <form onSubmit={form.onSubmit}>
      <Stack gap="md">
        <div>
          <Text fw={550}>{t('scan')}</Text>
          <QrCode text={uri} label={t('qr')} />
        </div>
        <div>
          <Text size="xs" c="dimmed">
            {t('orType')}
          </Text>
          <div className={css.secret}>
            <Code className={css.letters}>{secret.match(/.{1,4}/g)?.join(' ')}</Code>
            <CopyButton text={secret} label={t('secret')} />
          </div>
        </div>
        <CallFault error={form.error} />
        <TextInput
          label={t('code')}
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          autoFocus
          {...form.field('code')}
        />
        <SendButton type="submit" isSending={form.isSending}>
          {t('confirm')}
        </SendButton>
      </Stack>
    </form>
  );
}

/** Light modules around the code, as cameras want them. */
const MARGIN = 4;

/** Drawn here: the secret in it goes to nobody. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { path, size } = useMemo(() => drawingOf(text), [text]);
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      className={css.qr}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <path d={path} fill="#000000" />
    </svg>
  );
}

function drawingOf(text: string): { path: string; size: number } {
  const code = generate(text);
  let path = '';
  for (let y = 0; y < code.size; y += 1)
    for (let x = 0; x < code.size; x += 1) if (code.get(x, y)) path += `M${x + MARGIN} ${y + MARGIN}h1v1h-1z`;
  return { path, size: code.size + 2 * MARGIN };
}
