/** What the demo and the simulators refuse, and how it is worded. All of it is for the command line. */
import { domainErrors } from '../src/platform/domain-error.ts';

export const toolError = domainErrors(
  {
    demo_file_unreadable: {
      text: ({ path, code }: { path: string; code: string | undefined }) =>
        `${path} cannot be read (${code ?? 'damaged'}). Restore the file, or remove the data folder to start again with new data.`,
    },
    demo_made_before: {
      text: ({ email, path }: { email: string; path: string }) =>
        `The database already has the account ${email}, but ${path} has no password for it. Nothing was made. If a backup was restored, start the service with npx interchange serve. To start the demo that was made before, put its demo.json back.`,
    },
    bad_port: { exitCode: 2, text: '--port must be from 0 to 65535.' },
    port_not_free: {
      text: ({ port, code }: { port: number; code: string | undefined }) =>
        `The simulator cannot listen on port ${port} (${code}). Choose another port with --port, and the same port in the address of the connection or target.`,
    },
    bad_connection_file: {
      exitCode: 2,
      text: '--connection must name a file with the output that `interchange connection create --json` printed: outboundSecret, callbackSecret, callbackUrl.',
    },
  },
  {},
);
