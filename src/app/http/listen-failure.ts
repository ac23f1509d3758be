/** What an operator is told when an address cannot be listened on. */
import { appError } from '../errors.ts';

/** The settings that an address comes from. */
export interface AddressNames {
  host: string;
  port: string;
}

export const SERVICE_ADDRESS: AddressNames = { host: '--host or HOST', port: '--port or PORT' };
/** `npm start` takes no flags. */
export const START_ADDRESS: AddressNames = { host: 'HOST', port: 'PORT=<number> npm start' };
export const METRICS_ADDRESS: AddressNames = { host: 'METRICS_HOST', port: 'METRICS_PORT' };

/** A DomainError with the fix for what operating systems say of `listen`; any other failure as it is. */
export function listenFailure(
  error: unknown,
  { host, port }: { host: string; port: number },
  names: AddressNames,
): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return appError('address_in_use', { host, port, option: names.port }, { cause: error });
    case 'EACCES':
      return appError('port_not_allowed', { port, option: names.port }, { cause: error });
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
      return appError('address_not_here', { host, option: names.host }, { cause: error });
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return appError('host_unknown', { host, option: names.host }, { cause: error });
    default:
      return error;
  }
}
