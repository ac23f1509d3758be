/**
 * What passkeys answer, checked: by the challenge, the page that it came from, the host that it belongs to, and the
 * signature. The authenticator must have verified its user.
 * Contract: SIGN-IN-62.
 */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Passkey } from './passkey.store.ts';
import type { PasskeyParty } from './passkey-party.ts';

/** EdDSA, ES256 and RS256, which authenticators know. */
export const ALGORITHMS = [-8, -7, -257];

interface Asked {
  party: PasskeyParty;
  challenge: string;
}

/** What is stored of a new passkey; undefined for an answer that is not good. */
export async function checkNewPasskey(
  response: RegistrationResponseJSON,
  { party, challenge }: Asked,
): Promise<Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'> | undefined> {
  if (!(await hasNoCertificate(response))) return undefined;
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const { registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: party.origins,
    expectedRPID: party.rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => ({ registrationInfo: undefined }));
  if (registrationInfo === undefined) return undefined;
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
  return { credentialId: id, publicKey: Buffer.from(publicKey), counter, transports };
}

/**
 * None is asked for, and a certificate may name an address that would be called to learn whether it was revoked: nobody
 * is to have this service call an address of their choice.
 */
async function hasNoCertificate({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers');
  try {
    // With the decoder of the library that verifies it. Buffer reads other bytes where the text is not good base64url.
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
    const format = attestation.get('fmt');
    return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
  } catch {
    return false;
  }
}

/** The counter of the passkey from now on; undefined for an answer that is not good, or of a copy that fell behind. */
export async function checkPasskey(
  response: AuthenticationResponseJSON,
  { party, challenge, passkey }: Asked & { passkey: Passkey },
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: party.origins,
    expectedRPID: party.rpId,
    requireUserVerification: true,
    credential: {
      id: passkey.credentialId,
      publicKey: Uint8Array.from(passkey.publicKey),
      counter: passkey.counter,
    },
  }).catch(() => ({ verified: false, authenticationInfo: undefined }));
  return verified ? authenticationInfo?.newCounter : undefined;
}
