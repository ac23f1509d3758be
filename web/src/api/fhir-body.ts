/** The body of an answer with FHIR resources: numbers keep their digits, where the browser tells them. Contract: WEB-38. */
import { parseFhirJson } from '../../../src/fhir/json.ts';
import { arrived } from './api-error.ts';

export async function fhirBody(answer: Response): Promise<unknown> {
  const text = await arrived(answer.text());
  return typeof JSON.rawJSON === 'function' ? parseFhirJson(text) : JSON.parse(text);
}
