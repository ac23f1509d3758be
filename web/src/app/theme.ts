/**
 * What Mantine's components look like here. Colours and sizes are variables in styles/tokens.css: the provider writes no
 * style element, which the content security policy would refuse.
 */
import {
  Button,
  createTheme,
  Drawer,
  Modal,
  ModalRoot,
  NativeSelect,
  PasswordInput,
  TextInput,
  Tooltip,
} from '@mantine/core';

/** A scroll lock of the library writes a style element; tokens.css locks the page instead. */
const lockScroll = false;

/** `close`: what the button that closes a dialog is called. */
export function themeOf(close: string) {
  const closeButtonProps = { 'aria-label': close };
  return createTheme({
    primaryColor: 'indigo',
    primaryShade: { light: 8, dark: 8 },
    defaultRadius: 'sm',
    focusRing: 'auto',
    respectReducedMotion: true,
    components: {
      Button: Button.extend({ defaultProps: { size: 'sm' } }),
      TextInput: TextInput.extend({ defaultProps: { size: 'sm' } }),
      PasswordInput: PasswordInput.extend({ defaultProps: { size: 'sm' } }),
      NativeSelect: NativeSelect.extend({ defaultProps: { size: 'sm' } }),
      Modal: Modal.extend({
        defaultProps: { lockScroll, closeButtonProps, centered: true, transitionProps: { duration: 0 } },
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
