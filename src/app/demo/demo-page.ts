/** The page that the demo prints: what to try, in lines that can be pasted as they are. */

export interface DemoFacts {
  publicBaseUrl: string;
  email: string;
  userId: string;
  password: string;
  patientId: string;
  patientName: string;
  encounterId: string;
  organisationId: string;
  facilityId: string;
}

export function demoPage(facts: DemoFacts): string {
  const { publicBaseUrl: base } = facts;
  const origin = new URL(base).origin;
  return `
interchange is running with a demo organisation.

  Base address   ${base}
  Reference      ${base}/docs
  Health         ${origin}/healthz  ${origin}/readyz

  Account        ${facts.email}
  User id        ${facts.userId}
  Password       ${facts.password}
  Organisation   ${facts.organisationId}
  Facility       ${facts.facilityId}

Try this in another terminal:

1. Who is the account?
   curl -s ${base}/auth/verify -H 'content-type: application/json' \\
     -d '{"email":"${facts.email}","userType":"EHR"}'

2. Sign in, and keep the access token:
   TOKEN=$(curl -s ${base}/auth/login -H 'content-type: application/json' \\
     -d '{"identity":"${facts.userId}","credential":"${facts.password}","userType":"EHR"}' \\
     | sed -E 's/.*"accessToken":"([^"]+)".*/\\1/')

3. Find a patient:
   curl -s "${base}/patients/base?search=${encodeURIComponent(facts.patientName)}" -H "authorization: Bearer $TOKEN"

4. Search the encounters of that patient, five a page, newest first:
   curl -s "${base}/encounters/fhir/Encounter?patient=${facts.patientId}&purposeOfUse=TREATMENT&_count=5" \\
     -H "authorization: Bearer $TOKEN"

5. Read one encounter:
   curl -s "${base}/encounters/fhir/Encounter/${facts.encounterId}?purposeOfUse=TREATMENT" \\
     -H "authorization: Bearer $TOKEN"

6. See who looked at the patient:
   curl -s "${base}/patients/base/${facts.patientId}/access-log" -H "authorization: Bearer $TOKEN"

7. Prove that nobody changed that trace:
   npx interchange access-log verify

8. Sign out:
   curl -s -o /dev/null -w '%{http_code}\\n' -X POST ${base}/auth/logout -H "authorization: Bearer $TOKEN"

Stop it with Ctrl-C. The records stay in the data folder; remove the folder to begin anew.
`;
}
