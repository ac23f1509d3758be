/** What every form that changes a password ends with: the present one, the new one, and the button. */
import { PasswordInput } from '@mantine/core';
import { type ChangeEvent, useId } from 'react';
import { SendButton } from '../blocks/page/send-button.tsx';
import { PasswordStrength } from './password-strength.tsx';

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
  const id = useId();
  return (
    <>
      <PasswordInput label={labels.present} autoComplete="current-password" required {...present} />
      <div>
        <PasswordInput
          label={labels.next}
          autoComplete="new-password"
          required
          aria-describedby={id}
          {...next}
        />
        <PasswordStrength id={id} password={next.value} email={email} old={present.value} />
      </div>
      <SendButton type="submit" isSending={isSending}>
        {labels.submit}
      </SendButton>
    </>
  );
}

/** How messages of the service about the new one begin. */
export const ABOUT_NEW_PASSWORD = [
  'The password must ',
  'The password is one of ',
  'The new password ',
  'Le mot de passe ',
  'Le nouveau mot de passe ',
];
