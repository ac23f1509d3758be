/** The language that the service is asked to word its errors in: that of the page, and not of the browser. Contract: WEB-69. */
let spoken = 'en';

export function speak(language: string): void {
  spoken = language;
}

export function languageHeader(): { 'accept-language': string } {
  return { 'accept-language': spoken };
}
