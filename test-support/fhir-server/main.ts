/**
 * The FHIR server as a process of its own: what is measured beside it, or killed, has its processor to itself. Prints its
 * origin. Its arguments are the options of server.ts.
 *
 * Control, beside the FHIR interface: POST /control/script, POST /control/reset, POST /control/remove,
 * POST /control/put, POST /control/release, GET /control/state.
 */
import { text } from 'node:stream/consumers';
import { parseResource } from '../../tools/fhir-simulator/fhir-interface.ts';
import type { Resource } from '../../tools/fhir-simulator/fhir-store.ts';
import type { Fault } from './faults.ts';
import { openFhirServer } from './server.ts';

const { origin } = await openFhirServer(
  process.argv.slice(2),
  async (control, url, { request, response }) => {
    const given = parseResource(await text(request)) as unknown as Record<string, never> | undefined;
    if (url === '/control/script') control.script((given?.faults ?? []) as Fault[]);
    if (url === '/control/reset') control.reset();
    if (url === '/control/remove') control.remove(String(given?.key), given?.deleted === true);
    if (url === '/control/put') control.put(given?.resource as unknown as Resource, String(given?.id));
    if (url === '/control/release') control.release();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(url === '/control/state' ? control.state() : '{}');
  },
);
process.stdout.write(`${origin}\n`);
process.on('disconnect', () => process.exit());
