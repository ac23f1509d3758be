/** Says once that a proxy seems to stand in front while TRUST_PROXY names none. */
import type { FastifyInstance } from 'fastify';
import type { Log } from '../../platform/log/log.ts';

/** What proxies say of the client; without TRUST_PROXY it is not believed (docs/environment.md). */
const FORWARDED_HEADERS = ['x-forwarded-for', 'forwarded'];

export function warnOfUntrustedProxy(server: FastifyInstance, log: Log): void {
  let said = false;
  server.addHook('onRequest', (request, _reply, done) => {
    if (!said && FORWARDED_HEADERS.some((name) => request.headers[name] !== undefined)) {
      said = true;
      log.warn(
        { event: 'proxy.untrusted' },
        'a request has the header x-forwarded-for or forwarded, but TRUST_PROXY is not set. If the service is behind a proxy, all clients share one sign-in lock. Set TRUST_PROXY to the address of the proxy',
      );
    }
    done();
  });
}
