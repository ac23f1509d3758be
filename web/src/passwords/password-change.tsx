/** What every form that changes a password ends with: the present one, the new one, and the button. */
import { PasswordInput } from '@mantine/core';
import type { ChangeEvent } from 'react';
import { SendButton } from '../blocks/page/send-button.tsx';
import { NewPassword } from './new-password.tsx';

interface Field {
  name: string;
  value: string;
  error: string | undefined;
  onChange: (event: ChangeEvent<HTMLInputElement>) => void;
}

interface PasswordChangeProperties {
  email: string;
  present: Field;
  next: Field;
  isSending: boolean;
  labels: { present: string; next: string; submit: string };
}

export function PasswordChange({ email, present, next, isSending, labels }: PasswordChangeProperties) {
  return (
    <>
      <PasswordInput label={labels.present} autoComplete="current-password" required {...present} />
      <NewPassword label={labels.next} email={email} old={present.value} {...next} />
      <SendButton type="submit" isSending={isSending}>
        {labels.submit}
      </SendButton>
    </>
  );
}
