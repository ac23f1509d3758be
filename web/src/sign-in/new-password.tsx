/** A new password, and what the service would say of it. */
import { PasswordInput } from '@mantine/core';
import { type ComponentProps, useId } from 'react';
import { PasswordStrength } from './password-strength.tsx';

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
      <PasswordInput
        autoComplete="new-password"
        required
        withAsterisk={false}
        aria-describedby={id}
        {...input}
      />
      <PasswordStrength
        id={id}
        password={input.value}
        {...(email === undefined ? {} : { email })}
        {...(old === undefined ? {} : { old })}
      />
    </div>
  );
}
