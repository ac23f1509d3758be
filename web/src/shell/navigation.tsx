/** The pages that the person's permissions open, in groups. Contract: WEB-7. */
import { Link, useRouter } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { PageDefinition } from '../app/page-definition.ts';
import css from './navigation.module.css';
import { useSession } from './session-context.tsx';

const GROUPS = ['organisation', 'records', 'exchange', 'account'] as const;

interface NavigationEntry {
  path: string;
  page: PageDefinition & Required<Pick<PageDefinition, 'navigation'>>;
}

/** Every page of the navigation that the person may open. */
export function useNavigation(): NavigationEntry[] {
  const { may } = useSession();
  const router = useRouter();
  return Object.values(router.routesById as Record<string, { fullPath: string; options: object }>)
    .map(({ fullPath, options }) => ({
      path: fullPath,
      page: (options as { staticData?: { page?: PageDefinition } }).staticData?.page,
    }))
    .filter((entry): entry is NavigationEntry => entry.page?.navigation !== undefined)
    .filter(({ page }) => may(...page.permissions))
    .sort((a, b) => a.page.navigation.position - b.page.navigation.position);
}

export function Navigation() {
  const t = useTranslations();
  const entries = useNavigation();
  return (
    <nav aria-label={t('shell.navigation')} className={css.navigation}>
      {GROUPS.map((group) => {
        const pages = entries.filter(({ page }) => page.navigation.group === group);
        if (pages.length === 0) return undefined;
        return (
          <div key={group} className={css.group}>
            {group === 'account' ? undefined : (
              <div className={css.heading} id={`navigation-${group}`}>
                {t(`shell.groups.${group}`)}
              </div>
            )}
            <ul aria-label={t(`shell.groups.${group}`)}>
              {pages.map(({ path, page }) => {
                const Icon = page.navigation.icon;
                return (
                  <li key={page.name}>
                    <Link
                      to={path as '/'}
                      className={css.link}
                      activeProps={{ className: `${css.link} ${css.active}` }}
                      activeOptions={{ exact: path === '/', includeSearch: false }}
                    >
                      <Icon size={16} strokeWidth={1.8} aria-hidden="true" />
                      {t(`${page.name}.title`)}
                    </Link>
                  </li>
                );
              })}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}
