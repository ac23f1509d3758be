/** Passkeys of this browser: made, and asked to answer a challenge. Contract: WEB-50, WEB-51. */
import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser';
import { useTranslations } from 'use-intl';
import { basePath } from '../app/address.ts';
import { useErrorText } from '../blocks/states/error-text.ts';

export { browserSupportsWebAuthn, WebAuthnAbortService } from '@simplewebauthn/browser';

export async function makePasskey(options: PublicKeyCredentialCreationOptionsJSON) {
  checkHost(options.rp.id);
  return startRegistration({ optionsJSON: options });
}

export async function answerByPasskey(options: PublicKeyCredentialRequestOptionsJSON) {
  checkHost(options.rpId);
  return startAuthentication({ optionsJSON: options });
}

/** The message is the host that passkeys of the service belong to; the page is at another. */
class OtherHost extends Error {}

/** The console at that host. A page without https is reached by another port there, but on the machine itself. */
function consoleAt(host: string): string {
  const url = new URL(basePath, location.origin);
  if (url.protocol === 'http:' && host !== 'localhost') {
    url.protocol = 'https:';
    url.port = '';
  }
  url.hostname = host;
  return url.href;
}

/** A browser would refuse without a word of why, such as at http://127.0.0.1, where they belong to `localhost`. */
function checkHost(host = location.hostname): void {
  if (host !== location.hostname) throw new OtherHost(host);
}

/** Browsers tell neither who stopped nor why: a cancel, a time-out and a passkey that is there already look alike. */
export function usePasskeyErrorText(): (error: unknown) => string {
  const t = useTranslations('secondFactor');
  const errorText = useErrorText();
  return (error) => {
    if (error instanceof OtherHost)
      return t('passkeyElsewhere', {
        host: error.message,
        here: location.hostname,
        address: consoleAt(error.message),
      });
    const isStopped = error instanceof WebAuthnError || error instanceof DOMException;
    return isStopped ? t('passkeyStopped') : errorText(error);
  };
}
