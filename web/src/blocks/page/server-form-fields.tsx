/** The fields of a form of the service, below what the service said of the last try. */
import { Stack } from '@mantine/core';
import type { ReactNode, SubmitEventHandler } from 'react';
import { CallFault } from '../states/fault.tsx';

interface ServerFormFieldsProperties {
  form: { onSubmit: SubmitEventHandler<HTMLFormElement>; error: unknown };
  gap?: 'sm' | 'md';
  /** Where the form fails in ways of its own. */
  errorText?: (error: unknown) => string;
  children: ReactNode;
}

export function ServerFormFields({ form, gap = 'md', errorText, children }: ServerFormFieldsProperties) {
  return (
    <form onSubmit={form.onSubmit}>
      <Stack gap={gap}>
        <CallFault error={form.error} errorText={errorText} />
        {children}
      </Stack>
    </form>
  );
}
