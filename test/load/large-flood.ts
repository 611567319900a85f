import assert from "node:assert/strict";
import { Agent, request } from "node:https";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";

const CONNECTIONS = 60;
const WRITES = 20;
/** 1.8 MB of values, which take the thread longer than most bodies of this size. */
const junk = Array.from({ length: 150_000 }, (_, a) => ({ a }));

interface Answer {
  readonly code: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

suite("a flood of large requests", { timeout: 300_000 }, () => {
  let server: RunningBinnacle;
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

  const send = (user: keyof typeof tokens, method: string, path: string, body = "", signal?: AbortSignal) =>
    new Promise<Answer>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${tokens[user]}`,
        ...(body === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
      };
      const call = request(server.base + path, { method, agent, headers, ...(signal && { signal }) }, (response) => {
        response.toArray().then((chunks: Buffer[]) => {
          const retryAfter = response.headers["retry-after"];
          resolve({ code: response.statusCode ?? 0, retryAfter, text: Buffer.concat(chunks).toString() });
        }, reject);
      });
      call.on("error", reject);
      call.end(body);
    });

  const create = async (path: string, object: object) => {
    const { code, text } = await send("admin", "POST", path, JSON.stringify(object));
    assert.equal(code, 201, text);
  };

  /** How many requests were given to threads so far. */
  const carriedOut = async () => {
    const { text } = await send("admin", "GET", "/metrics");
    return Number(/^binnacle_offloaded_requests_total (.*)$/m.exec(text)?.[1] ?? assert.fail("no metric"));
  };

  const write = (name: string) => {
    const body = JSON.stringify({ metadata: { name }, data: { a: "x".repeat(100_000) } });
    return send("admin", "POST", "/api/v1/namespaces/default/configmaps", body);
  };

  /** Repeats a request of alice on many connections until it is stopped; returns the answers so far. */
  const flood = (path: string, body: string) => {
    const answers: Answer[] = [];
    const stop = new AbortController();
    const connection = async () => {
      while (!stop.signal.aborted) {
        const answer = await send("alice", "POST", path, body, stop.signal).catch(() => undefined);
        if (answer) answers.push(answer);
      }
    };
    const all = Array.from({ length: CONNECTIONS }, connection);
    const end = async () => {
      stop.abort();
      await Promise.all(all);
    };
    return { answers, end };
  };

  before(async () => {
    server = await startBinnacle({ flags: ["--authorization-mode=RBAC"] });
    await create("/api/v1/namespaces", { metadata: { name: "flood" } });
    const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/flood";
    const metadata = { name: "flood" };
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }];
    await create(`${rbac}/roles`, { metadata, rules });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "flood" };
    const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "alice" }];
    await create(`${rbac}/rolebindings`, { metadata, roleRef, subjects });
    assert.equal((await write("first")).code, 201);
  });
  after(async () => {
    agent.destroy();
    await server?.kill();
  });

  test("by a user without permissions reaches no thread: access reviews are never large", async () => {
    const before = await carriedOut();
    const spec = { resourceAttributes: { verb: "get", resource: "pods" } };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const { answers, end } = flood(path, JSON.stringify({ spec, junk }));
    for (let at = 0; at < WRITES; at += 1) assert.equal((await write(`review-${at}`)).code, 201);
    await eventually(() => answers.length > CONNECTIONS, { withinMs: 120_000 });
    await end();
    assert.deepEqual(
      answers.filter(({ code, text }) => code !== 413 || !text.includes('"Request entity too large: limit is 65536"')),
      [],
    );
    assert.equal((await carriedOut()) - before, WRITES);
  });

  test("by a user who may write delays each write of another user by a few requests, and only the flood gets 429", async () => {
    const { answers, end } = flood("/api/v1/namespaces/flood/configmaps?dryRun=All", JSON.stringify({ junk }));
    await eventually(() => answers.some(({ code }) => code === 429), { withinMs: 120_000 });
    let others = 0;
    for (let at = 0; at < WRITES; at += 1) {
      const before = await carriedOut();
      assert.equal((await write(`written-${at}`)).code, 201);
      others += (await carriedOut()) - before - 1;
    }
    await end();
    // 17 requests of the flood wait at any time: as many would be carried out before each write in one queue for all.
    assert.ok(others <= 6 * WRITES, `${others} requests of the flood during ${WRITES} writes`);
    const rejected = answers.filter(({ code }) => code === 429);
    assert.ok(rejected.every(({ retryAfter }) => retryAfter === "1"));
  });
});
