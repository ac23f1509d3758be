/** Ctrl+K (Cmd+K): go to a page or do something by typing a part of its name. Contract: WEB-9. */
import { Modal } from '@mantine/core';
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useTranslations } from 'use-intl';
import { sharedValue } from '../../app/shared-value.ts';
import css from './command-palette.module.css';
import { type Command, useFoundCommands } from './commands.ts';

const isOpen = sharedValue(false);

export function openCommandPalette(): void {
  isOpen.set(true);
}

export function CommandPalette() {
  const t = useTranslations('blocks');
  useEffect(() => {
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      // Above another dialog, one Escape would close both, and what is typed there be lost. Contract: WEB-76.
      const isAbove = !isOpen.get() && document.querySelector('[aria-modal="true"]') !== null;
      if (!isAbove) isOpen.set(!isOpen.get());
    };
    document.addEventListener('keydown', listen);
    return () => {
      document.removeEventListener('keydown', listen);
      isOpen.set(false);
    };
  }, []);
  return (
    <Modal.Root
      opened={isOpen.use()}
      onClose={() => isOpen.set(false)}
      yOffset="12vh"
      centered={false}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={t('palette')}>
        <Palette />
      </Modal.Content>
    </Modal.Root>
  );
}

function Palette() {
  const t = useTranslations('blocks');
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  // At once, so that no letter is lost of what is typed right after Ctrl+K. That is too early for the dialog, which would
  // give the focus back to this input. Contract: WEB-4.
  useLayoutEffect(() => {
    const before = document.activeElement;
    input.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  const found = useFoundCommands(text);
  const active = found[Math.min(at, found.length - 1)];

  const activeId = active === undefined ? undefined : `${list}-${active.id}`;
  useEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' });
  }, [activeId]);

  function run(command: Command | undefined) {
    if (command === undefined) return;
    isOpen.set(false);
    command.run();
  }
  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) {
      event.preventDefault();
      setAt((old) => (Math.min(old, found.length - 1) + step + found.length) % found.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(active);
    }
  }

  return (
    <>
      <input
        ref={input}
        className={css.input}
        data-autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={activeId}
        aria-label={t('paletteLabel')}
        placeholder={t('paletteLabel')}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={list} aria-label={t('palette')} className={css.list}>
        {found.map((command) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input, which keeps the focus, takes the keys.
          <div
            key={command.id}
            id={`${list}-${command.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={command === active}
            className={css.option}
            onClick={() => run(command)}
          >
            <span>{command.label}</span>
            <span className={css.kind}>{command.kind}</span>
          </div>
        ))}
      </div>
      {found.length > 0 ? undefined : <p className={css.none}>{t('paletteNone')}</p>}
    </>
  );
}
