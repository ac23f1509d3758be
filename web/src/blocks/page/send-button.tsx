/**
 * A button that sends something, or that goes when it is pressed: it cannot be pressed again meanwhile, and the focus is not
 * lost by that. Contract: WEB-4.
 */
import { Button, type ButtonProps, type ElementProps } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { findFocus } from '../../app/focus.ts';

interface SendButtonProperties
  extends Omit<ButtonProps, 'loading'>,
    ElementProps<'button', keyof ButtonProps> {
  /** Left out where nothing is sent. */
  isSending?: boolean;
}

export function SendButton({ isSending = false, onClick, ...button }: SendButtonProperties) {
  const focused = useRef<Element | null>(null);
  // The browser takes the focus from what is disabled.
  useEffect(() => {
    if (isSending || document.activeElement !== document.body) return;
    if (focused.current instanceof HTMLElement) focused.current.focus({ preventScroll: true });
  }, [isSending]);
  // What was pressed may have taken the button away.
  useEffect(
    () => () => {
      if (focused.current !== null) findFocus();
    },
    [],
  );
  return (
    <Button
      loading={isSending}
      onClick={(event) => {
        focused.current = document.activeElement;
        onClick?.(event);
      }}
      {...button}
    />
  );
}
