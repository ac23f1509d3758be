/** Why a resource could not be written, as callers are told. */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { isUntrusted } from '../../outbound/outbound-client.ts';
import type { Words } from '../../platform/words/words.ts';
import { keyOf, type ResourceKey } from '../plan/content.fhir.ts';
import { describeIssues } from './describe-outcome.ts';
import type { FhirAnswer } from './fhir-client.ts';
import { type Answered, isError, issuesOf, saysNoId } from './read-answer.ts';
import { isTransient } from './retry.ts';

/** A resource could not be written. The words are fit for callers: no clinical values. */
export class WriteFailure extends Error {
  override name = 'WriteFailure';
  readonly words: Words;
  readonly key: ResourceKey;
  readonly status: number | undefined;
  /** The server did not answer, or not as it would at another time: nothing need be wrong with the resource. */
  readonly unavailable: boolean;
  /** As long as the server asked to be left alone. */
  readonly retryAfterMs: number | undefined;

  /** `answer`: what came of the last request; undefined where that was not the fault. */
  constructor(words: Words, key: ResourceKey, answer: FhirAnswer | undefined) {
    super(words.en);
    this.words = words;
    this.key = key;
    this.status = answer?.kind === 'answered' ? answer.status : undefined;
    this.retryAfterMs = answer?.kind === 'answered' ? answer.retryAfterMs : undefined;
    this.unavailable = answer?.kind === 'unanswered' || (answer !== undefined && isTransient(answer.status));
  }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export function failure(resource: FhirResource, method: string, answer: FhirAnswer): WriteFailure {
  if (answer.kind === 'unanswered') {
    const { code } = answer;
    const why = whyUnanswered(code);
    const words = {
      en: `${method} was not answered (${code})${why ? ` - ${why.en}` : ''}`,
      fr: `${method} est resté sans réponse (${code})${why ? ` - ${why.fr}` : ''}`,
    };
    return new WriteFailure(words, keyOf(resource), answer);
  }
  const { status } = answer;
  const issues = describeIssues(issuesOf(answer), resource.resourceType);
  const isBare = isSuccess(status) && (method === 'POST' ? !issuesOf(answer).some(isError) : issues === '');
  const said = isBare ? lacking(method, answer, resource.resourceType) : undefined;
  const listed = issues === '' ? '' : ` (${issues})`;
  const advice = isSuccess(status) && !isBare ? undefined : hint(method, status, issues);
  const worded = (language: keyof Words, answered: string) =>
    `${method} ${answered} ${status}${said?.[language] ?? ''}${listed}${advice ? ` - ${advice[language]}` : ''}`;
  const words = { en: worded('en', 'answered'), fr: worded('fr', 'a reçu') };
  return new WriteFailure(words, keyOf(resource), answer);
}

/** By the codes of Node.js. */
function whyUnanswered(code: string): Words | undefined {
  if (code === 'ECONNREFUSED')
    return {
      en: 'nothing listens there: check that the server of the target runs, and the base address of the target',
      fr: 'rien n’y écoute : vérifiez que le serveur de la cible fonctionne, et l’adresse de base de la cible',
    };
  if (code === 'EAI_AGAIN')
    return {
      en: 'the name of the server could not be looked up: check the DNS of this machine, and the base address of the target',
      fr: 'le nom du serveur n’a pas pu être résolu : vérifiez le DNS de cette machine, et l’adresse de base de la cible',
    };
  if (code === 'ENOTFOUND')
    return {
      en: 'the name of the server is not known: check the base address of the target',
      fr: 'le nom du serveur est inconnu : vérifiez l’adresse de base de la cible',
    };
  if (code === 'EPROTO')
    return {
      en: 'what answers there does not speak TLS: check https and the port in the base address of the target',
      fr: 'ce qui y répond ne parle pas TLS : vérifiez https et le port dans l’adresse de base de la cible',
    };
  // Of TLS itself OpenSSL says what is wrong: such as that the server asks for a certificate of the client.
  if (isUntrusted(code) && !code.startsWith('ERR_SSL_'))
    return {
      en: 'the certificate of the server is not trusted: check it, and the base address of the target',
      fr: 'le certificat du serveur n’est pas reconnu : vérifiez-le, ainsi que l’adresse de base de la cible',
    };
  return undefined;
}

/** What a 2xx lacks that does not say itself why. */
function lacking(method: string, answer: Answered, type: string): Words {
  return method === 'POST' && saysNoId(answer, type)
    ? { en: ' without an id', fr: ' sans identifiant' }
    : { en: ' with a body that is not a FHIR answer', fr: ' avec un corps qui n’est pas une réponse FHIR' };
}

/** FHIR R4, "Rejecting updates": 404 for a type or address that is none, 405 where ids of ours are not taken. */
function hint(method: string, status: number, issues: string): Words | undefined {
  if (status === 401 || status === 403)
    return {
      en: 'the target refuses our credentials: check the secret of the target',
      fr: 'la cible nous refuse l’accès : vérifiez le secret de la cible',
    };
  if (status === 405 && method === 'PUT')
    return {
      en: 'the target may not accept our ids: use the id policy server',
      fr: 'la cible n’accepte peut-être pas nos identifiants : utilisez la règle d’identifiants server',
    };
  if (status === 415)
    return {
      en: 'the target does not take our content type: use application/fhir+json, or application/json',
      fr: 'la cible n’accepte pas notre type de contenu : utilisez application/fhir+json, ou application/json',
    };
  if (status === 404 && method !== 'GET')
    return {
      en: 'check the base address of the target',
      fr: 'vérifiez l’adresse de base de la cible',
    };
  if (status === 422 && issues.includes('not-found'))
    return {
      en: 'the server may lack a record that this one refers to: use the reference policy send',
      fr: 'il manque peut-être au serveur un dossier auquel celui-ci renvoie : utilisez la règle de références send',
    };
  if (isSuccess(status) && method === 'POST')
    return {
      en: 'the target must say the id: answer with the resource, or with Location',
      fr: 'la cible doit dire l’identifiant : répondre avec la ressource, ou avec Location',
    };
  if (status >= 300 && status < 400)
    return {
      en: 'redirects are not followed: correct the base address',
      fr: 'les redirections ne sont pas suivies : corrigez l’adresse de base',
    };
  return undefined;
}
