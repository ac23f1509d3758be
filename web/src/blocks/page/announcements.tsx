/** Short notices of what was done, or was not. They are read out, and go away by themselves unless something failed. */
import { CloseButton } from '@mantine/core';
import { useEffect } from 'react';
import { useTranslations } from 'use-intl';
import { sharedValue } from '../../app/shared-value.ts';
import css from './announcements.module.css';

interface Announcement {
  kind: 'good' | 'bad';
  text: string;
}

type Shown = Announcement & { id: number };

const SHOWN_MS = 6_000;
const shown = sharedValue<readonly Shown[]>([]);
let lastId = 0;

export function announce(announcement: Announcement): void {
  lastId += 1;
  shown.set([...shown.get(), { ...announcement, id: lastId }].slice(-4));
}

/** Somebody else is there, or the same person after a while. */
export function dismissAll(): void {
  shown.set([]);
}

function dismiss(id: number): void {
  shown.set(shown.get().filter((one) => one.id !== id));
}

export function Announcements() {
  return (
    <div className={css.place} role="status" aria-live="polite">
      {shown.use().map((one) => (
        <Notice key={one.id} {...one} />
      ))}
    </div>
  );
}

function Notice({ id, kind, text }: Shown) {
  const t = useTranslations('blocks');
  useEffect(() => {
    if (kind === 'bad') return undefined;
    const timer = setTimeout(() => dismiss(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, kind]);
  return (
    <div className={`${css.notice} ${css[kind]}`}>
      <span className={css.text}>{text}</span>
      <CloseButton size="sm" aria-label={t('dismiss')} onClick={() => dismiss(id)} />
    </div>
  );
}
