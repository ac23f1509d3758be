/**
 * Where traces go, and how many, by the variables that OpenTelemetry names. Nothing goes anywhere without an endpoint.
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 * Contract: OPS-36.
 */
import type { EnvironmentReader } from './environment.ts';

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface TraceSettings {
  /** Where spans are posted to, as OTLP in JSON. */
  url: string;
  /** May hold a token: never to be logged. */
  headers: Record<string, string>;
  serviceName: string;
  /** The part of all traces that is kept, from 0 to 1. */
  ratio: number;
}

/**
 * Undefined while traces are off. Then nothing else is checked: such variables are often set for every program of a
 * machine.
 */
export function traceSettings(reader: EnvironmentReader): TraceSettings | undefined {
  const url = endpoint(reader);
  if (url === undefined) return undefined;
  if (reader.choice('OTEL_SDK_DISABLED', ['true', 'false'], 'false') === 'true') return undefined;
  if (reader.choice('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp') === 'none') return undefined;
  // The one for traces stands above the one for everything.
  if (reader.text('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') === undefined)
    reader.choice('OTEL_EXPORTER_OTLP_PROTOCOL', ['http/json'], 'http/json');
  else reader.choice('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', ['http/json'], 'http/json');
  return {
    url,
    headers: {
      ...headers(reader, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...headers(reader, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    },
    serviceName: reader.text('OTEL_SERVICE_NAME') ?? 'interchange',
    ratio: ratio(reader),
  };
}

function endpoint(reader: EnvironmentReader): string | undefined {
  const given = address(reader, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const ofTraces = address(reader, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  return ofTraces ?? (given === undefined ? undefined : `${given.replace(/\/$/, '')}/v1/traces`);
}

function address(reader: EnvironmentReader, name: string): string | undefined {
  const text = reader.text(name);
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    reader.fault(
      name,
      'must be an http or https address without query or fragment, such as http://127.0.0.1:4318',
    );
  else if (url.username !== '' || url.password !== '')
    reader.fault(
      name,
      'must not hold a user or password. Put what proves who you are into OTEL_EXPORTER_OTLP_HEADERS',
    );
  return text;
}

/** `name=value,name=value`, values percent-encoded. */
function headers(reader: EnvironmentReader, name: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const pair of (reader.text(name) ?? '').split(',')) {
    if (pair.trim() === '') continue;
    const [, key, value] = /^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    const decoded = value === undefined ? undefined : decode(value);
    if (key === undefined || decoded === undefined || !/^[\t\x20-\x7e]*$/.test(decoded))
      reader.fault(name, 'must be pairs separated by commas, such as authorization=Bearer%20TOKEN');
    else found[key] = decoded;
  }
  return found;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** No trace of ours has a parent of somebody else, so a sampler does the same with `parentbased_` and without. */
function ratio(reader: EnvironmentReader): number {
  const sampler = reader.choice('OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on');
  const argument = reader.text('OTEL_TRACES_SAMPLER_ARG');
  if (sampler.endsWith('always_on')) return 1;
  if (sampler.endsWith('always_off')) return 0;
  const value = Number(argument ?? '1');
  if (!/^(\d+(\.\d*)?|\.\d+)$/.test(argument ?? '1') || value > 1)
    reader.fault('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1, such as 0.1');
  return value;
}
