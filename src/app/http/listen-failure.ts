/** What an operator is told when an address cannot be listened on. */
import { CommandError } from '../../platform/command/command.ts';

/** The settings that an address comes from. */
export interface AddressNames {
  host: string;
  port: string;
}

export const SERVICE_ADDRESS: AddressNames = { host: '--host or HOST', port: '--port or PORT' };
/** `npm start` takes no flags. */
export const START_ADDRESS: AddressNames = { host: 'HOST', port: 'PORT=<number> npm start' };
export const METRICS_ADDRESS: AddressNames = { host: 'METRICS_HOST', port: 'METRICS_PORT' };

/** A CommandError with the fix for what operating systems say of `listen`; any other failure as it is. */
export function listenFailure(
  error: unknown,
  { host, port }: { host: string; port: number },
  names: AddressNames,
): unknown {
  const anotherHost = `Give an address of this machine with ${names.host}, such as 127.0.0.1 or 0.0.0.0.`;
  const notHere = `This machine does not have the address ${host}. ${anotherHost}`;
  const unknown = `The host name ${host} is unknown. ${anotherHost}`;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `Another program uses ${host}:${port}. Choose another port with ${names.port}.`,
    EACCES: `This user may not listen on port ${port}. Choose a port of 1024 or more with ${names.port}.`,
    EADDRNOTAVAIL: notHere,
    EAFNOSUPPORT: notHere,
    ENOTFOUND: unknown,
    EAI_AGAIN: unknown,
  };
  const reason = reasons[String((error as NodeJS.ErrnoException).code)];
  return reason === undefined ? error : new CommandError(reason, { cause: error });
}
