/** The parts that routes, workers and commands of features share, built once for a process. */
import { enqueuePatientChanges } from '../exchange/queue/enqueue-patient-changes.ts';
import { registerQueueGauges } from '../exchange/worker/exchange-metrics.ts';
import { renderOrders } from '../investigations/kept/render-orders.ts';
import { answeredWithin } from '../platform/db/database.ts';
import { type CursorCodec, createCursorCodec } from '../platform/http/cursor.ts';
import { errorFields } from '../platform/log/log.ts';
import { createPublisher, type Publisher } from '../publish/runs/publish.ts';
import { type ConsoleCookie, createConsoleCookie } from '../sign-in/console/console-cookie.ts';
import { createConsoleIdentifier, type IdentifyConsole } from '../sign-in/console/identify-console.ts';
import { createSignInSweep, eraseExpiredReplacements } from '../sign-in/sessions/sweep.ts';
import { createSignIn, type SignIn } from '../sign-in/sign-in.ts';
import { createRetentionSweep, RETENTION_LIMITS } from '../tenancy/organisations/retention.ts';
import { createTranslator, type Translator } from '../terminology/lookup/translate.ts';
import { createUnmappedRecorder, type UnmappedRecorder } from '../terminology/unmapped/record-unmapped.ts';
import type { HousekeepingStep } from './build-worker.ts';
import { retentionRules } from './commands/retention.ts';
import { createLoadReferenced } from './load-referenced.ts';
import type { Runtime } from './runtime/build-runtime.ts';

/** What the route table hands to routes; each takes what it needs of it. */
export interface Features extends Runtime, SignIn {
  publicBaseUrl: string;
  consoleCookie: ConsoleCookie;
  identifyConsole: IdentifyConsole;
  /** Queues deliveries of changed patients, in the transaction of the change. */
  onPatientsChanged: typeof enqueuePatientChanges;
  cursors: CursorCodec;
  translator: Translator;
  /** Its kept connections are let go of when the API closes. */
  publisher: Publisher;
  /** Flushed by its own timer, and when the API closes. */
  unmapped: UnmappedRecorder;
}

export async function buildFeatures(runtime: Runtime, publicBaseUrl: string): Promise<Features> {
  const counting = { db: runtime.db, work: runtime.work.of('queue-counts') };
  registerQueueGauges(runtime.metrics.registry, counting);
  const unmapped = createUnmappedRecorder({
    ...runtime,
    work: runtime.work.of('unmapped-codes'),
    onError: (error) =>
      runtime.log.warn(errorFields(error), 'unmapped codes could not be counted; trying again later'),
  });
  const consoleCookie = createConsoleCookie(publicBaseUrl);
  return {
    ...runtime,
    onPatientsChanged: enqueuePatientChanges,
    ...createSignIn({ ...runtime, settings: runtime.config.signIn }),
    publicBaseUrl,
    consoleCookie,
    identifyConsole: createConsoleIdentifier(runtime.db, consoleCookie, runtime.config.signIn),
    cursors: createCursorCodec(runtime.keys.derive('cursor')),
    translator: createTranslator(runtime),
    unmapped,
    publisher: createPublisher({
      ...runtime,
      unmapped,
      loadReferenced: createLoadReferenced(runtime.db, unmapped),
      settings: { waitingPerAccount: runtime.config.publishWaitingPerAccount },
    }),
  };
}

/** A statement of a sweep has a small batch to do: one that takes longer hangs, and others need its connection. */
const SWEEP_LIMIT_MS = 60_000;

/** What the worker does about once a minute. */
export function housekeepingSteps({
  background: db,
  config,
  log,
  work,
}: Pick<Runtime, 'background' | 'config' | 'log' | 'work'>): HousekeepingStep[] {
  const limited = answeredWithin(db, SWEEP_LIMIT_MS);
  const inTurn = (name: string) => ({ db: limited, work: work.of(name) });
  const sweep = createRetentionSweep(inTurn('retention'), retentionRules(config), RETENTION_LIMITS);
  const removeOld = async (now: Date) => {
    for (const [what, count] of Object.entries(await sweep(now)))
      log.info(
        { event: 'housekeeping.retention', outcome: what, count },
        'removed data whose retention time is over',
      );
  };
  const replacements = inTurn('refresh-replacements');
  const orders = inTurn('order-texts');
  return [
    { name: 'refresh-replacements', run: (now) => eraseExpiredReplacements(replacements, now) },
    { name: 'sign-in', run: createSignInSweep(inTurn('sign-in-sweep')) },
    { name: 'retention', run: removeOld },
    { name: 'order-texts', run: () => renderOrders(orders) },
  ];
}
