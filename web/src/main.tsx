/** The console: providers around the router. */
import '@mantine/core/styles.css';
import './styles/tokens.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { LanguageProvider } from './app/language.tsx';
import { Look } from './app/look.tsx';
import { queries } from './app/queries.ts';
import { router } from './app/router.ts';
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
