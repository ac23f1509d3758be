/** What an import refuses, and how it is worded. */
import { domainErrors } from '../platform/domain-error.ts';
import { french } from './errors.fr.ts';

export const importError = domainErrors(
  {
    import_id_used: {
      status: 409,
      text: 'The organisation has an import with that importId already. Nothing was imported. Look at that import, or choose another importId.',
    },
    upload_stalled: {
      status: 408,
      headers: { connection: 'close' },
      text: ({ seconds, minBytes }: { seconds: number; minBytes?: number }) => {
        const time = `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
        const reason =
          minBytes === undefined
            ? `no data arrived for ${time}`
            : `fewer than ${minBytes} bytes arrived in ${time}`;
        return `The import was stopped: ${reason}. Nothing was kept. Send it again.`;
      },
      example: { seconds: 60 },
    },
  },
  french,
);
