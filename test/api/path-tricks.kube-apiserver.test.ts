import assert from "node:assert/strict";
import { request } from "node:https";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { needs } from "../support/tools.ts";
import { DIFFERENT, METHODS, PATHS } from "./path-tricks.ts";

interface Asked {
  readonly status: number;
  /** The message of a rejection; otherwise the kind of the response. */
  readonly says: string;
}

/** Sends the path unchanged, which `fetch` and `URL` would normalize. */
function ask(base: string, token: string | undefined, method: string, path: string): Promise<Asked> {
  const { hostname, port } = new URL(base);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path, headers, rejectUnauthorized: false }, (response) => {
      const status = response.statusCode ?? 0;
      const { promise, resolve: end } = Promise.withResolvers<string>();
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => end(text));
      response.on("error", reject);
      void promise.then((whole) => resolve({ status, says: summary(whole, status) }));
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

function summary(text: string, status: number): string {
  if (status < 300) return text.startsWith('{"kind"') ? JSON.parse(text).kind : "";
  return text.startsWith("{") ? JSON.parse(text).message : text;
}

const USERS = { ...tokens, anonymous: undefined };

suite("parses paths and methods like kube-apiserver", {
  ...needs("kube-apiserver", "etcd"),
}, () => {
  let oracle: Oracle;
  let binnacle: RunningBinnacle;
  before(async () => {
    [oracle, binnacle] = await Promise.all([startOracle(), startBinnacle()]);
  });
  after(() => Promise.all([oracle?.kill(), binnacle?.kill()]));

  const requests = [...PATHS.map((path) => ["GET", path] as const), ...METHODS];
  for (const [user, token] of Object.entries(USERS)) {
    test(`requested by ${user}`, async (t) => {
      for (const [method, path] of requests) {
        const [theirs, ours] = await Promise.all(
          [oracle.base, binnacle.base].map((base) => ask(base, token, method, path)),
        );
        const name = `${user} ${method} ${path}`;
        if (DIFFERENT[name] === undefined) assert.deepEqual(ours, theirs, name);
        else assert.notDeepEqual(ours, theirs, `${name} is listed as different (${DIFFERENT[name]}), and is not`);
      }
      t.diagnostic(`${requests.length} requests`);
    });
  }
});
