/** Navigation at the side (a drawer where there is no room), the bar above, and the page. Contract: WEB-7. */
import { ActionIcon, Drawer } from '@mantine/core';
import { Outlet, useMatches, useRouterState } from '@tanstack/react-router';
import { Menu } from 'lucide-react';
import { Suspense, useEffect, useState } from 'react';
import { IntlProvider, useLocale, useMessages, useTranslations } from 'use-intl';
import { CommandPalette } from '../blocks/dialogs/command-palette.tsx';
import { PageSkeleton } from '../blocks/states/page-skeleton.tsx';
import { Bar } from './bar.tsx';
import css from './layout.module.css';
import { MissingPermission } from './missing-permission.tsx';
import { Navigation } from './navigation.tsx';
import { usePageCommands } from './page-commands.ts';
import { useSession } from './session-context.tsx';
import { Wordmark } from './wordmark.tsx';

/** Times of a facility are shown in its time zone. */
export function Layout() {
  const { facility } = useSession();
  const locale = useLocale();
  const messages = useMessages();
  return (
    <IntlProvider locale={locale} messages={messages as never} timeZone={facility?.timeZone ?? 'UTC'}>
      <Frame />
    </IntlProvider>
  );
}

function Frame() {
  const t = useTranslations('shell');
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  usePageCommands();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer closes when the page changes.
  useEffect(() => setOpen(false), [path]);
  return (
    <div className={css.frame}>
      <a className={css.skip} href="#page">
        {t('skip')}
      </a>
      <aside className={css.side}>
        <div className={css.still}>
          <div className={css.mark}>
            <Wordmark />
          </div>
          <Navigation />
        </div>
      </aside>
      <Drawer opened={isOpen} onClose={() => setOpen(false)} title={<Wordmark />} size="17rem" padding="sm">
        <Navigation />
      </Drawer>
      <div className={css.main}>
        <Bar
          menu={
            <ActionIcon
              className={css.menu}
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={t('openNavigation')}
              onClick={() => setOpen(true)}
            >
              <Menu size={20} />
            </ActionIcon>
          }
        />
        <main id="page" className={css.page} tabIndex={-1}>
          <Page />
        </main>
      </div>
      <CommandPalette />
    </div>
  );
}

function Page() {
  const { may, facility } = useSession();
  const permissions = useMatches({ select: (matches) => matches.at(-1)?.staticData.page?.permissions ?? [] });
  if (!may(...permissions)) return <MissingPermission permissions={permissions} />;
  return (
    <Suspense fallback={<PageSkeleton />} key={facility?.id}>
      <Outlet />
    </Suspense>
  );
}
