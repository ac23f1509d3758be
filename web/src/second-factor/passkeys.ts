/** Passkeys of this browser: made, and asked to answer a challenge. Contract: WEB-50, WEB-51. */
import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser';
import { useTranslations } from 'use-intl';
import { useErrorText } from '../blocks/states/error-text.ts';

export { browserSupportsWebAuthn, WebAuthnAbortService } from '@simplewebauthn/browser';

export function makePasskey(options: PublicKeyCredentialCreationOptionsJSON) {
  return startRegistration({ optionsJSON: options });
}

export function answerByPasskey(options: PublicKeyCredentialRequestOptionsJSON) {
  return startAuthentication({ optionsJSON: options });
}

/** Browsers tell neither who stopped nor why: a cancel, a time-out and a passkey that is there already look alike. */
export function usePasskeyErrorText(): (error: unknown) => string {
  const t = useTranslations('secondFactor');
  const errorText = useErrorText();
  return (error) =>
    error instanceof WebAuthnError || error instanceof DOMException ? t('passkeyStopped') : errorText(error);
}
