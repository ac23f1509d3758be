/** What goes along with each call. Contract: WEB-6, WEB-69. */

/** Tells the service that the console asks: another site's form or picture cannot send it. */
export const CONSOLE_HEADER = { 'x-interchange-console': '1' };

const KEY = 'interchange-facility';

/** The facility that the console works in. It is remembered in this tab, so two tabs may show two facilities. */
let chosen: string | undefined = sessionStorage.getItem(KEY) ?? undefined;

export function chosenFacility(): string | undefined {
  return chosen;
}

export function rememberFacility(facilityId: string | undefined): void {
  chosen = facilityId;
  if (facilityId === undefined) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, facilityId);
}

/** The language that the service is asked to word its errors in: that of the page, and not of the browser. */
let spoken = 'en';

export function speak(language: string): void {
  spoken = language;
}

export function languageHeader(): { 'accept-language': string } {
  return { 'accept-language': spoken };
}

/** The language and the facility, of which a caller may have none. */
export function callHeaders(): Record<string, string> {
  return { ...languageHeader(), ...(chosen === undefined ? {} : { 'x-facility-id': chosen }) };
}
