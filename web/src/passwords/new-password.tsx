/** A new password, and what the service would say of it. */
import { PasswordInput } from '@mantine/core';
import { type ComponentProps, useId } from 'react';
import { PasswordStrength } from './password-strength.tsx';

/** How messages of the service about it begin. */
export const ABOUT_NEW_PASSWORD = [
  'The password must ',
  'The password is one of ',
  'The new password ',
  'Le mot de passe ',
  'Le nouveau mot de passe ',
];

interface NewPasswordProperties extends ComponentProps<typeof PasswordInput> {
  value: string;
  /** Address of the account. */
  email?: string;
  /** The password until now. */
  old?: string;
}

export function NewPassword({ email, old, ...input }: NewPasswordProperties) {
  const id = useId();
  return (
    <div>
      <PasswordInput autoComplete="new-password" required aria-describedby={id} {...input} />
      <PasswordStrength id={id} password={input.value} email={email} old={old} />
    </div>
  );
}
