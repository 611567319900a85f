import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type Difference, differenceOf } from "../fuzz/twins.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Answer, type Client, clientFor } from "../support/client.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";
import { NODE_WRITES, type NodeWrite, OBJECTS, type Uids } from "./node-writes.ts";

type Pair = readonly [theirs: Client, ours: Client];

suite("NodeRestriction accepts and rejects the same requests as kube-apiserver", {
  ...needs("kube-apiserver", "etcd"),
}, () => {
  let servers: readonly [Oracle, RunningBinnacle];
  let clients: Pair;
  let uids: readonly [Uids, Uids];

  before(async () => {
    servers = await Promise.all([
      startOracle({
        flags: ["--authorization-mode=Node", "--enable-admission-plugins=NodeRestriction"],
      }),
      startBinnacle(),
    ]);
    const [oracle, binnacle] = servers;
    clients = [clientFor(oracle.base, tokens.admin), clientFor(binnacle.base, tokens.admin)];
    uids = (await Promise.all(clients.map(makeObjects))) as unknown as [Uids, Uids];
  });
  after(() => Promise.all((servers ?? []).map((server) => server.kill())));

  for (const write of NODE_WRITES) {
    test(write.title, async () => {
      const difference = await compare(clients, uids, write);
      assert.equal(difference && JSON.stringify(difference, undefined, 2), undefined);
    });
  }
});

/** Creates the objects for the writes; resolves to their uids. */
async function makeObjects(client: Client): Promise<Uids> {
  const uids: Record<string, string> = {};
  for (const { path, object, status } of OBJECTS) {
    const { name } = object.metadata as { name: string };
    const made = await client.call("POST", path, object);
    if (made.status !== 201) throw new Error(`${path}/${name}: ${JSON.stringify(made.body)}`);
    uids[name] = made.body.metadata.uid;
    if (status === undefined) continue;
    const patched = await client.call("PATCH", `${path}/${name}/status`, { status }, MERGE);
    if (patched.status !== 200) throw new Error(`${path}/${name}: ${JSON.stringify(patched.body)}`);
  }
  const asNode = { "impersonate-user": "system:node:n1", "impersonate-group": "system:nodes" };
  // Both servers know everything once they know the last pod.
  await eventually(
    async () => (await client.call("GET", "/api/v1/namespaces/nr/pods/last", undefined, asNode)).status === 200,
  );
  return uids;
}

const MERGE = { "content-type": "application/merge-patch+json" };

async function compare(clients: Pair, uids: readonly [Uids, Uids], write: NodeWrite): Promise<Difference | undefined> {
  const answers = await Promise.all(
    clients.map(async (client, index): Promise<Answer> => {
      const own = uids[index] as Uids;
      const { method, path, user = "system:node:n1", groups = ["system:nodes", "system:authenticated"] } = write;
      const headers: Record<string, string> = { "impersonate-user": user };
      headers["impersonate-group"] = groups as unknown as string;
      if (method === "PATCH") Object.assign(headers, { "content-type": write.type ?? "application/merge-patch+json" });
      const body = typeof write.body === "function" ? write.body(own) : write.body;
      const query = write.isDry === false ? "" : "?dryRun=All";
      return cut(await client.call(method, `${path}${query}`, body, headers));
    }),
  );
  return differenceOf(answers as [Answer, Answer], write.title);
}

/** Removes values that each server generates: tokens, and the diff of a claim. */
function cut({ status, headers, body }: Answer): Answer {
  if (typeof body.message === "string") {
    const message = body.message.replace(
      /(?<=fields other than status.quantity and status.conditions: ).*/s,
      "<changes>",
    );
    return { status, headers, body: { ...body, message } };
  }
  // Every object of a list has its own version.
  if (Array.isArray(body.items)) return { status, headers, body: { names: body.items.map(nameOf).sort() } };
  const made = { token: "made", expirationTimestamp: "up" };
  return { status, headers, body: body.kind === "TokenRequest" ? { ...body, status: made } : body };
}

const nameOf = (object: { metadata: { name: string } }): string => object.metadata.name;
