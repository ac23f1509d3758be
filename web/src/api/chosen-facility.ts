/** The facility that the console works in. It is remembered in this tab, so two tabs may show two facilities. */
const KEY = 'interchange-facility';

let chosen: string | undefined = sessionStorage.getItem(KEY) ?? undefined;

export function chosenFacility(): string | undefined {
  return chosen;
}

export function rememberFacility(facilityId: string | undefined): void {
  chosen = facilityId;
  if (facilityId === undefined) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, facilityId);
}
