/** The JSON shapes of second factors. */

import { named } from '../../platform/http/named-schema.ts';
import { Type } from '../../platform/json-schema.ts';

export const PasswordBody = named(
  'PasswordProof',
  Type.Object({
    password: Type.String({ minLength: 1, maxLength: 1_024, description: 'Your password, once more.' }),
  }),
);
export const PASSWORD_EXAMPLE = { password: 'the password' };

export const CodeBody = named(
  'SecondFactorCode',
  Type.Object({ code: Type.String({ minLength: 1, maxLength: 64 }) }),
);

const codes = Type.Array(Type.String(), { description: 'Shown once. Each is good once.' });
const CODES_EXAMPLE = ['k7mw-2hqp-x9vd-t4cn'];

export const RecoveryCodes = named(
  'RecoveryCodes',
  Type.Object({ recoveryCodes: codes }, { examples: [{ recoveryCodes: CODES_EXAMPLE }] }),
);

export const ConfirmedFactor = named(
  'ConfirmedFactor',
  Type.Object(
    { recoveryCodes: Type.Optional(codes) },
    {
      description: 'It has recovery codes if this is the first second factor of the account.',
      examples: [{ recoveryCodes: CODES_EXAMPLE }],
    },
  ),
);

export const NewTotp = named(
  'NewTotp',
  Type.Object(
    {
      secret: Type.String({ description: 'To be typed into the app, base32.' }),
      uri: Type.String({ description: 'The same for a QR code.' }),
    },
    {
      examples: [
        {
          secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
          uri: 'otpauth://totp/interchange:ada%40example.org?issuer=interchange&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
        },
      ],
    },
  ),
);
