/**
 * Tests a connection: one signed request without patient data, sent as a delivery is, outside of the queue. Contract:
 * ADM-60, ADM-61, ADM-62, ADM-71, ADM-75.
 */
import { randomUUID } from 'node:crypto';
import { AddressRefusedError } from '../../outbound/outbound-address.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { type ManageDependencies, manageable } from '../connections/manage-connections.ts';
import { exchangeError } from '../errors.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import { type LoadedConnection, loadConnection } from '../worker/loaded-connection.ts';
import type { DeliveryAnswer } from '../worker/send.ts';
import type { ConnectionTest } from './connection-test.schema.ts';
import { leaveTestSlot, secondsToNextTest, takeTestSlot } from './test-slot.store.ts';

type Context = Pick<FacilityContext, 'scope' | 'caller' | 'now' | 'correlationId' | 'databaseTime'>;

/**
 * 404 and 403 as for a change of the connection; 409 when it is disabled; 429 so soon after another test. What the
 * exchange did is no error.
 */
export async function testConnection(
  { db, keys, config }: ManageDependencies,
  context: Context,
  id: string,
): Promise<ConnectionTest> {
  const { key } = await manageable({ db }, context, id);
  const startedMs = performance.now();
  const took = () => Math.round(performance.now() - startedMs);
  try {
    // A version is of use to workers only.
    const connection = await loadConnection({ db, keys, settings: config.delivery }, key, 0);
    if (connection === undefined) throw exchangeError('connection_disabled');
    try {
      const answer = await sendInTurn(db, connection, key, context);
      return {
        status: answer.kind === 'answered' ? answer.status : null,
        latencyMs: took(),
        ...said(answer),
      };
    } finally {
      connection.sender.close();
    }
  } catch (error) {
    if (!(error instanceof AddressRefusedError)) throw error;
    return { status: null, latencyMs: took(), ...ADDRESS_REFUSED };
  }
}

/** One at a time: whoever may test a connection could flood an exchange through this service otherwise. */
async function sendInTurn(
  db: ManageDependencies['db'],
  connection: LoadedConnection,
  key: ConnectionKey,
  { databaseTime, now }: Context,
): Promise<DeliveryAnswer> {
  const { timeoutMs } = connection;
  const begunAt = await takeTestSlot(db, key, { databaseTime, timeoutMs });
  if (begunAt === undefined) {
    const retryAfterSeconds = await secondsToNextTest(db, key, databaseTime);
    throw exchangeError('tested_just_now', { retryAfterSeconds });
  }
  try {
    return await send(connection, key, now);
  } finally {
    await leaveTestSlot(db, key, { begunAt, timeoutMs });
  }
}

function send(connection: LoadedConnection, key: ConnectionKey, time: Date): Promise<DeliveryAnswer> {
  const deliveryId = randomUUID();
  const body = JSON.stringify({
    deliveryId,
    event: 'connection.test',
    occurredAt: time,
    organisationId: key.organisationId,
    connectionId: key.connectionId,
  });
  const secret = connection.secretAt(time);
  return connection.sender.post({ body, deliveryId, nonce: randomUUID(), time, secret });
}

type Said = Pick<ConnectionTest, 'result' | 'cause' | 'message'>;

const ADDRESS_REFUSED: Said = {
  result: 'address-refused',
  cause: null,
  message:
    'The address of the connection is not allowed, so nothing was sent. Correct the address, or ask the operator.',
};

function said(answer: DeliveryAnswer): Said {
  if (answer.kind === 'answered') return { cause: null, ...saidOf(answer.status) };
  const { code: cause } = answer;
  if (cause === 'address_refused') return ADDRESS_REFUSED;
  return answer.reached
    ? { result: 'unanswered', cause, message: `The exchange did not answer (${cause}). Ask its operator.` }
    : {
        result: 'unreachable',
        cause,
        message: `The exchange could not be reached (${cause}). Check the address, the network and the certificate.`,
      };
}

function saidOf(status: number): Omit<Said, 'cause'> {
  if (status >= 200 && status < 300)
    return { result: 'taken', message: 'The exchange took the test request.' };
  const answered = `The exchange answered ${status}.`;
  if (status === 401 || status === 403)
    return {
      result: 'not-authorised',
      message: `${answered} Check the client id, the outbound secret and its clock.`,
    };
  if (status >= 300 && status < 400)
    return {
      result: 'redirected',
      message: `${answered} Redirects are not followed: correct the address.`,
    };
  const reached = `${answered} It can be reached, but`;
  if (status === 501)
    return {
      result: 'failing',
      message: `${reached} does not take POST requests. Check the address first: it may lead to another server.`,
    };
  if (status >= 500)
    return { result: 'failing', message: `${answered} It does not work as it should. Ask its operator.` };
  return { result: 'not-taken', message: `${reached} ${NOT_TAKEN[status] ?? EVENT_NOT_TAKEN}` };
}

const EVENT_NOT_TAKEN = 'does not take the event connection.test. It may take deliveries all the same.';
const WRONG_PATH =
  'has nothing at this path. Most likely the path of the address is wrong: check it first. If it is right, ask the operator of the exchange.';
const PAUSE = 'asks for a pause. Test it again in a minute.';

/** What comes after "It can be reached, but" (RFC 9110 section 15.5, RFC 6585 section 4, RFC 8470 section 5.2). */
const NOT_TAKEN: Readonly<Record<number, string>> = {
  404: WRONG_PATH,
  405: `${EVENT_NOT_TAKEN} If it does not, check the path of the address.`,
  408: PAUSE,
  410: WRONG_PATH,
  415: 'does not take JSON, which deliveries are sent as. Ask its operator.',
  425: PAUSE,
  429: PAUSE,
};
