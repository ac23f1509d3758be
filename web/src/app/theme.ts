/**
 * What Mantine's components look like here. Colours and sizes are variables in styles/tokens.css: the provider writes no
 * style element, which the content security policy would refuse.
 */
import {
  Checkbox,
  createTheme,
  Drawer,
  Modal,
  ModalRoot,
  PasswordInput,
  Radio,
  Tooltip,
} from '@mantine/core';
import { findFocus } from './focus.ts';

/** A scroll lock of the library writes a style element; tokens.css locks the page instead. */
const lockScroll = false;

/** Of the hint and the fault of a field, whatever its size. The library makes them two pixels smaller than its label: 10 or 11. */
const HINT_SIZE = '0.8125rem';
const hints = {
  description: { '--input-description-size': HINT_SIZE },
  error: { '--input-error-size': HINT_SIZE },
};

/** What is ticked or picked is read as a text of the page, beside a box of the small size. */
const ticked = {
  inner: { marginTop: '0.125rem' },
  label: { fontSize: 'var(--mantine-font-size-md)', lineHeight: '1.25rem' },
};

/** `close` and `show`: what the buttons are called that close a dialog, and that show a password. */
export function themeOf(close: string, show: string) {
  const closeButtonProps = { 'aria-label': close };
  return createTheme({
    primaryColor: 'indigo',
    primaryShade: { light: 8, dark: 8 },
    defaultRadius: 'sm',
    respectReducedMotion: true,
    components: {
      Checkbox: Checkbox.extend({ styles: ticked }),
      Radio: Radio.extend({ styles: ticked }),
      // Nearly every field is required.
      InputWrapper: { vars: () => hints, defaultProps: { withAsterisk: false } },
      InputDescription: { vars: () => hints },
      InputError: { vars: () => hints },
      PasswordInput: PasswordInput.extend({
        defaultProps: {
          visibilityToggleFocusable: true,
          visibilityToggleButtonProps: { 'aria-label': show },
        },
      }),
      Modal: Modal.extend({
        defaultProps: {
          lockScroll,
          closeButtonProps,
          centered: true,
          // The second press of a double click would close what the first one opened. Contract: WEB-76.
          closeOnClickOutside: false,
          transitionProps: { duration: 0 },
          onExitTransitionEnd: findFocus,
        },
      }),
      ModalRoot: ModalRoot.extend({ defaultProps: { lockScroll, transitionProps: { duration: 0 } } }),
      // In its place in the document it is part of the page's landmarks.
      Tooltip: Tooltip.extend({ defaultProps: { withinPortal: false } }),
      Drawer: Drawer.extend({
        defaultProps: { lockScroll, closeButtonProps, transitionProps: { duration: 0 } },
      }),
    },
  });
}
