/** The fields of a form of the service, below what the service said of the last try. */
import { Stack } from '@mantine/core';
import type { ReactNode, SubmitEventHandler } from 'react';
import { useErrorText } from '../states/error-text.ts';
import { Fault } from '../states/fault.tsx';

interface ServerFormFieldsProperties {
  form: { onSubmit: SubmitEventHandler<HTMLFormElement>; error: unknown };
  gap?: 'sm' | 'md';
  /** Where the form fails in ways of its own. */
  errorText?: (error: unknown) => string | undefined;
  children: ReactNode;
}

export function ServerFormFields({ form, gap = 'md', errorText, children }: ServerFormFieldsProperties) {
  const usualText = useErrorText();
  const textOf = errorText ?? usualText;
  return (
    <form onSubmit={form.onSubmit}>
      <Stack gap={gap}>
        <Fault text={form.error === undefined ? undefined : textOf(form.error)} />
        {children}
      </Stack>
    </form>
  );
}
