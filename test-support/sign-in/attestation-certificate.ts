/** A certificate as authenticators send along with a new passkey, in DER (RFC 5280; WebAuthn Level 3, section 8.2.1). */
import { type KeyObject, sign } from 'node:crypto';

const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const SUBJECT = [
  [6, 'AA'],
  [10, 'A Maker'],
  [11, 'Authenticator Attestation'],
  [3, 'A Model'],
] as const;

/** Of a pair of keys, signed with it. Good for a long time. */
export function attestationCertificate({
  publicKey,
  privateKey,
}: {
  publicKey: KeyObject;
  privateKey: KeyObject;
}): Uint8Array {
  const algorithm = der(0x30, der(0x06, Buffer.from(ECDSA_WITH_SHA256)));
  const name = der(
    0x30,
    ...SUBJECT.map(([attribute, text]) =>
      der(0x31, der(0x30, der(0x06, Buffer.from([0x55, 4, attribute])), der(0x0c, Buffer.from(text)))),
    ),
  );
  const signed = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    der(0x30, time('20200101'), time('20990101')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', signed, privateKey));
  return Uint8Array.from(der(0x30, signed, algorithm, signature));
}

function time(day: string): Buffer {
  return der(0x18, Buffer.from(`${day}000000Z`));
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
