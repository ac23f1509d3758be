/**
 * The bar above the page: facility, command palette, and the person's menu. It is no `header`: each dialog of the library
 * has one, and a page may have one alone.
 */
import { Kbd, Menu, NativeSelect, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { CircleUser, Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useLanguage } from '../app/language.tsx';
import { openCommandPalette } from '../blocks/dialogs/command-palette.tsx';
import { leavePage } from '../blocks/dialogs/unsaved-changes.tsx';
import { announce } from '../blocks/page/announcements.tsx';
import { LANGUAGES, type Language } from '../messages/catalogue.ts';
import css from './bar.module.css';
import { useSession } from './session-context.tsx';
import { useSignOut } from './sign-out.ts';

const SCHEMES = ['light', 'dark', 'auto'] as const;
type Scheme = (typeof SCHEMES)[number];

export function Bar({ menu }: { menu: ReactNode }) {
  const t = useTranslations('shell');
  return (
    <section className={css.bar} aria-label={t('bar')}>
      {menu}
      <FacilityChooser />
      <UnstyledButton className={css.search} onClick={openCommandPalette} aria-keyshortcuts="Control+K">
        <Search size={15} aria-hidden="true" />
        <span className={css.searchText}>{t('search')}</span>
        <Kbd size="xs" className={css.keys} aria-hidden="true">
          Ctrl K
        </Kbd>
      </UnstyledButton>
      <PersonMenu />
    </section>
  );
}

function FacilityChooser() {
  const t = useTranslations('shell');
  const { session, facility, chooseFacility } = useSession();
  if (session.facilities.length < 2)
    return <span className={css.facility}>{facility?.name ?? session.organisation.name}</span>;
  return (
    <NativeSelect
      className={css.chooser}
      size="xs"
      aria-label={t('facility')}
      value={facility?.id}
      data={session.facilities.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        leavePage(() => chooseFacility(chosen));
      }}
    />
  );
}

function PersonMenu() {
  const t = useTranslations('shell');
  const { session } = useSession();
  const { language, choose } = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme({
    // To stop transitions, the library would write a style element.
    keepTransitions: true,
  });
  const navigate = useNavigate();
  const { signOut } = useSignOut();
  const chooseLanguage = (chosen: Language) =>
    void choose(chosen).catch(() => announce({ kind: 'bad', text: t('languageMissing') }));
  return (
    <Menu position="bottom-end" width={240} transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <UnstyledButton className={css.person} aria-label={t('person', { email: session.account.email })}>
          <CircleUser size={20} strokeWidth={1.6} aria-hidden="true" />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={css.who}>
          <strong>{session.account.email}</strong>
          <span>{session.account.role}</span>
          <span>{session.organisation.name}</span>
        </div>
        <Menu.Divider />
        <Menu.Item onClick={() => void navigate({ to: '/my-account' })}>{t('toMyAccount')}</Menu.Item>
        <Menu.Divider />
        <Menu.Label>{t('colours')}</Menu.Label>
        <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as Scheme)}>
          {SCHEMES.map((scheme) => (
            <Menu.RadioItem key={scheme} value={scheme}>
              {t(`schemes.${scheme}`)}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Label>{t('language')}</Menu.Label>
        <Menu.RadioGroup value={language} onChange={(tag) => chooseLanguage(tag as Language)}>
          {Object.entries(LANGUAGES).map(([tag, name]) => (
            <Menu.RadioItem key={tag} value={tag} lang={tag}>
              {name}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item onClick={() => leavePage(signOut)}>{t('signOut')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
