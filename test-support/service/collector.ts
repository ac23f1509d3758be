/** An OpenTelemetry collector: takes OTLP in JSON over HTTP and reads the spans out of it. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { waitUntil } from '../wait-until.ts';
import { listenHere } from './free-port.ts';

export interface CollectedSpan {
  name: string;
  traceId: string;
  spanId: string;
  /** Empty for the first of a trace. */
  parentSpanId: string;
  /** 1 internal, 2 server, 3 client. */
  kind: number;
  attributes: Record<string, string | number | boolean>;
  links: { traceId: string; spanId: string }[];
  /** 2: failed. */
  status: number;
  service: string;
}

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  readonly spans: CollectedSpan[];
  /** What was posted, as it came. */
  readonly bodies: string[];
  readonly requests: { path: string; headers: IncomingHttpHeaders }[];
  /** `silent`: takes the request and never answers it. */
  behaviour: 'takes' | 'refuses' | 'silent';
  /** The first span that is meant; waits for it. */
  span(isMeant: (span: CollectedSpan) => boolean, name: string): Promise<CollectedSpan>;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    collector.requests.push({ path: request.url ?? '', headers: request.headers });
    if (collector.behaviour === 'silent') return;
    if (collector.behaviour === 'takes') {
      collector.bodies.push(body);
      collector.spans.push(...spansOf(JSON.parse(body)));
    }
    response.writeHead(collector.behaviour === 'takes' ? 200 : 400, { 'content-type': 'application/json' });
    response.end('{}');
  });
  const collector: Collector = {
    url: `http://127.0.0.1:${await listenHere(server)}`,
    spans: [],
    bodies: [],
    requests: [],
    behaviour: 'takes',
    span: (isMeant, name) => waitUntil(() => collector.spans.find(isMeant), name),
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return collector;
}

interface KeyValue {
  key: string;
  value: { stringValue?: string; intValue?: string | number; doubleValue?: number; boolValue?: boolean };
}
interface OtlpSpan extends Omit<CollectedSpan, 'attributes' | 'status' | 'service' | 'links'> {
  attributes?: KeyValue[];
  links?: CollectedSpan['links'];
  status?: { code?: number };
}
interface OtlpTraces {
  resourceSpans: { resource: { attributes: KeyValue[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

function spansOf({ resourceSpans }: OtlpTraces): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(
        ({ name, traceId, spanId, parentSpanId = '', kind, attributes = [], links = [], status }) => ({
          name,
          traceId,
          spanId,
          parentSpanId,
          kind,
          attributes: valuesOf(attributes),
          links,
          status: status?.code ?? 0,
          service: String(valuesOf(resource.attributes)['service.name']),
        }),
      ),
    ),
  );
}

function valuesOf(pairs: KeyValue[]): CollectedSpan['attributes'] {
  return Object.fromEntries(
    pairs.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue),
    ]),
  );
}
