/** Everything that is sealed under data keys, but for the access log (src/privacy/access-log/access-log-keys.ts). */
import { SEALED_CONNECTION_SECRETS } from '../../exchange/connections/connection-secret.ts';
import type { SealedTable } from '../../platform/crypto/sealed-table.ts';
import { SEALED_FHIR_SERVER_SECRETS } from '../../publish/servers/fhir-server.store.ts';
import { SEALED_SIGNING_KEYS } from '../../sign-in/keys/rotate-signing-key.ts';
import { SEALED_TOTP_SECRETS } from '../../sign-in/second-factor/totp.ts';

export const SEALED_TABLES: readonly SealedTable[] = [
  SEALED_SIGNING_KEYS,
  SEALED_CONNECTION_SECRETS,
  SEALED_FHIR_SERVER_SECRETS,
  SEALED_TOTP_SECRETS,
];
