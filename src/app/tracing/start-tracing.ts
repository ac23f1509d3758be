/**
 * Sends the spans of this process to an OpenTelemetry collector. This is the only file that loads OpenTelemetry, and it
 * is loaded only where the operator named a collector (docs/adr/0137).
 * Contract: OPS-36, OPS-37.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Context,
  type Link,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../../platform/log/log.ts';
import { packageVersion } from '../../platform/package-version.ts';
import {
  listenToSpans,
  TRACE_ATTRIBUTES,
  type TraceAttributes,
  type TraceContext,
} from '../../platform/trace/trace.ts';
import type { TraceSettings } from '../config/traces.ts';

/** For one batch, all of its tries included. A process that ends waits no longer than this for its last one. */
const EXPORT_TIMEOUT_MS = 3_000;

export interface Tracing {
  /** Sends what is left, for a few seconds at most. */
  stop(): Promise<void>;
}

/** A span of OpenTelemetry with what the rest of the program knows of it. */
interface LiveContext extends TraceContext {
  /** For spans inside of it. */
  readonly inside: Context;
  readonly span: OtelSpan;
  ended: boolean;
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

export function startTracing(settings: TraceSettings, log: Log): Tracing {
  const version = packageVersion();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': settings.serviceName,
      'service.version': version,
      'service.instance.id': randomUUID(),
    }),
    sampler: new TraceIdRatioBasedSampler(settings.ratio),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: exporterOf(settings, log), exportTimeoutMillis: EXPORT_TIMEOUT_MS }),
    ],
  });
  const tracer = provider.getTracer('interchange', version);
  const stopListening = listenToSpans({
    begin(span, given) {
      const parent = given as LiveContext | undefined;
      const isPart = parent !== undefined && !parent.ended;
      if (span.partOnly === true && !isPart) return undefined;
      const options = { kind: KINDS[span.kind], links: links(span.link) };
      const started = tracer.startSpan(span.name, options, isPart ? parent.inside : ROOT_CONTEXT);
      const { traceId, spanId } = started.spanContext();
      const context: LiveContext = {
        traceId,
        spanId,
        span: started,
        inside: trace.setSpan(ROOT_CONTEXT, started),
        ended: false,
      };
      return context;
    },
    end(span) {
      const context = span.context as LiveContext | undefined;
      if (context === undefined || context.ended) return;
      context.ended = true;
      context.span.setAttributes(listed(span.attributes));
      if (span.failed === true) context.span.setStatus({ code: SpanStatusCode.ERROR });
      context.span.end();
    },
  });
  return {
    async stop() {
      stopListening();
      const sent = provider.shutdown().catch(() => undefined);
      await Promise.race([sent, sleep(EXPORT_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}

/** What is not on the list cannot leave. */
function listed(attributes: TraceAttributes): Record<string, string | number | boolean> {
  const kept: Record<string, string | number | boolean> = {};
  for (const name of TRACE_ATTRIBUTES) {
    const value = attributes[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** What the caller says of sampling is left out: it decides nothing here. */
function links(traceparent: string | undefined): Link[] {
  const [, traceId, spanId] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return [];
  return [{ context: { traceId, spanId, traceFlags: TraceFlags.NONE, isRemote: true } }];
}

/** Says once that a collector cannot be reached, and once that it can again. */
function exporterOf({ url, headers }: TraceSettings, log: Log): SpanExporter {
  const exporter = new OTLPTraceExporter({
    url,
    headers,
    timeoutMillis: EXPORT_TIMEOUT_MS,
    concurrencyLimit: 2,
  });
  let isLost = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined || result.code !== 0;
        if (failed && !isLost) sayLost(log, result.error);
        if (!failed && isLost) log.info({ event: 'traces.sent' }, 'traces are sent again');
        isLost = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}

/** The code of an error of the exporter is the HTTP status of a collector that refuses. */
function sayLost(log: Log, error: (Error & { code?: unknown }) | undefined): void {
  const status = typeof error?.code === 'number' ? error.code : undefined;
  const reason = status === undefined ? 'does not answer' : `answers with HTTP status ${status}`;
  log.warn(
    { event: 'traces.lost', status },
    `traces cannot be sent and are dropped: the collector ${reason}. Check OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS. Everything else goes on`,
  );
}
