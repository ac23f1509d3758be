/** The console: providers around the router. */
import '@mantine/core/styles.css';
import './styles/tokens.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, StrictMode, useMemo } from 'react';
import { createRoot } from 'react-dom/client';
import { useTranslations } from 'use-intl';
import { LanguageProvider } from './app/language.tsx';
import { queries } from './app/queries.ts';
import { router } from './app/router.ts';
import { themeOf } from './app/theme.ts';
import { Announcements } from './blocks/page/announcements.tsx';

const place = document.getElementById('console');
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <LanguageProvider>
        <Look>
          <QueryClientProvider client={queries}>
            <RouterProvider router={router} />
            <Announcements />
          </QueryClientProvider>
        </Look>
      </LanguageProvider>
    </StrictMode>,
  );

/** The components' look, in the language of the person. */
function Look({ children }: { children: ReactNode }) {
  const t = useTranslations('blocks');
  const [close, show] = [t('close'), t('showPassword')];
  const theme = useMemo(() => themeOf(close, show), [close, show]);
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
