/** Short notices of what was done, or was not. They are read out, and go away by themselves unless something failed. */
import { CloseButton } from '@mantine/core';
import { useEffect, useSyncExternalStore } from 'react';
import { useTranslations } from 'use-intl';
import css from './announcements.module.css';

export interface Announcement {
  kind: 'good' | 'bad';
  text: string;
}

type Shown = Announcement & { id: number };

const SHOWN_MS = 6_000;
let shown: readonly Shown[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function change(next: readonly Shown[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

export function announce(announcement: Announcement): void {
  lastId += 1;
  change([...shown, { ...announcement, id: lastId }].slice(-4));
}

function dismiss(id: number): void {
  change(shown.filter((one) => one.id !== id));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Announcements() {
  const all = useSyncExternalStore(subscribe, () => shown);
  return (
    <div className={css.place} role="status" aria-live="polite">
      {all.map((one) => (
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
