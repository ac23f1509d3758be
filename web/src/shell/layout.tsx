/** Navigation at the side (a drawer where there is no room), the bar above, and the page. Contract: WEB-7, WEB-78. */
import { ActionIcon, Code, Drawer } from '@mantine/core';
import { Link, Outlet, useMatches, useNavigate, useRouterState } from '@tanstack/react-router';
import { Menu } from 'lucide-react';
import { Suspense, useEffect, useState } from 'react';
import { IntlProvider, useLocale, useMessages, useTranslations } from 'use-intl';
import { CommandPalette } from '../blocks/dialogs/command-palette.tsx';
import { useCommands } from '../blocks/dialogs/commands.ts';
import { EmptyState } from '../blocks/states/empty-state.tsx';
import { PageSkeleton } from '../blocks/states/page-skeleton.tsx';
import { Bar } from './bar.tsx';
import css from './layout.module.css';
import { Navigation, useNavigation } from './navigation.tsx';
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
      <ComingPage />
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

/** The page before stays until the code of the next one is there. On a slow network that takes a while. */
function ComingPage() {
  const t = useTranslations('blocks');
  const isComing = useRouterState({ select: ({ isLoading }) => isLoading });
  if (!isComing) return undefined;
  return (
    <div className={css.coming} role="status">
      <span className="visually-hidden">{t('loading')}</span>
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

/** Every page that the person may open is in the command palette. */
function usePageCommands(): void {
  const t = useTranslations();
  const navigate = useNavigate();
  const entries = useNavigation();
  useCommands(
    entries.map(({ path, page }) => ({
      id: `page-${page.name}`,
      label: t(`${page.name}.title`),
      kind: t('shell.page'),
      run: () => void navigate({ to: path as '/' }),
    })),
  );
}

/** In place of a page that the person may not open: it says which permission is missing. */
function MissingPermission({ permissions }: { permissions: readonly string[] }) {
  const t = useTranslations('shell');
  return (
    <EmptyState
      level={1}
      title={t('missingPermission')}
      text={t.rich('missingPermissionText', {
        count: permissions.length,
        names: () => (
          <>
            {permissions.map((name, index) => (
              <span key={name}>
                {index === 0 ? '' : ', '}
                <Code>{name}</Code>
              </span>
            ))}
          </>
        ),
      })}
    >
      <Link to="/">{t('toOverview')}</Link>
    </EmptyState>
  );
}
