/** An authenticator in software: makes passkeys and answers challenges, truly or with one thing wrong (WebAuthn Level 3). */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import type { Json } from '../service/api.ts';
import { attestationCertificate } from './attestation-certificate.ts';

export interface AnswerChanges {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  counter?: number;
  /** User present 1, user verified 4. */
  flags?: number;
  format?: string;
  statement?: Map<string, unknown>;
  /** With a certificate, as some makers' are: right in every way. */
  certified?: boolean;
}

export interface Authenticator {
  id: string;
  /** The answer to `navigator.credentials.create`. */
  create(options: Json, changes?: AnswerChanges): Json;
  /** The answer to `navigator.credentials.get`. */
  get(options: Json, changes?: AnswerChanges): Json;
}

const ATTESTED = 0x40;
const PRESENT_AND_VERIFIED = 0x05;

/** `origin`: of the page that asks. It counts its signatures from `counter`; undefined: it counts none. */
export function createAuthenticator(origin: string, { counting = true } = {}): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  let signatures = 0;

  const authenticatorData = (rpId: string, changes: AnswerChanges, attested: Buffer = Buffer.alloc(0)) => {
    const counter = Buffer.alloc(4);
    if (counting) signatures += 1;
    counter.writeUInt32BE(changes.counter ?? signatures);
    const flags = (changes.flags ?? PRESENT_AND_VERIFIED) | (attested.length > 0 ? ATTESTED : 0);
    return Buffer.concat([
      sha256(Buffer.from(changes.rpId ?? rpId)),
      Buffer.from([flags]),
      counter,
      attested,
    ]);
  };
  const clientData = (type: string, challenge: string, changes: AnswerChanges) =>
    Buffer.from(
      JSON.stringify({
        type: changes.type ?? type,
        challenge: changes.challenge ?? challenge,
        origin: changes.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const credential = (response: Record<string, Buffer>) => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: Object.fromEntries(
      Object.entries(response).map(([name, value]) => [name, value.toString('base64url')]),
    ),
  });

  const signed = (data: Buffer, clientDataJSON: Buffer) =>
    sign('sha256', Buffer.concat([data, sha256(clientDataJSON)]), privateKey);

  return {
    id,
    create(options, changes = {}) {
      const key = new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Uint8Array.from(Buffer.from(x, 'base64url'))],
        [-3, Uint8Array.from(Buffer.from(y, 'base64url'))],
      ]);
      const length = Buffer.from([0, credentialId.length]);
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, isoCBOR.encode(key as never)]);
      const authData = Uint8Array.from(authenticatorData(options.rp.id, changes, attested));
      const clientDataJSON = clientData('webauthn.create', options.challenge, changes);
      const certified = new Map<string, unknown>([
        ['alg', -7],
        ['sig', Uint8Array.from(signed(Buffer.from(authData), clientDataJSON))],
        ['x5c', [attestationCertificate({ publicKey, privateKey })]],
      ]);
      const attestation = new Map<string, unknown>([
        ['fmt', changes.certified ? 'packed' : (changes.format ?? 'none')],
        ['attStmt', changes.certified ? certified : (changes.statement ?? new Map())],
        ['authData', authData],
      ]);
      return credential({
        clientDataJSON,
        attestationObject: Buffer.from(isoCBOR.encode(attestation as never)),
      });
    },
    get(options, changes = {}) {
      const data = authenticatorData(options.rpId, changes);
      const clientDataJSON = clientData('webauthn.get', options.challenge, changes);
      const signature = signed(data, clientDataJSON);
      return credential({ clientDataJSON, authenticatorData: data, signature });
    },
  };
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
