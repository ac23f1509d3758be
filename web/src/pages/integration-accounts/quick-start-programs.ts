/**
 * The first call of a partner, with the real addresses and ids in it: sign in, then one read that the role of the account
 * opens. The password is read from the environment, so that no program holds it. Contract: WEB-23.
 */
export const PROGRAM_LANGUAGES = ['curl', 'python', 'javascript', 'java'] as const;
type ProgramLanguage = (typeof PROGRAM_LANGUAGES)[number];

interface QuickStartFacts {
  /** `https://records.example.org/api/v1` */
  base: string;
  userId: string;
  organisationId: string;
  facilityId: string;
  /** Of the role of the account. */
  permissions: readonly string[];
  /** That are on at the facility. */
  modules: readonly string[];
}

interface Program {
  file: string;
  /** How it is run, once the password is in the environment. */
  run: string;
  text: string;
}

/** The first that the account may use; the last one is open to everybody. */
const FIRST_READS = [
  { permission: 'patients.patients.list', module: 'patients', path: '/patients/base?limit=5' },
  { permission: 'exchange.deliveries.read', module: 'exchange', path: '/exchange/deliveries?limit=5' },
  { permission: 'terminology.maps.read', module: undefined, path: '/terminology/maps?limit=5' },
  { permission: undefined, module: undefined, path: '/encounters/fhir/metadata' },
] as const;

export function programOf(language: ProgramLanguage, facts: QuickStartFacts): Program {
  const { permissions, modules } = facts;
  const read = FIRST_READS.find(
    ({ permission, module }) =>
      (permission === undefined || permissions.includes(permission)) &&
      (module === undefined || modules.includes(module)),
  );
  return PROGRAMS[language]({ ...facts, path: read?.path ?? '' });
}

type Facts = QuickStartFacts & { path: string };

const PROGRAMS: Record<ProgramLanguage, (facts: Facts) => Program> = { curl, python, javascript, java };

function curl({ base, userId, organisationId, facilityId, path }: Facts): Program {
  return {
    file: 'first-call.sh',
    run: 'sh first-call.sh',
    text: `#!/bin/sh
# Needs curl 7.76 and jq.
set -eu
BASE='${base}'

SESSION=$(jq -n '{identity: "${userId}", credential: env.INTERCHANGE_PASSWORD, userType: "EHR"}' |
  curl -sS --fail-with-body "$BASE/auth/login" -H 'content-type: application/json' -d @-)
TOKEN=$(printf %s "$SESSION" | jq -r .accessToken)

curl -sS --fail-with-body "$BASE${path}" \\
  -H "authorization: Bearer $TOKEN" \\
  -H 'x-org-id: ${organisationId}' \\
  -H 'x-facility-id: ${facilityId}'
`,
  };
}

function python({ base, userId, organisationId, facilityId, path }: Facts): Program {
  return {
    file: 'first_call.py',
    run: 'python3 first_call.py',
    text: `import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

BASE = "${base}"


def call(path, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    request = Request(BASE + path, data, {"content-type": "application/json", **headers} if data else headers)
    try:
        with urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except HTTPError as error:  # its body says what failed and what to do
        raise SystemExit(f"{error.code}: {error.read().decode()}")


session = call("/auth/login", {
    "identity": "${userId}",
    "credential": os.environ["INTERCHANGE_PASSWORD"],
    "userType": "EHR",
})
print(json.dumps(call("${path}", headers={
    "authorization": "Bearer " + session["accessToken"],
    "x-org-id": "${organisationId}",
    "x-facility-id": "${facilityId}",
}), indent=2))
`,
  };
}

function javascript({ base, userId, organisationId, facilityId, path }: Facts): Program {
  return {
    file: 'first-call.mjs',
    run: 'node first-call.mjs',
    text: `const BASE = '${base}';

async function call(path, { body, headers } = {}) {
  const answer = await fetch(BASE + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const json = await answer.json();
  if (!answer.ok) throw new Error(\`\${answer.status}: \${json.message}\`);
  return json;
}

const { accessToken } = await call('/auth/login', {
  body: {
    identity: '${userId}',
    credential: process.env.INTERCHANGE_PASSWORD,
    userType: 'EHR',
  },
});
const answer = await call('${path}', {
  headers: {
    authorization: \`Bearer \${accessToken}\`,
    'x-org-id': '${organisationId}',
    'x-facility-id': '${facilityId}',
  },
});
console.log(JSON.stringify(answer, null, 2));
`,
  };
}

function java({ base, userId, organisationId, facilityId, path }: Facts): Program {
  return {
    file: 'FirstCall.java',
    run: 'java FirstCall.java',
    text: `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.regex.Pattern;

// Needs Java 17. The JDK reads no JSON: in your system, use a library instead of the two helpers below.
public class FirstCall {
    static final String BASE = "${base}";

    public static void main(String[] arguments) throws Exception {
        var password = System.getenv("INTERCHANGE_PASSWORD").replace("\\\\", "\\\\\\\\").replace("\\"", "\\\\\\"");
        var session = send(to("/auth/login")
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString("{\\"identity\\":\\"${userId}\\","
                + "\\"credential\\":\\"" + password + "\\",\\"userType\\":\\"EHR\\"}")));

        System.out.println(send(to("${path}")
            .header("authorization", "Bearer " + member(session, "accessToken"))
            .header("x-org-id", "${organisationId}")
            .header("x-facility-id", "${facilityId}")));
    }

    static HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create(BASE + path)).timeout(Duration.ofSeconds(30));
    }

    static String send(HttpRequest.Builder request) throws Exception {
        var answer = HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
        if (answer.statusCode() >= 400) throw new IllegalStateException(answer.body());
        return answer.body();
    }

    static String member(String json, String name) {
        var found = Pattern.compile("\\"" + name + "\\":\\"([^\\"]+)\\"").matcher(json);
        if (!found.find()) throw new IllegalStateException("There is no " + name + " in the answer.");
        return found.group(1);
    }
}
`,
  };
}
