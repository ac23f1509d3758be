/**
 * The page that the demo prints: what to try, in lines that can be pasted as they are.
 * Contract: CMD-19, CMD-20.
 */
import { shellWord } from '../../src/platform/command/shell-word.ts';
import type { Showcase } from './demo.store.ts';
import type { DemoIdentity } from './demo-organisation.ts';

export interface DemoFacts extends DemoIdentity, Showcase {
  publicBaseUrl: string;
  dataDir: string;
  userId: string;
  console: string;
}

/** What each call but those of sign-in sends (docs/first-call.md): who calls, and which organisation and facility it is about. */
const CALLER = '-H "authorization: Bearer $TOKEN" -H "x-org-id: $ORG_ID" -H "x-facility-id: $FACILITY_ID"';

/** `base`: the base address on this machine, which the lines of the page call. PUBLIC_BASE_URL may be another one. */
export function demoPage(facts: DemoFacts, base: string): string {
  const { publicBaseUrl } = facts;
  const origin = new URL(base).origin;
  return `
interchange is running with a demo organisation.

  Base address   ${base}${base === publicBaseUrl ? '' : publicAddress(publicBaseUrl)}
  Reference      ${base}/docs
  Health         ${origin}/healthz  ${origin}/readyz

  Console        ${facts.console}
  Sign in as     ${facts.administrator.email}
  Password       ${facts.administrator.password}

  At first its Overview shows a delivery that an exchange refused, and local codes without a standard code. Mend both there.

  System         ${facts.email}
  User id        ${facts.userId}
  Password       ${facts.password}
  Organisation   ${facts.organisationId}
  Facility       ${facts.facilityId}

Try this in another terminal:

1. Who is the account?
   curl -s ${base}/auth/verify -H 'content-type: application/json' \\
     -d '{"email":"${facts.email}","userType":"EHR"}'

2. Sign in, and keep what each later call sends: the access token, the organisation and the facility:
   TOKEN=$(curl -s ${base}/auth/login -H 'content-type: application/json' \\
     -d '{"identity":"${facts.userId}","credential":"${facts.password}","userType":"EHR"}' \\
     | sed -E 's/.*"accessToken":"([^"]+)".*/\\1/')
   ORG_ID=${facts.organisationId} FACILITY_ID=${facts.facilityId}

purposeOfUse says why a call reads of a patient, and stands in the access log of that patient (docs/first-call.md).

3. Find a patient:
   curl -s "${base}/patients/base?search=${encodeURIComponent(facts.family)}&purposeOfUse=TREATMENT" \\
     ${CALLER}

4. Search the encounters of that patient, five a page, newest first:
   curl -s "${base}/encounters/fhir/Encounter?patient=${facts.patientId}&purposeOfUse=TREATMENT&_count=5" \\
     ${CALLER}

5. Read one encounter:
   curl -s "${base}/encounters/fhir/Encounter/${facts.encounterId}?purposeOfUse=TREATMENT" \\
     ${CALLER}

6. Fetch a laboratory order with its results and report, an imaging order, and a set of vital signs:
   curl -s "${base}/investigations/lab/orders/${facts.labOrderId}/clinical/fhir?purposeOfUse=TREATMENT" \\
     ${CALLER}
   curl -s "${base}/investigations/imaging/orders/${facts.imagingOrderId}/clinical/fhir?purposeOfUse=TREATMENT" \\
     ${CALLER}
   curl -s "${base}/encounters/vitals/${facts.vitalSetId}/clinical/fhir?purposeOfUse=TREATMENT" \\
     ${CALLER}

7. See who looked at the patient, and why:
   curl -s "${base}/patients/base/${facts.patientId}/access-log?purposeOfUse=OPS" \\
     ${CALLER}

8. Prepare this terminal for commands on the same data. Be in the folder of the checkout:
   export DATA_DIR=${shellWord(facts.dataDir)} PUBLIC_BASE_URL=${publicBaseUrl}

9. Check that nobody changed that log:
   npx interchange access-log verify

10. Import records. These are there already, so nothing changes. Import your own files in the same way:
   npx interchange import --organisation ${facts.organisationId} --facility ${facts.facilityId} demo/records

11. Deliver patients to an exchange. A simulator stands in for one, with secrets from a file that only you may read:
   [ -s "\${DATA_DIR:?Run step 8 first}/connection.json" ] || (umask 077; npx interchange connection create --organisation ${facts.organisationId} \\
     --name "Local exchange" --address http://127.0.0.1:4100/patients --client-id demo --json > "$DATA_DIR/connection.json")
   npx interchange exchange-simulator --connection "$DATA_DIR/connection.json" &
   echo '{"resourceType":"Patient","identifier":[{"system":"https://example.org/mrn","value":"1001"}],"name":[{"family":"Example","given":["Ada"]}]}' \\
     | npx interchange import --organisation ${facts.organisationId} --facility ${facts.facilityId} -
   npx interchange delivery list

The simulator goes on in the background of this terminal. End it with kill %1, or the number that jobs shows for it.
If the first try failed, the simulator did not listen yet. The service tries again within seconds.
In a new terminal, run steps 2 and 8 first. On another day this uses the connection that is there. A patient who did not
change is not delivered again: change Ada.

12. Publish the laboratory order to a FHIR server. A simulator stands in for one and shows what it gets:
   npx interchange fhir-simulator &
   npx interchange target show --name local > /dev/null 2>&1 \\
     || npx interchange target create --name local --base http://127.0.0.1:4200/fhir --auth none --references send
   curl -s -X POST "${base}/investigations/lab/orders/${facts.labOrderId}/clinical/publish-fhir?purposeOfUse=TREATMENT" \\
     ${CALLER}

End this simulator with kill %2, or the number that jobs shows for it.
The target is one of all organisations. A simulator that is started again holds nothing: the publish finds that out, and writes
everything again.

13. Sign out:
   curl -s -o /dev/null -w '%{http_code}\\n' -X POST ${base}/auth/logout -H "authorization: Bearer $TOKEN"

Stop it with Ctrl-C. The records stay in the data folder. Remove the folder to start again with new data.
`;
}

function publicAddress(publicBaseUrl: string): string {
  return `
  Public address ${publicBaseUrl}
                 This is PUBLIC_BASE_URL: links and the console use it. If it does not lead here, stop this, unset it and start again.`;
}
