/** The components' look, in the language of the person. */
import { MantineProvider } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { useTranslations } from 'use-intl';
import { themeOf } from './theme.ts';

export function Look({ children }: { children: ReactNode }) {
  const close = useTranslations('blocks')('close');
  const theme = useMemo(() => themeOf(close), [close]);
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      {children}
    </MantineProvider>
  );
}
